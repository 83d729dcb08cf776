//! How fast a file is encoded, one thread: `cargo run --release --example encode -- FILE TOKENS.tiktoken PATTERN [rounds]`.
//!
//! PATTERN is a name or any regex. Prints for each round the speed of encoding ten megabytes that no round had before
//! ("fresh"), the same again ("warm"), and of counting and decoding them, and the median; by the time of the processor, so
//! that what else a machine does tells less.

use cpu_time::ThreadTime;
use digram::encode::{Encoder, Options};
use digram::split::{Splitter, named};
use digram::vocabulary::Vocabulary;
use std::error::Error;

const SIZE: usize = 10_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let usage = "usage: encode FILE TOKENS.tiktoken PATTERN [rounds]";
    let mut argument = || arguments.next().ok_or(usage);
    let (path, tokens, pattern) = (argument()?, argument()?, argument()?);
    let rounds: usize = argument().map_or(Ok(5), |n| n.parse())?;

    let data = std::fs::read(path)?;
    let file = std::fs::read_to_string(tokens)?;
    let mut ranked: Vec<(Vec<u8>, u32)> = Vec::new();
    for line in file.lines() {
        let (token, rank) = line.split_once(' ').ok_or("not a .tiktoken file")?;
        ranked.push((base64(token), rank.parse()?));
    }
    let ranked: Vec<(&[u8], u32)> = ranked.iter().map(|(token, rank)| (token.as_slice(), *rank)).collect();
    let vocabulary = Vocabulary::from_ranks(&ranked, &[], None)?;
    let splitter = Splitter::new(named(&pattern).unwrap_or(&pattern))?;
    let encoder = Encoder::new(vocabulary, splitter, &[])?;

    let mut speeds = vec![Vec::new(); 4];
    for round in 0..rounds {
        // Stretches from all over the file, as ../shared/bench has them.
        let (stretch, step) = ((SIZE / 20).min(data.len() / 20 / rounds), data.len() / 20);
        let text: Vec<u8> =
            (0..20).flat_map(|i| data[i * step + round * stretch..][..stretch].iter().copied()).collect();
        let text = String::from_utf8_lossy(&text).into_owned();
        let speed = |start: ThreadTime| text.len() as f64 / 1e6 / start.elapsed().as_secs_f64();
        let mut ids = Vec::new();
        for speeds in &mut speeds[..2] {
            ids = Vec::new();
            let start = ThreadTime::now();
            encoder.encode(text.as_bytes(), Options::default(), &mut ids, &|| false)?;
            speeds.push(speed(start));
        }
        let start = ThreadTime::now();
        let count = encoder.count(text.as_bytes(), Options::default(), &|| false)?;
        speeds[2].push(speed(start));
        assert_eq!(count, ids.len() as u64);
        let mut bytes = Vec::new();
        let start = ThreadTime::now();
        encoder.decode(&ids, false, false, &mut bytes)?;
        speeds[3].push(speed(start));
        assert!(bytes == text.as_bytes(), "what is decoded is not what was encoded");
    }
    for (name, speeds) in ["fresh", "warm", "count", "decode"].into_iter().zip(&mut speeds) {
        let shown: Vec<String> = speeds.iter().map(|speed| format!("{speed:.0}")).collect();
        speeds.sort_by(f64::total_cmp);
        println!("{name:6} {:5.0} MB/s  ({})", speeds[speeds.len() / 2], shown.join(" "));
    }
    Ok(())
}

/// Base64 with padding, as `.tiktoken` files have it.
fn base64(text: &str) -> Vec<u8> {
    let digit = |b: u8| match b {
        b'A'..=b'Z' => b - b'A',
        b'a'..=b'z' => b - b'a' + 26,
        b'0'..=b'9' => b - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u32> = text.bytes().filter(|&b| b != b'=').map(|b| digit(b).into()).collect();
    let mut bytes = Vec::new();
    for four in digits.chunks(4) {
        let word = four.iter().fold(0, |word, digit| word << 6 | digit) << (6 * (4 - four.len()));
        bytes.extend((0..four.len() - 1).map(|i| (word >> (16 - 8 * i)) as u8));
    }
    bytes
}
