//! Measures splitting alone, one thread: `cargo run --release --example split -- FILE PATTERN [TIER] [MEGABYTES]`.
//!
//! PATTERN is a name or any regex that a scanner serves. TIER is `scanner` (character by character) or the instructions that
//! the masks use (`portable`, `avx2`, `avx512`); without it, all that this machine has are measured, and must find the same
//! pieces. Prints the number of pieces and, for each, megabytes of text a second: of each quarter of a megabyte the
//! best of some rounds, so that other work on the machine disturbs little.

use digram::split::{Splitter, named};
use std::error::Error;
use std::time::{Duration, Instant};

const PART: usize = 1 << 18;
const ROUNDS: usize = 15;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, pattern, rest @ ..] = &arguments[..] else {
        return Err("usage: split FILE PATTERN [TIER] [MEGABYTES]".into());
    };
    let splitter = Splitter::new(named(pattern).unwrap_or(pattern))?;
    let megabytes = rest.get(1).map_or(Ok(10), |number| number.parse::<usize>())?;
    let mut data = std::fs::read(path)?;
    data.truncate(megabytes * 1_000_000);
    let text = String::from_utf8_lossy(&data);
    let text = text.trim_end_matches(char::REPLACEMENT_CHARACTER);

    let tiers: Vec<&str> =
        Splitter::tiers().into_iter().filter(|tier| rest.first().is_none_or(|t| t == tier)).collect();
    let mut pieces = None;
    for tier in tiers {
        let (number, time) = measure(&splitter, tier, text).ok_or("no scanner serves this pattern, or no masks do")?;
        if *pieces.get_or_insert(number) != number {
            return Err(format!("{tier} finds {number} pieces, not {pieces:?}").into());
        }
        println!("{tier:>8} {:6.0} MB/s {number} pieces", text.len() as f64 / 1e6 / time.as_secs_f64());
    }
    Ok(())
}

/// The number of pieces and the time they took; `None` where the tier is not to be had for the pattern.
fn measure(splitter: &Splitter, tier: &str, text: &str) -> Option<(usize, Duration)> {
    let (mut number, mut time, mut from) = (0, Duration::ZERO, 0);
    let mut ends = Vec::new();
    while from < text.len() {
        let to = (from + PART..text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len());
        let part = &text[from..to];
        let (mut best, mut found) = (Duration::MAX, 0);
        for _ in 0..ROUNDS {
            let start = Instant::now();
            let mut at = 0;
            found = 0;
            while at < part.len() {
                ends.clear();
                splitter.ends_by(tier, part, at, &mut ends)?;
                found += ends.len();
                at = *ends.last()?;
            }
            best = best.min(start.elapsed());
        }
        (number, time, from) = (number + found, time + best, to);
    }
    Some((number, time))
}
