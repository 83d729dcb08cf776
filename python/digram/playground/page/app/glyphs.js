// How text of a token is shown: characters as they are, so that they can be copied; what has no picture of its own with
// a mark; bytes that are a part of a character in hexadecimal.

const NAMES = new Map([
  [0x200b, 'ZWSP'], [0x200c, 'ZWNJ'], [0x200d, 'ZWJ'], [0x200e, 'LRM'], [0x200f, 'RLM'], [0xfeff, 'BOM'],
  [0xfe0e, 'VS15'], [0xfe0f, 'VS16'], [0x7f, 'DEL'], [0, 'NUL'], [0x1b, 'ESC'], [0xa0, 'NBSP'],
]);
// Control, format, separators, private and unassigned ones; the marks that choose how the character before looks.
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Zs}\p{Co}\p{Cn}\ufe00-\ufe0f]/u;
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const STRONG = /[\p{L}\p{Nl}]/u;

function glyphs(text) {
  const parts = [];
  let plain = '';
  const flush = () => {
    if (plain) parts.push(plain);
    plain = '';
  };
  const mark = (kind, text, label) => {
    flush();
    parts.push(make('i', { class: kind, 'data-mark': label }, text));
  };
  let first = true;
  for (const c of text) {
    if (c === ' ') mark('space', c);
    else if (c === '\n') mark('sign', '', '⏎');
    else if (c === '\t') mark('sign', '', '⇥');
    else if (c === '\r') mark('sign', '', '␍');
    else if (HIDDEN.test(c)) {
      const point = c.codePointAt(0);
      mark('label', '', NAMES.get(point) ?? 'U+' + point.toString(16).toUpperCase().padStart(4, '0'));
    } else plain += first && /\p{M}/u.test(c) ? '◌' + c : c;
    first = false;
  }
  flush();
  return parts;
}

// Bytes of a token: whole characters as glyphs, parts of one at its ends or inside in hexadecimal.
function glyphsOfBytes(bytes) {
  const parts = [];
  let plain = 0;
  const flush = (end) => {
    if (end > plain) parts.push(...glyphs(toText.decode(bytes.subarray(plain, end))));
  };
  const isNext = (i) => i < bytes.length && (bytes[i] & 0xc0) === 0x80;
  for (let i = 0; i < bytes.length;) {
    const lead = bytes[i];
    const length = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
    let whole = length > 0;
    for (let k = 1; k < length; k++) whole &&= isNext(i + k);
    // Overlong forms, surrogates and what is past U+10FFFF are no characters.
    if (whole && length > 2 && toText.decode(bytes.subarray(i, i + length)).includes('\ufffd')) {
      whole = bytes[i] === 0xef && bytes[i + 1] === 0xbf && bytes[i + 2] === 0xbd;
    }
    if (whole) {
      i += length;
      continue;
    }
    flush(i);
    const start = i++;
    while (isNext(i) || (i < bytes.length && bytes[i] > 0xf4)) i++;
    parts.push(make('i', { class: 'bytes' }, hexPairs(bytes.subarray(start, i), 24)));
    plain = i;
  }
  flush(bytes.length);
  return parts;
}

// 'rtl', 'ltr', or null where no character is strong.
function directionOf(text) {
  for (const c of text) {
    if (RIGHT_TO_LEFT.test(c)) return 'rtl';
    if (STRONG.test(c)) return 'ltr';
  }
  return null;
}

// A token where it stands alone: in its colour, its direction its own.
function chip(bytes, id, extra = '') {
  return make('bdi', { class: `t ${colourOf(id)} ${extra}` }, ...glyphsOfBytes(bytes.subarray(0, 200)));
}

// A token in words, for those who hear the page.
function spoken(bytes) {
  const text = toText.decode(bytes.subarray(0, 200));
  if (text.includes('\ufffd')) return `bytes ${hexPairs(bytes)}`;
  const names = { ' ': 'blank', '\n': 'line feed', '\t': 'tab', '\r': 'carriage return' };
  const start = /^[ \n\t\r]*/.exec(text)[0];
  const blanks = Array.from(start, (c) => names[c]).join(' ');
  return [blanks, text.slice(start.length)].filter(Boolean).join(', ');
}
