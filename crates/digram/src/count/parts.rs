//! Documents in parts that may be counted by themselves, on different threads.

use super::Counter;
use std::ops::Range;

/// The bytes of a part, about: small beside what a thread counts in a call, so that all end at the same time, and some of it
/// still in the processor's caches when it is looked at again.
pub(super) const PART: usize = 1 << 18;

/// Whole documents, or some of the bytes of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) documents: Range<usize>,
    /// Of each of the documents.
    pub(super) bytes: Option<Range<usize>>,
    /// Bytes in all documents before its first byte.
    pub(super) position: u64,
}

/// Cuts documents into parts of about `size` bytes; larger ones where no cut is known. In each, pieces are the same as in
/// the whole.
pub(super) fn parts(counter: &Counter, documents: &[&[u8]], size: usize) -> Vec<Part> {
    let (mut parts, mut first, mut bytes) = (Vec::new(), 0, 0);
    let mut position = 0;
    let size = size.max(1);
    for (i, document) in documents.iter().enumerate() {
        if counter.has_cuts() && document.len() >= 2 * size {
            if first < i {
                parts.push(Part { documents: first..i, bytes: None, position: position - bytes as u64 });
            }
            let mut start = 0;
            while start < document.len() {
                let end = next_cut(counter, document, start, size);
                parts.push(Part { documents: i..i + 1, bytes: Some(start..end), position: position + start as u64 });
                start = end;
            }
            (first, bytes) = (i + 1, 0);
        } else {
            bytes += document.len();
            if bytes >= size || i + 1 == documents.len() {
                let before = (bytes - document.len()) as u64;
                parts.push(Part { documents: first..i + 1, bytes: None, position: position - before });
                (first, bytes) = (i + 1, 0);
            }
        }
        position += document.len() as u64;
    }
    parts
}

/// The end of a part of about `size` bytes that begins at byte `start`: the end of the document where no cut is behind it.
fn next_cut(counter: &Counter, document: &[u8], start: usize, size: usize) -> usize {
    let mut from = start + 1;
    loop {
        let to = from + size - 1;
        if to >= document.len() {
            return document.len();
        }
        if let Some(cut) = counter.last_cut(document, from, to) {
            return cut;
        }
        from = to + 1;
    }
}
