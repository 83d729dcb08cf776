//! Memory that a thread keeps from call to call.

use std::cell::Cell;
use std::thread::LocalKey;

/// A list that is empty between calls, and its memory.
pub type Kept<T> = Cell<Vec<T>>;

/// Calls `work` with an empty list: that of the last call of this thread, unless it was longer than `most`.
pub fn with_kept<T, R>(kept: &'static LocalKey<Kept<T>>, most: usize, work: impl FnOnce(&mut Vec<T>) -> R) -> R {
    // Taken, not borrowed: a handler of signals may call back into this thread.
    let mut list = kept.take();
    list.clear();
    let result = work(&mut list);
    if list.capacity() <= most {
        kept.set(list);
    }
    result
}
