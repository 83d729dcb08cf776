// (left id, right id) -> rank, in typed arrays: a Map of a quarter of a million pairs takes long to build.

class PairTable {
  constructor(left, right) {
    let size = 16;
    while (size < left.length * 2) size *= 2;
    this.mask = size - 1;
    this.left = left;
    this.right = right;
    this.slots = new Int32Array(size).fill(-1);
    for (let rank = 0; rank < left.length; rank++) {
      let slot = this.slotOf(left[rank], right[rank]);
      while (this.slots[slot] >= 0 && !this.holds(slot, left[rank], right[rank])) slot = (slot + 1) & this.mask;
      this.slots[slot] = rank; // the last of a repeated pair counts
    }
  }

  slotOf(left, right) {
    let hash = Math.imul(left, 0x9e3779b1) ^ Math.imul(right, 0x85ebca6b);
    hash ^= hash >>> 15;
    return Math.imul(hash, 0x2c1b3c6d) >>> 7 & this.mask;
  }

  holds(slot, left, right) {
    const rank = this.slots[slot];
    return this.left[rank] === left && this.right[rank] === right;
  }

  // The rank of a pair, or -1.
  get(left, right) {
    let slot = this.slotOf(left, right);
    while (this.slots[slot] >= 0) {
      if (this.holds(slot, left, right)) return this.slots[slot];
      slot = (slot + 1) & this.mask;
    }
    return -1;
  }
}

// Up to this many symbols the neighbours are simply looked through for the lowest rank.
const FEW_SYMBOLS = 48;

// Merges the symbols of a piece: always the pair of the lowest rank, its leftmost occurrence. `symbols` is used up.
function mergePiece(symbols, table, made) {
  return symbols.length <= FEW_SYMBOLS ? mergeFew(symbols, table, made) : mergeMany(symbols, table, made);
}

function mergeFew(symbols, table, made) {
  const ranks = [];
  for (let i = 0; i + 1 < symbols.length; i++) ranks.push(table.get(symbols[i], symbols[i + 1]));
  for (;;) {
    let best = -1;
    for (let i = 0; i < ranks.length; i++) if (ranks[i] >= 0 && (best < 0 || ranks[i] < ranks[best])) best = i;
    if (best < 0) return symbols;
    symbols[best] = made[ranks[best]];
    symbols.splice(best + 1, 1);
    ranks.splice(best, 1);
    if (best < ranks.length) ranks[best] = table.get(symbols[best], symbols[best + 1]);
    if (best > 0) ranks[best - 1] = table.get(symbols[best - 1], symbols[best]);
  }
}

// In n log n: symbols are linked, pairs wait in a heap by (rank, place), and one that is gone is passed over.
function mergeMany(symbols, table, made) {
  const n = symbols.length;
  const ids = Int32Array.from(symbols);
  const next = Int32Array.from({ length: n }, (_, i) => i + 1);
  const last = Int32Array.from({ length: n }, (_, i) => i - 1);
  const heap = []; // rank * 2^26 + place, exact in a double: ranks have 21 bits
  const push = (left) => {
    const right = next[left];
    const rank = right < n ? table.get(ids[left], ids[right]) : -1;
    if (rank >= 0) heapPush(heap, rank * 0x4000000 + left);
  };
  for (let i = 0; i + 1 < n; i++) push(i);
  while (heap.length > 0) {
    const top = heapPop(heap);
    const left = top % 0x4000000;
    const rank = (top - left) / 0x4000000;
    const right = next[left];
    if (ids[left] < 0 || right >= n || table.get(ids[left], ids[right]) !== rank) continue;
    ids[left] = made[rank];
    ids[right] = -1;
    next[left] = next[right];
    if (next[left] < n) last[next[left]] = left;
    push(left);
    if (last[left] >= 0) push(last[left]);
  }
  return Array.from(ids.filter((id) => id >= 0));
}

function heapPush(heap, value) {
  let i = heap.length;
  heap.push(value);
  while (i > 0) {
    const above = (i - 1) >> 1;
    if (heap[above] <= value) break;
    heap[i] = heap[above];
    i = above;
  }
  heap[i] = value;
}

function heapPop(heap) {
  const top = heap[0];
  const value = heap.pop();
  if (heap.length > 0) {
    let i = 0;
    for (;;) {
      let below = 2 * i + 1;
      if (below >= heap.length) break;
      if (below + 1 < heap.length && heap[below + 1] < heap[below]) below++;
      if (heap[below] >= value) break;
      heap[i] = heap[below];
      i = below;
    }
    heap[i] = value;
  }
  return top;
}
