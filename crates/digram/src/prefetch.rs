//! Memory that will be wanted soon.

/// Tells the processor that a value will be read.
#[inline]
#[allow(unsafe_code)] // there is no safe way to say it
pub(crate) fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint about an address, which is that of a reference; nothing is read or written.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast());
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        std::arch::asm!(
            "prfm pldl1keep, [{}]",
            in(reg) std::ptr::from_ref(value),
            options(nostack, readonly, preserves_flags)
        );
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = value;
}
