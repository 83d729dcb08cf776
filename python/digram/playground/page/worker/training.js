// Training by the definition: each round counts all pairs anew, in the distinct pieces of the text and their counts.

const SHOWN_PAIRS = 12;
const SHOWN_SYMBOLS = 1200;

class Trainer {
  // options: {pattern, alphabet: 'bytes' | 'characters', ties: 'smallest-ids' | 'smallest-tokens' | 'first-seen'}
  constructor(text, options) {
    this.ties = options.ties;
    this.tokens = []; // id -> bytes
    const ids = new Map();
    if (options.alphabet === 'bytes') {
      for (let byte = 0; byte < 256; byte++) this.tokens.push(Uint8Array.of(byte));
    } else {
      const characters = [...new Set(text)].sort((a, b) => a.codePointAt(0) - b.codePointAt(0));
      for (const character of characters) {
        ids.set(character, this.tokens.length);
        this.tokens.push(toBytes.encode(character));
      }
    }
    this.alphabet = this.tokens.length;
    const numbers = new Map(); // piece -> its number, in the order of first appearance
    this.order = []; // the first pieces of the text, by number, to be shown
    this.pieces = [];
    this.counts = [];
    let shown = 0;
    splitInto(options.pattern, text, 0, text.length, (start, end) => {
      const piece = text.slice(start, end);
      let number = numbers.get(piece);
      if (number === undefined) {
        number = this.pieces.length;
        numbers.set(piece, number);
        this.pieces.push(options.alphabet === 'bytes' ? Array.from(toBytes.encode(piece)) : Array.from(piece, (c) => ids.get(c)));
        this.counts.push(0);
      }
      this.counts[number]++;
      if (shown < SHOWN_SYMBOLS) {
        this.order.push(number);
        shown += this.pieces[number].length;
      }
    });
    this.bytes = toBytes.encode(text).length;
    this.merges = []; // {left, right, id, count, tied, changed: [[number, symbols before] ...]}
    this.look();
  }

  // Counts all pairs: every adjacent position, overlaps too. A Map keeps the order of first appearance.
  look() {
    const pairs = new Map();
    let total = 0;
    for (let number = 0; number < this.pieces.length; number++) {
      const piece = this.pieces[number];
      const count = this.counts[number];
      total += piece.length * count;
      for (let i = 0; i + 1 < piece.length; i++) {
        const key = piece[i] * 0x1000000 + piece[i + 1];
        pairs.set(key, (pairs.get(key) ?? 0) + count);
      }
    }
    this.total = total;
    let most = 0;
    for (const count of pairs.values()) if (count > most) most = count;
    const tied = [];
    for (const [key, count] of pairs) if (count === most) tied.push([Math.floor(key / 0x1000000), key % 0x1000000]);
    if (this.ties === 'smallest-ids') tied.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    if (this.ties === 'smallest-tokens') {
      const compare = (a, b) => compareBytes(this.tokens[a], this.tokens[b]);
      tied.sort((a, b) => compare(a[0], b[0]) || compare(a[1], b[1]) || a[0] - b[0] || a[1] - b[1]);
    }
    this.best = most > 0 ? { pair: tied[0], count: most, tied: tied.length } : null;
    this.distinct = pairs.size;
    // The next ones: counts below the highest, a few of each.
    const others = [...pairs].filter(([, count]) => count < most).sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, SHOWN_PAIRS);
    this.top = [
      ...tied.slice(0, SHOWN_PAIRS).map((pair) => [...pair, most]),
      ...others.map(([key, count]) => [Math.floor(key / 0x1000000), key % 0x1000000, count]),
    ].slice(0, SHOWN_PAIRS);
  }

  // One round; false where no pair is left.
  step() {
    if (this.best === null) return false;
    const { pair: [left, right], count, tied } = this.best;
    const id = this.tokens.length;
    const joined = new Uint8Array(this.tokens[left].length + this.tokens[right].length);
    joined.set(this.tokens[left]);
    joined.set(this.tokens[right], this.tokens[left].length);
    this.tokens.push(joined);
    const changed = [];
    for (let number = 0; number < this.pieces.length; number++) {
      const piece = this.pieces[number];
      let out = null;
      for (let i = 0; i < piece.length; i++) {
        const here = piece[i] === left && i + 1 < piece.length && piece[i + 1] === right;
        if (here && out === null) out = piece.slice(0, i);
        if (out !== null) out.push(here ? id : piece[i]);
        if (here) i++;
      }
      if (out !== null) {
        changed.push([number, piece]);
        this.pieces[number] = out;
      }
    }
    this.merges.push({ left, right, id, count, tied, total: this.total, changed });
    this.look();
    return true;
  }

  // Takes the last round back; false at the start.
  back() {
    const last = this.merges.pop();
    if (last === undefined) return false;
    for (const [number, piece] of last.changed) this.pieces[number] = piece;
    this.tokens.pop();
    this.look();
    return true;
  }

  // What is shown of a round. `from`: only the merges from there on are told.
  report(from) {
    const text = [];
    for (const number of this.order) {
      text.push(this.pieces[number]);
    }
    return {
      round: this.merges.length,
      alphabet: this.alphabet,
      bytes: this.bytes,
      total: this.total,
      distinct: this.distinct,
      best: this.best,
      top: this.top,
      merges: this.merges.slice(from).map(({ left, right, id, count, tied, total }) => ({ left, right, id, count, tied, total })),
      text,
      cut: this.order.length < this.counts.reduce((sum, count) => sum + count, 0),
      tokens: this.tokens.map(hexOf),
    };
  }
}

function compareBytes(a, b) {
  for (let i = 0; i < a.length && i < b.length; i++) if (a[i] !== b[i]) return a[i] - b[i];
  return a.length - b.length;
}
