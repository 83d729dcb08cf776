//! Ids -> bytes.

use super::alone::Alone;
use super::runs::all_in_order;
use super::spelt::Spelt;
use super::{Batch, Decoder, Encoder};
use crate::normalize::byte_characters;
use crate::{Error, Result};
use std::mem::MaybeUninit;

/// The bytes of some lists of ids, end to end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decoded {
    /// All bytes.
    pub bytes: Vec<u8>,
    /// Where those of each list end in `bytes`.
    pub ends: Vec<usize>,
}

/// Lists are handed out in runs of about so many ids.
const RUN: usize = 1 << 14;

impl Encoder {
    /// Appends the bytes of all ids to `out`. Special tokens give their marker, or nothing with `skip_special`.
    ///
    /// Where the vocabulary has a decoder of its own, `out` is the text that it makes; see [`Decoder::text`] for `replace`.
    ///
    /// # Errors
    /// `UnknownId` for the first id without a token; `OutOfMemory` where the bytes do not fit: a token may be 4 GB long, and
    /// a file that makes such a one by doubling has a few lines. `out` then is as it was.
    pub fn decode(&self, ids: &[u32], skip_special: bool, replace: bool, out: &mut Vec<u8>) -> Result<()> {
        if let Some(length) = self.decoded_length(ids, skip_special)? {
            if out.try_reserve_exact(length).is_err() {
                return Err(Error::OutOfMemory { bytes: length as u64 });
            }
            self.decode_into(ids, skip_special, out, length);
            return Ok(());
        }
        if let Some(alone) = self.alone() {
            let string = |id| self.string(id).expect("a token");
            if alone.append(ids, skip_special, replace, string, out) {
                return Ok(());
            }
        }
        let length = self.length(ids)?;
        let fits = usize::try_from(length).is_ok_and(|length| out.try_reserve_exact(length).is_ok());
        if !fits {
            return Err(Error::OutOfMemory { bytes: length });
        }
        let strings = self.strings(ids, skip_special)?;
        out.extend_from_slice(&self.around.decoder.text(strings.collect(), replace));
        Ok(())
    }

    /// How many bytes [`Self::decode`] gives; None where that is known only when they are there.
    ///
    /// # Errors
    /// As [`Self::decode`].
    pub fn decoded_length(&self, ids: &[u32], skip_special: bool) -> Result<Option<usize>> {
        if self.around.decoder != Decoder::Bytes {
            return Ok(None);
        }
        let length = self.spelt().length(ids, skip_special, |id| self.length(&[id]))?;
        usize::try_from(length).map(Some).map_err(|_| Error::OutOfMemory { bytes: length })
    }

    /// Writes the bytes of ids, as many as `decoded_length` says.
    ///
    /// # Panics
    /// Where `out` has another length.
    pub fn write_decoded(&self, ids: &[u32], skip_special: bool, out: &mut [MaybeUninit<u8>]) {
        let other = |id, room: &mut Vec<u8>| match self.added_by_id.get(&id) {
            Some(text) => room.extend_from_slice(text),
            None => _ = self.vocabulary.tokens().append(id, room),
        };
        let written = self.spelt().write(ids, skip_special, out, other);
        assert_eq!(written, out.len(), "the bytes of ids have the length that was asked for");
    }

    /// Appends `length` bytes of ids to `out`, where there is room for them.
    #[allow(unsafe_code)]
    fn decode_into(&self, ids: &[u32], skip_special: bool, out: &mut Vec<u8>, length: usize) {
        self.write_decoded(ids, skip_special, &mut out.spare_capacity_mut()[..length]);
        // SAFETY: so many have been written, else it would have panicked.
        unsafe { out.set_len(out.len() + length) };
    }

    fn spelt(&self) -> &Spelt {
        self.spelt.get_or_init(|| Spelt::new(self.vocabulary.tokens(), &self.added_by_id))
    }

    /// The bytes of each list of ids, as [`Self::decode`] gives them: run of neighbours by run, in order.
    ///
    /// `threads` threads work, this one among them; here `stop` is asked, and `take` called.
    ///
    /// # Errors
    /// As [`Self::decode`], inside `InDocument` with the index of the first list that has one; what `take` returns.
    pub fn decode_batch(
        &self,
        lists: &Batch,
        (skip_special, replace): (bool, bool),
        threads: usize,
        stop: &dyn Fn() -> bool,
        take: &mut dyn FnMut(Decoded) -> Result<()>,
    ) -> Result<()> {
        let start = |list: usize| if list == 0 { 0 } else { lists.ends[list - 1] };
        let mut runs = vec![0];
        for (list, &end) in lists.ends.iter().enumerate() {
            if end - start(runs[runs.len() - 1]) >= RUN || list + 1 == lists.ends.len() {
                runs.push(list + 1);
            }
        }
        let work = |run: usize, _: &dyn Fn() -> bool| {
            let mut part = Decoded::default();
            for list in runs[run]..runs[run + 1] {
                let ids = &lists.ids[start(list)..lists.ends[list]];
                let decoded = self.decode(ids, skip_special, replace, &mut part.bytes);
                decoded.map_err(|source| Error::InDocument { index: list, source: Box::new(source) })?;
                part.ends.push(part.bytes.len());
            }
            Ok(part)
        };
        all_in_order(runs.len() - 1, threads, stop, work, take)
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

    /// The string of a token as decoders take it.
    fn string(&self, id: u32) -> Option<Vec<u8>> {
        if let Some(text) = self.added_by_id.get(&id) {
            return Some(text.clone());
        }
        let bytes = self.vocabulary.tokens().bytes(id)?;
        Some(if self.vocabulary.is_of_bytes() { byte_characters::written(&bytes).into() } else { bytes })
    }

    /// What tokens become where the decoder has steps that treat each by itself.
    fn alone(&self) -> Option<&Alone> {
        let Decoder::Steps(steps) = &self.around.decoder else { return None };
        let tokens = self.vocabulary.tokens();
        // A token of gigabytes is not made for a table that would not take it.
        let short = |id| if tokens.length(id) <= 256 { self.string(id) } else { None };
        self.alone.get_or_init(|| Alone::new(steps, tokens.len(), short, |id| tokens.is_special(id))).as_ref()
    }

    fn kept(&self, ids: &[u32], skip_special: bool) -> impl Iterator<Item = u32> {
        let tokens = self.vocabulary.tokens();
        ids.iter().copied().filter(move |&id| !(skip_special && tokens.is_special(id)))
    }

    /// The strings of tokens as decoders take them: bytes are written as characters.
    pub(super) fn strings(&self, ids: &[u32], skip_special: bool) -> Result<impl Iterator<Item = Vec<u8>>> {
        self.length(ids)?;
        Ok(self.kept(ids, skip_special).map(|id| self.string(id).expect("every id has a token")))
    }
}
