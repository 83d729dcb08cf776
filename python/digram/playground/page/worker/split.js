// Split patterns as the engine reads them. Only patterns that embedding.py names come here: of these, possessive
// repetition takes what plain repetition takes, and letters without case folding are all in ASCII.

const WHITE = '\\t-\\r \\u{85}\\u{a0}\\u{1680}\\u{2000}-\\u{200a}\\u{2028}\\u{2029}\\u{202f}\\u{205f}\\u{3000}';
const classRanges = new Map();

// A class as the inside of brackets.
function rangesOf(name) {
  if (name === 'L') return ['Lu', 'Ll', 'Lt', 'Lm', 'Lo'].map(rangesOf).join('');
  let made = classRanges.get(name);
  if (made === undefined) {
    let at = 0;
    made = '';
    const lengths = CLASSES[name].split(' ').map((digits) => parseInt(digits, 36));
    for (let i = 0; i < lengths.length; i += 2) {
      const first = at + lengths[i];
      const last = first + lengths[i + 1] - 1;
      made += `\\u{${first.toString(16)}}` + (last > first ? `-\\u{${last.toString(16)}}` : '');
      at = last + 1;
    }
    classRanges.set(name, made);
  }
  return made;
}

// In (?i:...) a letter stands for all that fold to it: of ASCII letters, s also for U+017F and k for U+212A.
function anyCase(letter) {
  return letter + letter.toUpperCase() + ({ s: '\\u{17f}', k: '\\u{212a}' }[letter] ?? '');
}

function translated(pattern) {
  let out = '';
  let inBrackets = false;
  let quantified = false; // the part before is a quantifier: a plus makes it possessive, and is dropped
  const groups = []; // of each open group, whether case is ignored in it
  for (let i = 0; i < pattern.length; i++) {
    const c = pattern[i];
    const rest = pattern.slice(i);
    const folds = groups.at(-1) ?? false;
    let part = c;
    if (c === '\\') {
      const property = /^\\p\{(\w+)\}/.exec(rest);
      const inside = property ? rangesOf(property[1]) : /^\\[sS]/.test(rest) ? WHITE : null;
      part = property ? property[0] : rest.slice(0, 2);
      if (inside === null || inBrackets) out += inside ?? part;
      else out += `[${part === '\\S' ? '^' : ''}${inside}]`;
      quantified = false;
    } else if (inBrackets) {
      inBrackets = c !== ']';
      out += folds && /[a-z]/.test(c) ? anyCase(c) : c;
      quantified = false;
    } else if (c === '[') {
      part = rest[1] === '^' ? '[^' : '[';
      inBrackets = true;
      out += part;
    } else if (c === '(') {
      part = /^\((?:\?i:|\?:|\?!)?/.exec(rest)[0];
      groups.push(part === '(?i:' || folds);
      out += part === '(?i:' ? '(?:' : part;
      quantified = false;
    } else if (/[?*+{]/.test(c)) {
      part = /^(?:[?*+]|\{[\d,]+\})/.exec(rest)[0];
      if (!quantified) out += part;
      quantified = !quantified;
    } else {
      if (c === ')') groups.pop();
      out += folds && /[a-z]/.test(c) ? `[${anyCase(c)}]` : c;
      quantified = false;
    }
    i += part.length - 1;
  }
  return out;
}

const splitters = new Map();

// Calls each(start, end) for the pieces of text[from..to), in UTF-16 units. Without a pattern that is one piece.
function splitInto(pattern, text, from, to, each) {
  if (pattern === null) {
    if (to > from) each(from, to);
    return;
  }
  let expression = splitters.get(pattern);
  if (expression === undefined) {
    expression = new RegExp(translated(pattern), 'gu');
    splitters.set(pattern, expression);
  }
  const part = from === 0 && to === text.length ? text : text.slice(from, to);
  expression.lastIndex = 0;
  let at = 0;
  for (let found; (found = expression.exec(part)) !== null && found[0] !== ''; at = expression.lastIndex) {
    if (found.index > at) each(from + at, from + found.index); // no known pattern leaves a gap
    each(from + found.index, from + expression.lastIndex);
  }
  if (at < part.length) each(from + at, from + part.length);
}
