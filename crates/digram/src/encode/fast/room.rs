//! Memory that a call uses, and leaves to the next one.

use super::cache::Cache;
use super::misses::Miss;
use super::view::Far;
use crate::merge::{Lanes, Scratch};

/// A cache, and what lies on the desk beside it.
pub(super) struct Room {
    pub cache: Cache,
    pub far: Far,
    /// Ends of pieces, and pieces that had no entry: empty between calls.
    pub ends: Vec<usize>,
    pub misses: Vec<Miss>,
    /// The same for pieces within pieces, and what misses come to.
    pub spare: Vec<(Vec<Miss>, Vec<u32>)>,
    pub lanes: Lanes,
    pub scratch: Scratch,
    /// For a piece as it is merged.
    pub written: Vec<u8>,
}

impl Default for Room {
    fn default() -> Self {
        Self {
            cache: Cache::new(),
            far: Far::default(),
            ends: Vec::new(),
            misses: Vec::new(),
            spare: Vec::new(),
            lanes: Lanes::default(),
            scratch: Scratch::default(),
            written: Vec::new(),
        }
    }
}
