//! Counts the pieces of a file: `cargo run --release --example count -- FILE PATTERN [THREADS] [lines]`.
//!
//! PATTERN is a name, `none`, or any regex. With `lines`, each line is a document. Prints the number of distinct pieces
//! and of pieces, and the speed of splitting alone, on one thread, and of splitting and counting.

use cpu_time::ProcessTime;
use digram::count::{Counter, PieceCounts};
use digram::specials::SpecialMatcher;
use digram::split::{Splitter, named};
use std::error::Error;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let usage = "usage: count FILE PATTERN [THREADS] [lines]";
    let (path, pattern) = (arguments.next().ok_or(usage)?, arguments.next().ok_or(usage)?);
    let threads = arguments.next().map_or(Ok(1), |word| word.parse())?;
    let by_line = arguments.next().is_some_and(|word| word == "lines");

    let data = std::fs::read(path)?;
    let splitter = match pattern.as_str() {
        "none" => Splitter::none(),
        other => Splitter::new(named(other).unwrap_or(other))?,
    };
    let documents: Vec<&[u8]> = if by_line { data.split_inclusive(|&b| b == b'\n').collect() } else { vec![&data] };
    let speed = |(wall, cpu): (Instant, ProcessTime)| {
        let megabytes = data.len() as f64 / 1e6;
        format!(
            "{:.0} MB/s ({:.0} of processor time)",
            megabytes / wall.elapsed().as_secs_f64(),
            megabytes / cpu.elapsed().as_secs_f64()
        )
    };
    let start = (Instant::now(), ProcessTime::now());
    let mut pieces = 0_u64;
    for document in &documents {
        splitter.for_each_piece(document, |_| {
            pieces += 1;
            Ok(())
        })?;
    }
    let split = speed(start);

    let start = (Instant::now(), ProcessTime::now());
    let mut counts = PieceCounts::new();
    Counter::new(splitter.clone(), SpecialMatcher::none())
        .count_batch(&documents, threads, &mut counts, &|| false)
        .map_err(|(i, error)| format!("document {i}: {error}"))?;
    println!(
        "{}: {} distinct pieces of {pieces}; split {split}, split and count {}",
        splitter.engine(),
        counts.len(),
        speed(start)
    );
    Ok(())
}
