//! Caches that wait for a call.

use super::cache::Cache;
use std::sync::Mutex;

/// How many wait at most: as many threads as encode with one tokenizer at once find a warm cache.
const MOST: usize = 16;

/// The caches of one tokenizer that no call holds. Nobody waits for one: who finds none makes a new one, and of too many the
/// last is dropped. A process that forks while another thread takes a cache loses that place for its child, no more.
#[derive(Debug, Default)]
pub(crate) struct Spare([Mutex<Option<Box<Cache>>>; MOST]);

impl Spare {
    fn take(&self) -> Option<Box<Cache>> {
        self.0.iter().find_map(|place| place.try_lock().ok()?.take())
    }

    fn put(&self, cache: Box<Cache>) {
        let free = self.0.iter().filter_map(|place| place.try_lock().ok()).find(|place| place.is_none());
        if let Some(mut place) = free {
            *place = Some(cache);
        }
    }
}

/// A cache that is lent, and goes back however the call ends.
pub(super) struct Lent<'a> {
    spare: &'a Spare,
    cache: Option<Box<Cache>>,
}

impl<'a> Lent<'a> {
    pub(super) fn of(spare: &'a Spare) -> Self {
        Self { spare, cache: None }
    }

    /// The cache; taken when it is first asked for.
    #[inline]
    pub(super) fn get(&mut self) -> &mut Cache {
        self.cache.get_or_insert_with(|| self.spare.take().unwrap_or_else(|| Box::new(Cache::new())))
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        if let Some(cache) = self.cache.take() {
            self.spare.put(cache);
        }
    }
}
