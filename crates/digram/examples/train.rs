//! Trains on one file and tells seconds, merges and peak memory (of Linux).
//!
//! `cargo run --release --example train -- FILE [alphabet=bytes|characters] [ties=ids|tokens|first] [vocab_size=N]
//! [min_count=N] [max_token_length=N] [split=none|spaces] [characters=N] [bytes=N]`, where the last two cut the file.

use digram::count::PieceCounts;
use digram::train::{Alphabet, Ties, TrainOptions, train};
use std::ops::ControlFlow;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("the first argument is a file")?;
    let mut options = TrainOptions::default();
    let mut text = std::fs::read(&file)?;
    let mut spaces = false;
    for argument in arguments {
        match argument.split_once('=').ok_or("options look like name=value")? {
            ("alphabet", "bytes") => options.alphabet = Alphabet::Bytes,
            ("alphabet", "characters") => options.alphabet = Alphabet::Characters,
            ("ties", "ids") => options.ties = Ties::SmallestIds,
            ("ties", "tokens") => options.ties = Ties::SmallestTokens,
            ("ties", "first") => options.ties = Ties::FirstSeen,
            ("vocab_size", n) => options.vocab_size = Some(n.parse()?),
            ("min_count", n) => options.min_count = n.parse()?,
            ("max_token_length", n) => options.max_token_length = Some(n.parse()?),
            ("split", "none") => spaces = false,
            ("split", "spaces") => spaces = true,
            ("bytes", n) => text.truncate(n.parse()?),
            ("characters", n) => {
                let cut = std::str::from_utf8(&text)?.char_indices().nth(n.parse()?).map(|(offset, _)| offset);
                text.truncate(cut.unwrap_or(text.len()));
            }
            (name, value) => return Err(format!("no option {name} with the value {value}").into()),
        }
    }
    text.shrink_to_fit();
    let start = Instant::now();
    let mut counts = PieceCounts::new();
    if spaces {
        let mut word = 0;
        for space in memchr::memchr_iter(b' ', &text) {
            counts.add(&text[word..space], 1)?;
            word = space;
        }
        counts.add(&text[word..], 1)?;
    } else {
        counts.add(&text, 1)?;
    }
    drop(text);
    println!("counted {} distinct pieces in {:.2} s", counts.len(), start.elapsed().as_secs_f64());

    let (start, mut last, mut longest_gap) = (Instant::now(), Instant::now(), 0.0);
    let trained = train(&counts, &options, |_| {
        longest_gap = f64::max(longest_gap, last.elapsed().as_secs_f64());
        last = Instant::now();
        ControlFlow::Continue(())
    })?;
    let seconds = start.elapsed().as_secs_f64();
    let lowest = trained.merge_counts.last().copied().unwrap_or(0);
    // A fold of all merges: equal lists have equal sums, so runs are easy to compare.
    let sum = trained.merges.iter().fold(0u64, |sum, &(left, right)| {
        (sum.rotate_left(5) ^ u64::from(left) << 32 ^ u64::from(right)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    });
    println!(
        "trained in {seconds:.2} s: {} merges, the last of count {lowest}, exhausted: {}, checksum {sum:016x}",
        trained.merges.len(),
        trained.exhausted
    );
    println!("longest time between two calls of the callback: {:.0} ms", longest_gap * 1e3);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    for line in status.lines().filter(|line| line.starts_with("VmHWM")) {
        println!("peak memory: {}", line["VmHWM:".len()..].trim());
    }
    Ok(())
}
