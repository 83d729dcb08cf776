//! Ids -> bytes.

use super::Encoder;
use crate::{Error, Result};

impl Encoder {
    /// Appends the bytes of all ids to `out`. Special tokens give their marker, or nothing with `skip_special`.
    ///
    /// # Errors
    /// `UnknownId` for the first id without a token; `out` may then hold some bytes.
    pub fn decode(&self, ids: &[u32], skip_special: bool, out: &mut Vec<u8>) -> Result<()> {
        let tokens = self.vocabulary.tokens();
        for &id in ids {
            if skip_special && tokens.is_special(id) {
                continue;
            }
            if !tokens.append(id, out) {
                return Err(Error::UnknownId { id: u64::from(id) });
            }
        }
        Ok(())
    }
}
