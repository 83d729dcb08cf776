//! The fuzz targets without a fuzzer: over their seeds, past findings among them, and over random bytes.

use digram_fuzz::{TARGETS, Target};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Runs one case, and says of a finding how to see it again.
fn run(name: &str, target: Target, data: &[u8], from: &str) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| target(data))) {
        let hex: String = data.iter().map(|byte| format!("{byte:02x}")).collect();
        eprintln!("target {name} fails on {from}; its bytes, to be kept in fuzz/seeds/{name} once it is mended: {hex}");
        resume_unwind(panic);
    }
}

#[test]
fn seeds_and_past_findings() {
    for (name, target) in TARGETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(name);
        let mut files: Vec<PathBuf> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        assert!(!files.is_empty(), "{} holds no seed", folder.display());
        for file in files {
            run(name, target, &std::fs::read(&file).unwrap(), &file.display().to_string());
        }
    }
}

#[test]
fn random_bytes() {
    for (name, target) in TARGETS {
        // The same cases on every machine, as far as its time goes.
        let end = Instant::now() + Duration::from_millis(700);
        let mut seed = 0u64;
        while Instant::now() < end || seed < 100 {
            let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
            let mut next = || {
                // xorshift64*
                state ^= state >> 12;
                state ^= state << 25;
                state ^= state >> 27;
                (state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize
            };
            // Few different bytes, or any.
            let values = [3, 16, 64, 256][next() % 4];
            let data: Vec<u8> = (0..next() % 300).map(|_| (next() % values) as u8).collect();
            run(name, target, &data, &format!("random bytes {seed}"));
            seed += 1;
        }
    }
}

/// The targets compare the engine to definitions of their own; these meet the vectors of the specification.
#[test]
fn the_definitions_follow_the_vectors_of_the_specification() {
    for (entries, text, ids) in [
        ("a,b,c,ab,bc,abc,cab", "abcab", vec![5, 3]),
        ("a,b,c,bc,abc,ab", "abc", vec![4]),
        ("a,aa", "aaa", vec![1, 0]),
        ("a,b,xyz,ab", "ab", vec![3]),
        ("a,a,b,ab", "ab", vec![3]),
        ("a,aaaa,aaa,aaa,aa,aaaaa,aaa,aaaaa,aaa", "aaaaaaaaaaaaaaaaa", vec![4, 4, 4, 4, 4, 4, 7]),
    ] {
        let entries: Vec<&str> = entries.split(',').collect();
        assert_eq!(digram_fuzz::ids_of_list(&entries, text), ids, "{entries:?}");
    }
}
