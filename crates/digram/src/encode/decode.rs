//! Ids -> bytes.

use super::Encoder;
use crate::{Error, Result};

impl Encoder {
    /// Appends the bytes of all ids to `out`. Special tokens give their marker, or nothing with `skip_special`.
    ///
    /// # Errors
    /// `UnknownId` for the first id without a token; `OutOfMemory` where the text does not fit: a token may be 4 GB long, and
    /// a file that makes such a one by doubling has a few lines. `out` then is as it was.
    pub fn decode(&self, ids: &[u32], skip_special: bool, out: &mut Vec<u8>) -> Result<()> {
        let tokens = self.vocabulary.tokens();
        let skipped = |id| skip_special && tokens.is_special(id);
        let mut length = 0u64;
        for &id in ids {
            if !tokens.contains(id) {
                return Err(Error::UnknownId { id: u64::from(id) });
            }
            length = length.saturating_add(if skipped(id) { 0 } else { tokens.length(id) });
        }
        let fits = usize::try_from(length).is_ok_and(|length| out.try_reserve_exact(length).is_ok());
        if !fits {
            return Err(Error::OutOfMemory { bytes: length });
        }
        for &id in ids {
            if !skipped(id) {
                tokens.append(id, out);
            }
        }
        Ok(())
    }
}
