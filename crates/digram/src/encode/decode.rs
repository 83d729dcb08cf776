//! Ids -> bytes.

use super::{Decoder, Encoder};
use crate::normalize::byte_characters;
use crate::{Error, Result};

impl Encoder {
    /// Appends the bytes of all ids to `out`. Special tokens give their marker, or nothing with `skip_special`.
    ///
    /// Where the vocabulary has a decoder of its own, `out` is the text that it makes; see [`Decoder::text`] for `replace`.
    ///
    /// # Errors
    /// `UnknownId` for the first id without a token; `OutOfMemory` where the bytes do not fit: a token may be 4 GB long, and
    /// a file that makes such a one by doubling has a few lines. `out` then is as it was.
    pub fn decode(&self, ids: &[u32], skip_special: bool, replace: bool, out: &mut Vec<u8>) -> Result<()> {
        let length = self.length(ids)?;
        let fits = usize::try_from(length).is_ok_and(|length| out.try_reserve_exact(length).is_ok());
        if !fits {
            return Err(Error::OutOfMemory { bytes: length });
        }
        if self.around.decoder == Decoder::Bytes {
            let tokens = self.vocabulary.tokens();
            for id in self.kept(ids, skip_special) {
                match self.added_by_id.get(&id) {
                    Some(text) => out.extend_from_slice(text),
                    None => _ = tokens.append(id, out),
                }
            }
            return Ok(());
        }
        let strings = self.strings(ids, skip_special)?;
        out.extend_from_slice(&self.around.decoder.text(strings.collect(), replace));
        Ok(())
    }

    /// How many bytes the tokens have; the first id without one is an error.
    fn length(&self, ids: &[u32]) -> Result<u64> {
        let tokens = self.vocabulary.tokens();
        let mut length = 0u64;
        for &id in ids {
            length = length.saturating_add(match self.added_by_id.get(&id) {
                Some(text) => text.len() as u64,
                None if tokens.contains(id) => tokens.length(id),
                None => return Err(Error::UnknownId { id: u64::from(id) }),
            });
        }
        Ok(length)
    }

    fn kept(&self, ids: &[u32], skip_special: bool) -> impl Iterator<Item = u32> {
        let tokens = self.vocabulary.tokens();
        ids.iter().copied().filter(move |&id| !(skip_special && tokens.is_special(id)))
    }

    /// The strings of tokens as decoders take them: bytes are written as characters.
    pub(super) fn strings(&self, ids: &[u32], skip_special: bool) -> Result<impl Iterator<Item = Vec<u8>>> {
        self.length(ids)?;
        let string = |id| match self.added_by_id.get(&id) {
            Some(text) => text.clone(),
            None => {
                let bytes = self.vocabulary.tokens().bytes(id).expect("every id has a token");
                if self.vocabulary.is_of_bytes() { byte_characters::written(&bytes).into() } else { bytes }
            }
        };
        Ok(self.kept(ids, skip_special).map(string))
    }
}
