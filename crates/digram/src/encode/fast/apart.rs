//! Ids, and bytes of pieces, that stand apart from their entries: a ring, in which new ones take the place of the oldest.
//!
//! A place is the number of words that were written before it since the cache was made. So it is never used twice, and
//! whether what is there has been overwritten is one comparison: no entry need be found when its ids go.

/// Words of the ring: 4 MB.
const WORDS: usize = 1 << 20;

/// Words that are kept for one piece, at most: of more the rest would have to go.
const MOST: usize = WORDS / 16;

#[derive(Debug, Default)]
pub(super) struct Apart {
    /// As many as were written so far, up to all.
    words: Vec<u32>,
    /// The place of what comes next.
    next: u64,
}

/// What bytes are as words, with zeros behind them.
fn words(bytes: &[u8]) -> impl Iterator<Item = u32> {
    let (whole, rest) = bytes.as_chunks::<4>();
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    let last = (!rest.is_empty()).then(|| u32::from_ne_bytes(last));
    whole.iter().map(|&word| u32::from_ne_bytes(word)).chain(last)
}

impl Apart {
    /// Keeps ids and bytes; returns their place, or none where they are too many.
    pub(super) fn keep(&mut self, ids: &[u32], bytes: &[u8]) -> Option<u64> {
        let count = ids.len() + bytes.len().div_ceil(4);
        if count > MOST {
            return None;
        }
        let mut at = self.next as usize % WORDS;
        if at + count > WORDS {
            self.next += (WORDS - at) as u64;
            at = 0;
        }
        if self.words.len() < at + count {
            self.words.resize(at + count, 0);
        }
        let room = self.words[at..at + count].iter_mut();
        room.zip(ids.iter().copied().chain(words(bytes))).for_each(|(slot, word)| *slot = word);
        let place = self.next;
        self.next += count as u64;
        Some(place)
    }

    /// The ids of a place, if they still are there, and if these bytes are beside them. As many ids, and bytes as long,
    /// must have been kept there.
    pub(super) fn get(&self, place: u64, count: usize, bytes: &[u8]) -> Option<&[u32]> {
        if self.next > place + WORDS as u64 {
            return None;
        }
        let (ids, rest) = self.words[place as usize % WORDS..].split_at(count);
        // All of them, whatever comes out: that takes fewer steps than to ask each time.
        let differ = rest.iter().zip(words(bytes)).fold(0, |differ, (kept, word)| differ | (kept ^ word));
        (differ == 0).then_some(ids)
    }

    #[cfg(test)]
    pub(super) fn is_within_bounds(&self) -> bool {
        self.words.len() <= WORDS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_what_was_kept() {
        let (mut apart, mut kept) = (Apart::default(), Vec::new());
        for n in 0..150_000u32 {
            let (ids, bytes) = (vec![n; n as usize % 9], format!("{n:0width$}", width = n as usize % 37).into_bytes());
            let place = apart.keep(&ids, &bytes).unwrap();
            assert_eq!(apart.get(place, ids.len(), &bytes), Some(&ids[..]));
            kept.push((place, ids, bytes));
        }
        assert!(apart.next as usize > WORDS && apart.is_within_bounds());
        let there = kept.iter().filter_map(|(place, ids, bytes)| Some((apart.get(*place, ids.len(), bytes)?, ids)));
        let there: Vec<_> = there.collect();
        assert!(there.iter().all(|(got, ids)| got == ids));
        assert!(there.len() > 50_000 && there.len() < 150_000, "{}", there.len());
        let (place, ids, bytes) = &kept[149_999];
        for at in 0..bytes.len() {
            let mut other = bytes.clone();
            other[at] ^= 1;
            assert_eq!(apart.get(*place, ids.len(), &other), None);
        }
    }

    #[test]
    fn what_is_too_much_is_not_kept() {
        let mut apart = Apart::default();
        assert_eq!(apart.keep(&vec![0; MOST], b""), Some(0));
        assert_eq!(apart.keep(&vec![0; MOST], b"a"), None);
        assert_eq!(apart.get(0, MOST, b""), Some(&vec![0; MOST][..]));
    }
}
