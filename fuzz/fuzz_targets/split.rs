//! `digram_fuzz::split` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| digram_fuzz::split(data));
