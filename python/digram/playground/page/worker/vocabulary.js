// A vocabulary that stands in the page: encoding, and the same answers as the server gives.

const LONGEST_PIECE = 256;
const MOST_PIECES = 400;
const PIECES_FROM = 20000;
const KEPT_PIECES = 100000;

const toBytes = new TextEncoder();
const toText = new TextDecoder('utf-8', { ignoreBOM: true });
const hexOf = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
const bytesOf = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (digits) => parseInt(digits, 16));
// Bytes as a string of characters below U+0100, to look them up by.
const keyOf = (bytes) => String.fromCharCode.apply(null, bytes);

class Vocabulary {
  static async read(base64) {
    const packed = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
    return new Vocabulary(new Uint8Array(await new Response(stream).arrayBuffer()));
  }

  constructor(data) {
    const headLength = new DataView(data.buffer, data.byteOffset).getUint32(0, true);
    Object.assign(this, JSON.parse(toText.decode(data.subarray(4, 4 + headLength))));
    const n = this.merges;
    const columns = [0, 1, 2].map((column) => {
      const planes = data.subarray(4 + headLength + 4 * n * column, 4 + headLength + 4 * n * (column + 1));
      const values = new Uint32Array(n);
      for (let i = 0; i < n; i++) {
        values[i] = planes[i] | planes[n + i] << 8 | planes[2 * n + i] << 16 | planes[3 * n + i] << 24;
      }
      return values;
    });
    [this.left, this.right, this.made] = columns;
    this.table = new PairTable(this.left, this.right);
    this.madeBy = new Map(); // id -> the lowest rank that makes it
    for (let rank = n - 1; rank >= 0; rank--) this.madeBy.set(this.made[rank], rank);
    this.origin = new Map(this.madeBy); // id -> the rank of the merge that leads to it
    for (const [id, rank] of this.origins) this.origin.set(id, rank ?? undefined);
    this.known = new Map(); // id -> bytes, as far as they were asked for
    this.symbolIds = new Map(); // a base symbol -> id
    for (const [id, hex] of this.base) {
      this.known.set(id, bytesOf(hex));
      this.symbolIds.set(keyOf(bytesOf(hex)), id);
    }
    for (const [id, hex] of this.rest) this.known.set(id, bytesOf(hex));
    this.special = new Map(this.added.filter((token) => token[2]).map(([text, id]) => [text, id]));
    for (const [text, id] of this.added) this.known.set(id, toBytes.encode(text));
    this.specialIds = new Set(this.special.values());
    this.addedIds = new Map(this.added.map(([text, id]) => [text, id]));
    this.always = alternatives(this.added.filter((token) => !token[2]).map(([text]) => text));
    this.trusted = alternatives(this.added.map(([text]) => text));
    this.pieceIds = new Map();
    this.whole = this.whole ? this.wholeTokens() : null;
  }

  // Of all tokens their bytes -> id: a piece that is one of them is taken whole.
  wholeTokens() {
    const tokens = new Map();
    for (const [id, hex] of this.rest) tokens.set(keyOf(bytesOf(hex)), id);
    for (const id of this.madeBy.keys()) tokens.set(keyOf(this.bytes(id)), id);
    return tokens;
  }

  bytes(id) {
    const bytes = this.known.get(id);
    if (bytes !== undefined) return bytes;
    const rank = this.madeBy.get(id);
    if (rank === undefined) return null;
    const left = this.bytes(this.left[rank]);
    const right = this.bytes(this.right[rank]);
    const joined = new Uint8Array(left.length + right.length);
    joined.set(left);
    joined.set(right, left.length);
    this.known.set(id, joined);
    return joined;
  }

  // The base symbols of a piece; throws a sentence for one that has no token.
  symbols(bytes) {
    if (this.alphabet === 'bytes') return Array.from(bytes, (byte) => this.symbolIds.get(String.fromCharCode(byte)));
    return Array.from(toText.decode(bytes), (character) => {
      const id = this.symbolIds.get(keyOf(toBytes.encode(character)));
      if (id === undefined) throw new Error(`The character ${JSON.stringify(character)} is not in this vocabulary.`);
      return id;
    });
  }

  encodePiece(bytes) {
    const whole = this.whole?.get(bytes.length <= 1024 ? keyOf(bytes) : '');
    return whole !== undefined ? [whole] : mergePiece(this.symbols(bytes), this.table, this.made);
  }

  refusal(text) {
    if (!this.nfc || !/[^\0-\u02ff]/.test(text)) return null;
    // What this browser's Unicode does not know, it might not normalize.
    const safe = text.normalize('NFC') === text && !/\p{Cn}/u.test(text);
    return safe ? null : 'This vocabulary normalizes the text (NFC) before it cuts it, and a page without a server '
      + 'cannot say which tokens stand for which characters then: `digram serve` can.';
  }

  // Calls piece(string) and marker(string, id) for the parts of a text, in order.
  parts(text, trusted, piece, marker) {
    const expression = trusted ? this.trusted : this.always;
    let at = 0;
    const split = (to) => splitInto(this.pattern, text, at, to, (start, end) => piece(text.slice(start, end)));
    if (expression !== null) {
      for (const found of text.matchAll(expression)) {
        split(found.index);
        marker(found[0], this.addedIds.get(found[0]));
        at = found.index + found[0].length;
      }
    }
    split(text.length);
  }

  // The text is well-formed. {count, markers, ids, starts, ends}, or {error}.
  encode(text, trusted) {
    const error = this.refusal(text);
    if (error !== null) return { error };
    const ids = [];
    const lengths = [];
    const add = (id, length) => {
      ids.push(id);
      lengths.push(length);
    };
    this.parts(text, trusted, (piece) => {
      let found = this.pieceIds.get(piece);
      if (found === undefined) {
        const bytes = toBytes.encode(piece);
        found = this.encodePiece(bytes);
        if (piece.length <= 64) {
          if (this.pieceIds.size >= KEPT_PIECES) this.pieceIds.clear();
          this.pieceIds.set(piece, found);
        }
      }
      for (const id of found) add(id, this.bytes(id).length);
    }, (marker, id) => add(id, toBytes.encode(marker).length));
    const starts = new Uint32Array(ids.length);
    const ends = new Uint32Array(ids.length);
    for (let i = 0, at = 0; i < ids.length; i++) {
      starts[i] = at;
      ends[i] = at += lengths[i];
    }
    const markers = [...this.special.keys()].filter((marker) => text.includes(marker)).slice(0, 20);
    return { count: ids.length, markers, ids: Uint32Array.from(ids), starts, ends };
  }

  rank(id) {
    if (this.specialIds.has(id)) return null;
    return this.byId ? id : this.origin.get(id) ?? null;
  }

  tree(id) {
    const nodes = {};
    const visit = (id) => {
      if (id in nodes) return;
      const bytes = this.bytes(id);
      if (bytes === null) throw new Error(`id ${id} has no token in this vocabulary`);
      const special = this.specialIds.has(id);
      const rank = special ? undefined : this.origin.get(id);
      const [left, right] = rank === undefined ? [null, null] : [this.left[rank], this.right[rank]];
      nodes[id] = [hexOf(bytes.subarray(0, 512)), bytes.length, this.rank(id), left, right, special];
      if (left !== null) {
        visit(left);
        visit(right);
      }
    };
    visit(id);
    return { nodes };
  }

  pieces(text) {
    const beginning = text.slice(0, PIECES_FROM);
    const found = new Set();
    if (this.pattern === null) for (const word of beginning.split(/\s+/)) found.add(word);
    else splitInto(this.pattern, beginning, 0, beginning.length, (start, end) => found.add(beginning.slice(start, end)));
    found.delete('');
    return { pieces: [...found].slice(0, MOST_PIECES) };
  }

  steps(piece) {
    const bytes = toBytes.encode(piece);
    if (bytes.length > LONGEST_PIECE) return { error: `This piece is longer than ${LONGEST_PIECE} bytes: choose a shorter one.` };
    if (this.refusal(piece) !== null) return { error: this.refusal(piece) };
    const symbols = this.symbols(bytes);
    const steps = [];
    const now = [...symbols];
    for (;;) {
      const found = [];
      let best = null;
      for (let i = 0; i + 1 < now.length; i++) {
        const rank = this.table.get(now[i], now[i + 1]);
        if (rank < 0) continue;
        const candidate = [i, this.byId ? this.made[rank] : rank, this.made[rank]];
        found.push(candidate);
        if (best === null || candidate[1] < best[1]) best = candidate;
      }
      if (best === null) break;
      steps.push(found);
      now.splice(best[0], 2, best[2]);
    }
    const ids = this.encodePiece(bytes);
    const whole = !(ids.length === now.length && now.every((id, i) => id === ids[i]));
    const tokens = {};
    for (const id of [...symbols, ...ids, ...steps.flat().map((candidate) => candidate[2])]) tokens[id] = hexOf(this.bytes(id));
    return { symbols, steps, ids, whole, tokens };
  }
}

// An expression for the leftmost, longest of strings; null for none.
function alternatives(texts) {
  if (texts.length === 0) return null;
  const sorted = [...texts].sort((a, b) => toBytes.encode(b).length - toBytes.encode(a).length);
  return new RegExp(sorted.map((text) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|'), 'gu');
}
