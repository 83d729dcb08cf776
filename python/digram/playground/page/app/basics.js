// Small things that all of the page uses.

const config = JSON.parse(document.getElementById('config').textContent);
const MOST_BYTES = 16 * 1024 * 1024;
const toBytes = new TextEncoder();
const toText = new TextDecoder('utf-8', { ignoreBOM: true });
const group = new Intl.NumberFormat('en').format;
const byId = (id) => document.getElementById(id);
const bytesOf = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (digits) => parseInt(digits, 16));
const calm = matchMedia('(prefers-reduced-motion: reduce)');

// An element with attributes (a function is a listener, class is a name) and children, which are elements or text.
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

// A number whose thousands stand apart by a little room: the text itself has digits alone, to be searched and copied.
function digits(number) {
  const parts = group(number).split(',');
  return parts.map((part, i) => make('span', { class: i + 1 < parts.length ? 'thousands' : null }, part));
}

// The colour of an id, the same wherever it stands: one of ten hues and one of three kinds of border.
function colourOf(id) {
  const mixed = Math.imul(id + 1, 0x9e3779b1) >>> 0;
  return `h${mixed % 10} b${Math.floor(mixed / 10) % 3}`;
}

function hexPairs(bytes, most = 64) {
  const shown = Array.from(bytes.subarray(0, most), (byte) => byte.toString(16).padStart(2, '0').toUpperCase());
  return shown.join(' ') + (bytes.length > most ? ' …' : '');
}

// Calls `work` once the calls have stopped for so long.
function debounced(work) {
  let timer = 0;
  return (milliseconds) => {
    clearTimeout(timer);
    timer = setTimeout(work, milliseconds);
  };
}
