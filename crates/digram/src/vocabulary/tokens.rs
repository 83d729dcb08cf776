//! The token table: id -> bytes, parts, kind.
//!
//! Short tokens keep their bytes. A long merged token keeps only its two parts: a vocabulary trained without a split on
//! repetitive text holds chains of tokens whose lengths add up to the square of a passage, and must not be written out.

use crate::{Error, Result};

/// Merged tokens up to this many bytes are stored; longer ones are put together from their parts when asked for.
const STORED: u64 = 64;

/// The longest token, in bytes. Repeated doubling in a hostile file would pass any memory.
const LONGEST: u64 = u32::MAX as u64;

#[derive(Clone, Copy, Debug)]
enum Entry {
    /// No token has this id.
    Gap,
    /// The bytes stand in the store.
    Stored { start: u32, length: u32, special: bool },
    /// The bytes are those of the parts.
    Joined { left: u32, right: u32, length: u32 },
}

/// Tokens by id; ids may have gaps.
#[derive(Debug, Default)]
pub struct Tokens {
    entries: Vec<Entry>,
    store: Vec<u8>,
}

impl Tokens {
    /// The highest id + 1.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no token at all.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether `id` has a token.
    pub fn contains(&self, id: u32) -> bool {
        !matches!(self.entry(id), Entry::Gap)
    }

    /// Whether `id` is a special token's.
    pub fn is_special(&self, id: u32) -> bool {
        matches!(self.entry(id), Entry::Stored { special: true, .. })
    }

    /// The length of a token in bytes, 0 for a gap.
    pub fn length(&self, id: u32) -> u64 {
        match self.entry(id) {
            Entry::Gap => 0,
            Entry::Stored { length, .. } | Entry::Joined { length, .. } => u64::from(length),
        }
    }

    /// Appends the bytes of `id` to `out`; false where the id has no token.
    pub fn append(&self, id: u32, out: &mut Vec<u8>) -> bool {
        match self.entry(id) {
            Entry::Gap => return false,
            Entry::Stored { start, length, .. } => out.extend_from_slice(self.stored(start, length)),
            Entry::Joined { left, right, length } => {
                out.reserve(length as usize);
                // A stack, not recursion: a chain of tokens may be a million parts deep.
                let mut stack = vec![right, left];
                while let Some(part) = stack.pop() {
                    match self.entry(part) {
                        Entry::Gap => unreachable!("the parts of a token are tokens: checked when it was added"),
                        Entry::Stored { start, length, .. } => out.extend_from_slice(self.stored(start, length)),
                        Entry::Joined { left, right, .. } => stack.extend([right, left]),
                    }
                }
            }
        }
        true
    }

    /// The bytes of `id`, or none for a gap.
    pub fn bytes(&self, id: u32) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        self.append(id, &mut out).then_some(out)
    }

    /// The bytes of `id` where they stand written out: every token but the long merged ones.
    pub(crate) fn written(&self, id: u32) -> Option<&[u8]> {
        match self.entry(id) {
            Entry::Stored { start, length, .. } => Some(self.stored(start, length)),
            _ => None,
        }
    }

    /// The two parts of a token that is not written out.
    pub(crate) fn parts(&self, id: u32) -> Option<(u32, u32)> {
        match self.entry(id) {
            Entry::Joined { left, right, .. } => Some((left, right)),
            _ => None,
        }
    }

    /// Makes room for ids below `n`, so that a hostile id cannot ask for it one by one.
    ///
    /// # Errors
    /// `Vocabulary` where the highest id is absurd for the number of tokens.
    pub(crate) fn reserve(&mut self, highest: u64, tokens: usize) -> Result<()> {
        let most = (16 * tokens as u64).max(1 << 22);
        if highest >= most.min(1 << 31) {
            return Err(Error::Vocabulary(format!(
                "token id {highest} is out of range: with {tokens} tokens, ids must be below {}",
                most.min(1 << 31)
            )));
        }
        let needed = highest as usize + 1;
        if needed > self.entries.len() {
            self.entries.resize(needed, Entry::Gap);
        }
        Ok(())
    }

    /// Makes room for so many bytes of tokens that are set.
    pub(crate) fn reserve_bytes(&mut self, bytes: usize) {
        self.store.reserve_exact(bytes);
    }

    /// Gives `id` the bytes of a base symbol, a ranked token or a special token. Room must be reserved.
    pub(crate) fn set(&mut self, id: u32, bytes: &[u8], special: bool) -> Result<()> {
        let length = u32::try_from(bytes.len())
            .map_err(|_| Error::Vocabulary(format!("token {id} is longer than {LONGEST} bytes")))?;
        let start = self.next_start()?;
        self.fill(id, Entry::Stored { start, length, special })?;
        self.store.extend_from_slice(bytes);
        Ok(())
    }

    /// Makes the token `id` a special one, if it is spelt so; false where it is not.
    pub(crate) fn mark_special(&mut self, id: u32, marker: &str) -> bool {
        let same = self.written(id) == Some(marker.as_bytes());
        if same && let Some(Entry::Stored { special, .. }) = self.entries.get_mut(id as usize) {
            *special = true;
        }
        same
    }

    /// Gives `id` the bytes of two tokens. Room must be reserved.
    pub(crate) fn join(&mut self, id: u32, left: u32, right: u32) -> Result<()> {
        for part in [left, right] {
            if !self.contains(part) {
                return Err(Error::Vocabulary(format!(
                    "the merge ({left}, {right}) -> {id} uses id {part}, which no earlier line makes"
                )));
            }
        }
        let length = self.length(left) + self.length(right);
        if length > LONGEST {
            return Err(Error::Vocabulary(format!("token {id} would be longer than {LONGEST} bytes")));
        }
        let entry = if length <= STORED {
            let start = self.next_start()?;
            for part in [left, right] {
                // Both parts are shorter, so they are stored too.
                let Entry::Stored { start, length, .. } = self.entry(part) else {
                    unreachable!("a short token is stored")
                };
                self.store.extend_from_within(start as usize..start as usize + length as usize);
            }
            Entry::Stored { start, length: length as u32, special: false }
        } else {
            Entry::Joined { left, right, length: length as u32 }
        };
        self.fill(id, entry)
    }

    fn next_start(&self) -> Result<u32> {
        let too_much = |_| Error::Vocabulary("all tokens together are longer than 4 GB".into());
        u32::try_from(self.store.len()).map_err(too_much)
    }

    fn fill(&mut self, id: u32, entry: Entry) -> Result<()> {
        let slot = &mut self.entries[id as usize];
        if !matches!(slot, Entry::Gap) {
            return Err(Error::Vocabulary(format!("id {id} is given to two tokens")));
        }
        *slot = entry;
        Ok(())
    }

    fn entry(&self, id: u32) -> Entry {
        self.entries.get(id as usize).copied().unwrap_or(Entry::Gap)
    }

    fn stored(&self, start: u32, length: u32) -> &[u8] {
        &self.store[start as usize..start as usize + length as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_tokens_are_put_together_from_their_parts() {
        let mut tokens = Tokens::default();
        tokens.reserve(12, 13).unwrap();
        tokens.set(0, b"ab", false).unwrap();
        let mut want = b"ab".to_vec();
        for id in 1..12 {
            tokens.join(id, id - 1, id - 1).unwrap();
            want = want.repeat(2);
            assert_eq!(tokens.bytes(id).unwrap(), want);
            assert_eq!(tokens.length(id), want.len() as u64);
        }
        assert!(tokens.store.len() < 300, "tokens of up to 4,096 bytes are not all written out");
        assert_eq!(tokens.bytes(12), None);
        assert_eq!(tokens.bytes(u32::MAX), None);
    }

    #[test]
    fn contradictions_are_refused() {
        let mut tokens = Tokens::default();
        assert!(tokens.reserve(1 << 40, 10).is_err());
        tokens.reserve(70, 70).unwrap();
        tokens.set(0, b"a", false).unwrap();
        assert!(tokens.set(0, b"b", false).is_err(), "one id, two tokens");
        assert!(tokens.join(2, 0, 1).is_err(), "a part that is not there");
        for id in 1..70 {
            let result = tokens.join(id, id - 1, id - 1);
            assert_eq!(result.is_ok(), id < 32, "2^{id} bytes");
            if result.is_err() {
                break;
            }
        }
    }
}
