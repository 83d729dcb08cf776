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
    advise_room(list);
}

/// The same, for exactly so many.
pub(crate) fn reserve_exact<T>(list: &mut Vec<T>, more: usize) {
    list.reserve_exact(more);
    advise_room(list);
}

fn advise_room<T>(list: &mut Vec<T>) {
    let room = list.spare_capacity_mut();
    if size_of_val(room) >= 2 * PAGE {
        advise(room.as_mut_ptr().cast(), size_of_val(room));
    }
}

/// An empty list with room for exactly so many values, on large pages where that is much.
pub(crate) fn with_capacity<T>(capacity: usize) -> Vec<T> {
    let mut list = Vec::new();
    reserve_exact(&mut list, capacity);
    list
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

/// A number of values, zeros at first.
#[derive(Debug)]
pub(crate) struct Table<T: Zero> {
    start: NonNull<T>,
    length: usize,
    /// Where addresses were mapped for more of them: where that is, and how many bytes.
    map: Option<(NonNull<u8>, usize)>,
}

#[allow(unsafe_code)] // the standard library has no way to ask for large pages before memory is touched
impl<T: Zero> Table<T> {
    /// A table of `length` zeros; of no length, none is allocated. Ends the process where memory ends, as `vec!` does.
    pub(crate) fn zeros(length: usize) -> Self {
        let layout = Self::layout(length);
        if layout.size() == 0 {
            return Self { start: NonNull::dangling(), length, map: None };
        }
        // SAFETY: the layout has a size. `start` is checked, and memory from `alloc` is written all over before it is used.
        unsafe {
            let start = if layout.size() < PAGE { alloc_zeroed(layout) } else { alloc(layout) };
            let start = NonNull::new(start).unwrap_or_else(|| handle_alloc_error(layout));
            if layout.size() >= PAGE {
                advise(start.as_ptr(), layout.size());
                start.write_bytes(0, layout.size());
            }
            Self { start: start.cast(), length, map: None }
        }
    }

    /// A table of `length` zeros that may become one of `most` where it is: memory that was never touched takes none, and a
    /// larger table elsewhere would be touched, and be written with zeros, all of it.
    pub(crate) fn with_room(length: usize, most: usize) -> Self {
        assert!(length <= most && align_of::<T>() <= PAGE);
        #[cfg(target_os = "linux")]
        {
            let bytes = size_of::<T>() * most + PAGE;
            let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
            // SAFETY: new addresses, of nothing else; they read as zeros. The first multiple of a large page has `most` values
            // behind it.
            unsafe {
                let map = libc::mmap(std::ptr::null_mut(), bytes, access, kind | libc::MAP_NORESERVE, -1, 0);
                if map != libc::MAP_FAILED
                    && let Some(map) = NonNull::new(map.cast::<u8>())
                {
                    let start = map.add(map.align_offset(PAGE)).cast();
                    return Self { start, length, map: Some((map, bytes)) };
                }
            }
        }
        Self::zeros(length)
    }

    /// Makes it longer by zeros, up to the `most` that it was made for.
    pub(crate) fn lengthen(&mut self, length: usize) {
        assert!(length >= self.length);
        let Some((map, bytes)) = self.map else {
            let mut longer = Self::zeros(length);
            longer[..self.length].copy_from_slice(self);
            *self = longer;
            return;
        };
        let size = size_of::<T>() * length;
        assert!(self.start.addr().get() - map.addr().get() + size <= bytes, "longer than it was made for");
        if size > PAGE {
            advise(self.start.as_ptr().cast(), size);
        }
        self.length = length;
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
        #[cfg(target_os = "linux")]
        if let Some((map, bytes)) = self.map {
            // SAFETY: mapped with the same number of bytes; nobody has a reference any more.
            unsafe { libc::munmap(map.as_ptr().cast(), bytes) };
            return;
        }
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
            reserve(&mut list, more / 2);
            assert!(list.capacity() >= 3 + more / 2);
            reserve_exact(&mut list, more);
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

    #[test]
    fn tables_become_longer_where_they_are() {
        for most in [4, 1000, PAGE / 8, PAGE] {
            let mut table = Table::<u64>::with_room(1, most);
            while table.len() < most {
                let length = table.len();
                table[length - 1] = length as u64;
                table.lengthen((2 * length).min(most));
                assert!(table[length..].iter().all(|&value| value == 0));
            }
            let table = std::thread::spawn(move || table).join().unwrap();
            let kept = (1..most).filter(|&length| table[length - 1] == length as u64).count();
            assert_eq!(kept, most.next_power_of_two().trailing_zeros() as usize);
        }
    }

    #[test]
    #[should_panic(expected = "longer than it was made for")]
    #[cfg(target_os = "linux")]
    fn tables_become_no_longer_than_they_were_made_for() {
        Table::<u64>::with_room(1, 8).lengthen(PAGE);
    }
}
