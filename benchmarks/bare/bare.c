/* What a bare C program takes for the two halves of training: a yardstick for benchmarks/bare.py, and nothing else.
 *
 * count_gpt2: GPT-2's split by a scanner over a table of classes, and a hash table of pieces.
 * train: byte pairs of one text that nothing cuts; flat arrays, a table of pairs, lists of positions, a heap.
 *
 * No limits of memory, no interrupts, no threads, 32-bit positions: texts of less than 4 GB. Both are exact; bare.py
 * compares what they give with digram's.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;

static u64 mixed(u64 a, u64 b) {
    __uint128_t product = (__uint128_t)(a ^ 0x9E3779B97F4A7C15u) * (b ^ 0xD1B54A32D192ED03u);
    return (u64)product ^ (u64)(product >> 64);
}

/* ---- counting ---- */

/* A piece of up to 15 bytes stands in its entry, with its length on top; of a longer one there are its place in the
 * text and its length, and its hash. */
typedef struct { u64 low, high, count, start; } Entry;
typedef struct { Entry *entries; u64 mask, used; const u8 *text; } Pieces;

#define LONG 0xFFull

static void grow(Pieces *pieces) {
    u64 size = 4 * (pieces->mask + 1);
    Entry *entries = calloc(size, sizeof *entries);
    for (u64 i = 0; i <= pieces->mask; i++) {
        Entry *old = &pieces->entries[i];
        if (!old->count) continue;
        u64 place = mixed(old->low, old->high) & (size - 1);
        while (entries[place].count) place = (place + 1) & (size - 1);
        entries[place] = *old;
    }
    free(pieces->entries);
    pieces->entries = entries;
    pieces->mask = size - 1;
}

static inline void add(Pieces *pieces, u32 start, u32 end) {
    u32 length = end - start;
    const u8 *at = pieces->text + start;
    u64 low, high = 0;
    memcpy(&low, at, 8);
    if (length < 8) {
        low &= (1ull << 8 * length) - 1;
    } else if (length < 16) {
        memcpy(&high, at + 8, 8);
        high &= (1ull << 8 * (length - 8)) - 1;
    } else {
        u32 left = length;
        for (low = 0; left >= 8; at += 8, left -= 8) {
            u64 word;
            memcpy(&word, at, 8);
            low = mixed(low, word);
        }
        for (; left; left--) low = mixed(low, *at++);
    }
    high |= length < 16 ? (u64)length << 56 : LONG << 56 | length;
    for (u64 place = mixed(low, high) & pieces->mask;; place = (place + 1) & pieces->mask) {
        Entry *entry = &pieces->entries[place];
        if (entry->low == low && entry->high == high && entry->count) {
            if (length >= 16 && memcmp(pieces->text + entry->start, pieces->text + start, length)) continue;
            entry->count++;
            return;
        }
        if (!entry->count) {
            *entry = (Entry){low, high, 1, start};
            if (++pieces->used * 2 > pieces->mask) grow(pieces);
            return;
        }
    }
}

enum { OTHER, LETTER, NUMBER, SPACE };

/* The class of the character at `at`, and its length in bytes. The text is UTF-8, with some zeros behind it. */
static inline int class_of(const u8 *at, const u8 *classes, u32 *length) {
    u32 c = at[0];
    if (c < 0x80) { *length = 1; return classes[c]; }
    if (c < 0xE0) { *length = 2; return classes[(c & 31) << 6 | (at[1] & 63)]; }
    if (c < 0xF0) { *length = 3; return classes[(c & 15) << 12 | (at[1] & 63) << 6 | (at[2] & 63)]; }
    *length = 4;
    return classes[(c & 7) << 18 | (at[1] & 63) << 12 | (at[2] & 63) << 6 | (at[3] & 63)];
}

/* The end of a run of one class. */
static inline u32 run_end(const u8 *text, u32 at, u32 end, const u8 *classes, int class) {
    u32 length;
    while (at < end && class_of(text + at, classes, &length) == class) at += length;
    return at;
}

/* 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+ */
static u32 next_end(const u8 *text, u32 at, u32 end, const u8 *classes) {
    u32 length;
    if (text[at] == '\'' && at + 1 < end) {
        u8 one = text[at + 1], two = at + 2 < end ? text[at + 2] : 0;
        if (one == 's' || one == 't' || one == 'm' || one == 'd') return at + 2;
        if ((one == 'r' && two == 'e') || (one == 'v' && two == 'e') || (one == 'l' && two == 'l')) return at + 3;
    }
    int class = class_of(text + at, classes, &length);
    if (class != SPACE) return run_end(text, at + length, end, classes, class);
    if (text[at] == ' ' && at + 1 < end) {
        int next = class_of(text + at + 1, classes, &length);
        if (next != SPACE) return run_end(text, at + 1 + length, end, classes, next);
    }
    u32 last = at;
    for (u32 i = at; i < end && class_of(text + i, classes, &length) == SPACE; i += length) last = i;
    class_of(text + last, classes, &length);
    u32 behind = last + length;
    return behind == end || last == at ? behind : last; /* all but the last one, where something follows */
}

/* Counts the pieces of a text: their number, distinct ones, and a checksum of them with their counts. */
void count_gpt2(const u8 *text, u32 size, const u8 *classes, int scan_only, u64 *found) {
    Pieces pieces = {calloc(1 << 16, sizeof(Entry)), (1 << 16) - 1, 0, text};
    u64 number = 0;
    for (u32 at = 0; at < size; number++) {
        u32 end = next_end(text, at, size, classes);
        if (!scan_only) add(&pieces, at, end);
        at = end;
    }
    found[0] = number;
    found[1] = pieces.used;
    found[2] = 0;
    for (u64 i = 0; i <= pieces.mask; i++) {
        Entry *entry = &pieces.entries[i];
        u64 length = entry->high >> 56 == LONG ? entry->high & 0xFFFFFFFF : entry->high >> 56;
        found[2] += entry->count * entry->count * length;
    }
    free(pieces.entries);
}

/* ---- training ---- */

typedef struct { u32 left, right; u64 count; u32 *positions; u32 used, room; } Pair;

static Pair *pairs;
static u32 pairs_used, pairs_room, *slots;
static u64 slots_mask;

static inline u64 key_hash(u32 left, u32 right) {
    return ((u64)left << 32 | right) * 0x9E3779B97F4A7C15u >> 20;
}

static u32 slot_of(u32 left, u32 right) { /* number + 1 of a pair; a new one where there is none */
    u64 place = key_hash(left, right) & slots_mask;
    for (; slots[place]; place = (place + 1) & slots_mask) {
        Pair *pair = &pairs[slots[place] - 1];
        if (pair->left == left && pair->right == right) return slots[place];
    }
    if (pairs_used == pairs_room) pairs = realloc(pairs, (pairs_room *= 2) * sizeof *pairs);
    pairs[pairs_used++] = (Pair){left, right, 0, 0, 0, 0};
    slots[place] = pairs_used;
    if (2ull * pairs_used > slots_mask) {
        slots_mask = 2 * slots_mask + 1;
        free(slots);
        slots = calloc(slots_mask + 1, sizeof *slots);
        for (u32 i = 0; i < pairs_used; i++) {
            u64 at = key_hash(pairs[i].left, pairs[i].right) & slots_mask;
            while (slots[at]) at = (at + 1) & slots_mask;
            slots[at] = i + 1;
        }
    }
    return pairs_used;
}

static inline void gain(u32 left, u32 right, u32 position) {
    u32 slot = slot_of(left, right);
    Pair *pair = &pairs[slot - 1];
    pair->count++;
    if (pair->used == pair->room) {
        pair->room = pair->room ? 2 * pair->room : 4;
        pair->positions = realloc(pair->positions, pair->room * sizeof(u32));
    }
    pair->positions[pair->used++] = position;
}

static inline void lose(u32 left, u32 right) {
    u32 slot = slot_of(left, right);
    pairs[slot - 1].count--;
}

static u32 *heap, heap_used, heap_room;
static u64 *heap_counts;

/* The highest count first, then the smallest (left id, right id). */
static inline int before(u64 count, u32 pair, u64 other_count, u32 other) {
    if (count != other_count) return count > other_count;
    if (pairs[pair].left != pairs[other].left) return pairs[pair].left < pairs[other].left;
    return pairs[pair].right < pairs[other].right;
}

static void push(u32 pair, u64 count) {
    if (heap_used == heap_room) {
        heap_room *= 2;
        heap = realloc(heap, heap_room * sizeof *heap);
        heap_counts = realloc(heap_counts, heap_room * sizeof *heap_counts);
    }
    u32 i = heap_used++;
    for (; i && before(count, pair, heap_counts[(i - 1) / 2], heap[(i - 1) / 2]); i = (i - 1) / 2) {
        heap[i] = heap[(i - 1) / 2];
        heap_counts[i] = heap_counts[(i - 1) / 2];
    }
    heap[i] = pair;
    heap_counts[i] = count;
}

static u32 pop(u64 *count) {
    u32 top = heap[0], last = heap[--heap_used], i = 0;
    u64 last_count = heap_counts[heap_used];
    *count = heap_counts[0];
    for (;;) {
        u32 child = 2 * i + 1;
        if (child >= heap_used) break;
        if (child + 1 < heap_used && before(heap_counts[child + 1], heap[child + 1], heap_counts[child], heap[child]))
            child++;
        if (!before(heap_counts[child], heap[child], last_count, last)) break;
        heap[i] = heap[child];
        heap_counts[i] = heap_counts[child];
        i = child;
    }
    heap[i] = last;
    heap_counts[i] = last_count;
    return top;
}

#define NONE 0xFFFFFFFFu

/* Learns `merges` pairs of one text; returns how many it found. */
u32 train(const u8 *text, u32 size, u32 merges, u32 *found) {
    u32 *ids = malloc(size * sizeof *ids), *next = malloc(size * sizeof *next), *last = malloc(size * sizeof *last);
    pairs_used = heap_used = 0;
    pairs_room = heap_room = 1 << 16;
    pairs = malloc(pairs_room * sizeof *pairs);
    slots_mask = (1 << 17) - 1;
    slots = calloc(slots_mask + 1, sizeof *slots);
    heap = malloc(heap_room * sizeof *heap);
    heap_counts = malloc(heap_room * sizeof *heap_counts);
    for (u32 i = 0; i < size; i++) {
        ids[i] = text[i];
        next[i] = i + 1 < size ? i + 1 : NONE;
        last[i] = i ? i - 1 : NONE;
    }
    for (u32 i = 0; i + 1 < size; i++) gain(text[i], text[i + 1], i);
    for (u32 i = 0; i < pairs_used; i++) push(i, pairs[i].count);
    u32 number = 0;
    while (number < merges && heap_used) {
        u64 count;
        u32 slot = pop(&count);
        if (pairs[slot].count != count) {
            if (pairs[slot].count) push(slot, pairs[slot].count);
            continue;
        }
        u32 left = pairs[slot].left, right = pairs[slot].right, new = 256 + number, first = pairs_used;
        u32 *positions = pairs[slot].positions, many = pairs[slot].used;
        for (u32 k = 0; k < many; k++) {
            u32 at = positions[k], other = next[at];
            if (ids[at] != left || other == NONE || ids[other] != right) continue;
            u32 y = next[other], x = last[at];
            ids[at] = new;
            ids[other] = NONE;
            next[at] = y;
            if (y != NONE) {
                last[y] = at;
                lose(right, ids[y]);
                gain(new, ids[y], at);
            }
            if (x != NONE) {
                lose(ids[x], left);
                gain(ids[x], new, x);
            }
        }
        pairs[slot].count = 0;
        free(positions);
        pairs[slot].positions = 0;
        pairs[slot].used = 0;
        for (u32 i = first; i < pairs_used; i++)
            if (pairs[i].count) push(i, pairs[i].count);
        found[2 * number] = left;
        found[2 * number + 1] = right;
        number++;
    }
    for (u32 i = 0; i < pairs_used; i++) free(pairs[i].positions);
    free(pairs), free(slots), free(heap), free(heap_counts), free(ids), free(next), free(last);
    return number;
}
