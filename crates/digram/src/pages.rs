//! Memory on large pages, where the system has them: a table of megabytes that is read at random places is else a miss of the
//! translation cache each time, and a list of megabytes a fault every thousand ids.

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc, handle_alloc_error};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// A large page of x86-64 and of ARM64.
const PAGE: usize = 2 << 20;

/// Makes room for so many more values, on large pages where that is much: memory that was never touched costs a fault a page,
/// and those of a long list of ids take as long as finding them. (numpy does so for its arrays.)
pub(crate) fn reserve<T>(list: &mut Vec<T>, more: usize) {
    list.reserve(more);
    let room = list.spare_capacity_mut();
    if size_of_val(room) >= 2 * PAGE {
        advise(room.as_mut_ptr().cast(), size_of_val(room));
    }
}

/// Asks for large pages for memory, where there are any. Nothing depends on the answer.
#[allow(unsafe_code)]
fn advise(start: *mut u8, bytes: usize) {
    let skipped = start.align_offset(PAGE);
    if skipped < bytes {
        #[cfg(target_os = "linux")]
        // SAFETY: no more than a hint about how memory is mapped, for whole pages within one allocation; what it holds stays.
        unsafe {
            libc::madvise(start.add(skipped).cast(), (bytes - skipped) / PAGE * PAGE, libc::MADV_HUGEPAGE);
        }
    }
}

/// Types of which all zeros are a value, and that need no drop.
///
/// # Safety
/// Both must be so.
#[allow(unsafe_code)]
pub(crate) unsafe trait Zero: Copy {}

/// A fixed number of values, zeros at first.
#[derive(Debug)]
pub(crate) struct Table<T: Zero> {
    start: NonNull<T>,
    length: usize,
}

#[allow(unsafe_code)] // the standard library has no way to ask for large pages before memory is touched
impl<T: Zero> Table<T> {
    /// A table of `length` zeros; of no length, none is allocated. Ends the process where memory ends, as `vec!` does.
    pub(crate) fn zeros(length: usize) -> Self {
        let layout = Self::layout(length);
        if layout.size() == 0 {
            return Self { start: NonNull::dangling(), length };
        }
        // SAFETY: the layout has a size. `start` is checked, and memory from `alloc` is written all over before it is used.
        unsafe {
            let start = if layout.size() < PAGE { alloc_zeroed(layout) } else { alloc(layout) };
            let start = NonNull::new(start).unwrap_or_else(|| handle_alloc_error(layout));
            if layout.size() >= PAGE {
                advise(start.as_ptr(), layout.size());
                start.write_bytes(0, layout.size());
            }
            Self { start: start.cast(), length }
        }
    }

    /// Aligned so that large pages fit, where it is as large as one.
    fn layout(length: usize) -> Layout {
        let plain = Layout::array::<T>(length).expect("a table is smaller than the address space");
        let align = if plain.size() < PAGE { plain.align() } else { PAGE };
        plain.align_to(align).expect("a power of two")
    }
}

#[allow(unsafe_code)]
impl<T: Zero> Deref for Table<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: `start` is the beginning of `length` values, which all are initialised; they live as long as `self`.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.length) }
    }
}

#[allow(unsafe_code)]
impl<T: Zero> DerefMut for Table<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and `self` is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.length) }
    }
}

#[allow(unsafe_code)]
impl<T: Zero> Drop for Table<T> {
    fn drop(&mut self) {
        let layout = Self::layout(self.length);
        if layout.size() > 0 {
            // SAFETY: allocated with the same layout, which depends on the length alone.
            unsafe { dealloc(self.start.as_ptr().cast(), layout) }
        }
    }
}

// SAFETY: a table owns its values, as a vector does.
#[allow(unsafe_code)]
unsafe impl<T: Zero + Send> Send for Table<T> {}
// SAFETY: as above: shared access reads only.
#[allow(unsafe_code)]
unsafe impl<T: Zero + Sync> Sync for Table<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    // SAFETY: a number.
    #[allow(unsafe_code)]
    unsafe impl Zero for u64 {}

    #[test]
    fn lists_keep_what_they_hold() {
        for more in [0, 10, PAGE / 4, PAGE] {
            let mut list = vec![1u32, 2, 3];
            reserve(&mut list, more);
            assert!(list.capacity() >= 3 + more);
            list.resize(3 + more, 9);
            assert!(list[..3] == [1, 2, 3] && list[3..].iter().all(|&n| n == 9));
        }
    }

    #[test]
    fn tables_of_every_size_are_zeros_and_keep_what_is_written() {
        for length in [0, 1, 1000, PAGE / 8 - 1, PAGE / 8, PAGE / 8 + 1, PAGE] {
            let mut table = Table::<u64>::zeros(length);
            assert_eq!(table.len(), length);
            assert!(table.iter().all(|&value| value == 0));
            for (i, value) in table.iter_mut().enumerate() {
                *value = i as u64;
            }
            let table = std::thread::spawn(move || table).join().unwrap();
            assert!(table.iter().zip(0..).all(|(&value, i)| value == i));
        }
    }
}
