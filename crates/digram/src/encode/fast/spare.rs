//! Caches, each with its room, that wait for a call.

use super::room::Room;
use std::sync::Mutex;

/// How many wait at most: as many threads as encode with one tokenizer at once find a warm cache.
const MOST: usize = 16;

/// The caches of one tokenizer that no call holds. Nobody waits for one: who finds none makes a new one, and of too many the
/// last is dropped. A process that forks while another thread takes a cache loses that place for its child, no more.
#[derive(Default)]
pub(crate) struct Spare([Mutex<Option<Box<Room>>>; MOST]);

impl std::fmt::Debug for Spare {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Spare").finish_non_exhaustive()
    }
}

impl Spare {
    fn take(&self) -> Option<Box<Room>> {
        self.0.iter().find_map(|place| place.try_lock().ok()?.take())
    }

    fn put(&self, room: Box<Room>) {
        let free = self.0.iter().filter_map(|place| place.try_lock().ok()).find(|place| place.is_none());
        if let Some(mut place) = free {
            *place = Some(room);
        }
    }
}

/// A room that is lent, and goes back however the call ends.
pub(super) struct Lent<'a> {
    spare: &'a Spare,
    room: Option<Box<Room>>,
}

impl<'a> Lent<'a> {
    pub(super) fn of(spare: &'a Spare) -> Self {
        Self { spare, room: None }
    }

    /// The room; taken when it is first asked for.
    #[inline]
    pub(super) fn get(&mut self) -> &mut Room {
        self.room.get_or_insert_with(|| self.spare.take().unwrap_or_default())
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        if let Some(mut room) = self.room.take() {
            room.misses.clear(); // of a call that was stopped: they are places of its text
            self.spare.put(room);
        }
    }
}
