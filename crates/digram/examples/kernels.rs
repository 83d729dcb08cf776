//! Runs one kernel of the engine over fixed, generated text: what `make instructions` counts the instructions of.
//!
//! `cargo run --release --example kernels -- KERNEL PASSES`, where PASSES is at most 3; without arguments it prints the
//! kernels, one a line: a name, and the bytes of one pass. All that is prepared is the same for any number of passes, so
//! the difference of two runs is what the passes took.

use digram::count::PieceCounts;
use digram::encode::{Encoder, Options};
use digram::split::{Splitter, named};
use digram::train::{TrainOptions, train};
use digram::vocabulary::{Base, Vocabulary};
use std::error::Error;
use std::hint::black_box;
use std::ops::ControlFlow;

type Outcome<T> = Result<T, Box<dyn Error>>;

const PASSES: usize = 3;
const KERNELS: [&str; 13] = [
    "split-gpt2-ascii",
    "split-cl100k-ascii",
    "split-o200k-ascii",
    "split-cl100k-scripts",
    "split-o200k-scripts",
    "split-own-pattern",
    "encode-known-ascii",
    "encode-known-scripts",
    "encode-new-words",
    "encode-long-piece",
    "encode-no-split",
    "count-known-ascii",
    "decode",
];

/// Numbers that are the same in every run (xorshift64*).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % n
    }
}

/// A word of `syllables` syllables over an alphabet of characters.
fn word(numbers: &mut Numbers, alphabet: &[char], syllables: usize) -> String {
    (0..syllables * 2).map(|_| alphabet[numbers.below(alphabet.len())]).collect()
}

/// Words by rank: the first ones are the most frequent, as in a language.
fn words(seed: u64, alphabet: &[char], number: usize) -> Vec<String> {
    let mut numbers = Numbers(seed);
    (0..number)
        .map(|i| {
            let syllables = 1 + numbers.below(if i < 100 { 2 } else { 4 });
            word(&mut numbers, alphabet, syllables)
        })
        .collect()
}

/// Text of about `size` bytes: words with spaces, and numbers, punctuation and line ends among them.
fn text(seed: u64, words: &[String], size: usize) -> String {
    let mut numbers = Numbers(seed);
    let mut text = String::with_capacity(size + 64);
    while text.len() < size {
        // The lesser of two is nearer to the front.
        let at = numbers.below(words.len()).min(numbers.below(words.len())).min(numbers.below(words.len()));
        text += &words[at];
        match numbers.below(24) {
            0 => text += ", ",
            1 => text += ".\n",
            2 => text += &format!(" {} ", numbers.below(10_000)),
            3 => text += "'s ",
            4 => text += " (",
            5 => text += "\n\n\t",
            _ => text.push(' '),
        }
    }
    text
}

fn latin() -> Vec<char> {
    "etaoinshrdlucmfwypvbgkETAOIN".chars().collect()
}

/// Letters of two, three and four bytes, with the spaces of `text` between them.
fn scripts() -> Vec<char> {
    "еаинтослвркмдпуяыьгзбчйхжшюцщэфअआइकखगघचछजटडतदनपबमयरलवसहािीुూ的一是不了人我在有他这中大来上国个到说们도는이가을에한다로기고👍🌍".chars().collect()
}

/// A vocabulary of bytes learnt from `sample`.
fn vocabulary(sample: &str, split: &Splitter, size: usize) -> Outcome<Vocabulary> {
    let mut counts = PieceCounts::new();
    let mut bad = None;
    split.for_each_piece(sample.as_bytes(), |piece| {
        if let Err(error) = counts.add(&sample.as_bytes()[piece], 1) {
            bad = Some(error);
        }
        Ok(())
    })?;
    if let Some(error) = bad {
        return Err(error.into());
    }
    let options = TrainOptions { vocab_size: Some(size as u64), ..TrainOptions::default() };
    let trained = train(&counts, &options, |_| ControlFlow::Continue(()))?;
    let merges = (256..).zip(&trained.merges).map(|(id, &(left, right))| (left, right, id)).collect();
    Ok(Vocabulary::from_merges(&Base::bytes(), merges, &[], None)?)
}

fn splitter(pattern: &str) -> Outcome<Splitter> {
    Ok(Splitter::new(named(pattern).unwrap_or(pattern))?)
}

/// Splits each text.
fn split(pattern: &str, texts: &[String], passes: usize) -> Outcome<()> {
    let splitter = splitter(pattern)?;
    for text in &texts[..passes] {
        let mut ends = 0;
        splitter.for_each_piece(text.as_bytes(), |piece| {
            ends ^= piece.end;
            Ok(())
        })?;
        black_box(ends);
    }
    Ok(())
}

/// What an encoder is asked for.
#[derive(Clone, Copy, PartialEq)]
enum Call {
    Encode,
    Count,
    Decode,
}

/// Encodes `before` (what is to be known already), then `passes` of the texts.
fn encode(encoder: &Encoder, before: &[String], texts: &[String], passes: usize, call: Call) -> Outcome<()> {
    let go = |text: &str, out: &mut Vec<u32>| {
        out.clear();
        encoder.encode(text.as_bytes(), Options::default(), out, &|| false)
    };
    let mut ids = Vec::with_capacity(1 << 20);
    for text in before {
        go(text, &mut ids)?;
        black_box(encoder.count(text.as_bytes(), Options::default(), &|| false)?);
    }
    let mut bytes = Vec::with_capacity(1 << 20);
    if call == Call::Decode {
        go(&texts[0], &mut ids)?;
    }
    for text in &texts[..passes] {
        match call {
            Call::Encode => go(text, &mut ids)?,
            Call::Count => _ = black_box(encoder.count(text.as_bytes(), Options::default(), &|| false)?),
            Call::Decode => {
                bytes.clear();
                encoder.decode(&ids, false, false, &mut bytes)?;
                black_box(&bytes);
            }
        }
        black_box(&ids);
    }
    Ok(())
}

/// The texts of each pass; those of one seed are the same text.
fn texts(words: &[String], size: usize, seeds: [u64; PASSES]) -> Vec<String> {
    seeds.iter().map(|&seed| text(seed, words, size)).collect()
}

/// What one kernel works on: the text of each pass.
fn input(kernel: &str) -> Vec<String> {
    let latin_words = words(1, &latin(), 4000);
    let same = [7; PASSES];
    match kernel {
        "encode-known-scripts" => texts(&words(2, &scripts(), 4000), 100_000, same),
        name if name.contains("scripts") => texts(&words(2, &scripts(), 4000), 300_000, [7, 8, 9]),
        "encode-new-words" => {
            let new = [11, 12, 13].map(|seed| words(seed, &latin(), 12_000));
            new.iter().map(|words| words.join(" ")).collect()
        }
        "encode-long-piece" => {
            let mut numbers = Numbers(5);
            let latin = latin();
            (0..PASSES).map(|_| word(&mut numbers, &latin, 25_000)).collect()
        }
        "encode-known-ascii" | "count-known-ascii" | "decode" => texts(&latin_words, 100_000, same),
        "encode-no-split" => texts(&latin_words, 100_000, [7, 8, 9]),
        _ => texts(&latin_words, 300_000, [7, 8, 9]),
    }
}

fn run(kernel: &str, passes: usize) -> Outcome<()> {
    let texts = input(kernel);
    if kernel.starts_with("split-") {
        let pattern = match kernel.split('-').nth(1) {
            Some("own") => r"\p{L}+(?=\s)|\p{N}{1,2}|\s+(?!\S)|[^\s]|\s+",
            Some(name) => name,
            None => return Err(format!("no kernel {kernel}").into()),
        };
        return split(pattern, &texts, passes);
    }
    let alphabet = if kernel.contains("scripts") { scripts() } else { latin() };
    let sample = text(3, &words(if kernel.contains("scripts") { 2 } else { 1 }, &alphabet, 4000), 150_000);
    let cl100k = splitter("cl100k")?;
    let vocabulary = vocabulary(&sample, &cl100k, 3000)?;
    let applied = if kernel == "encode-no-split" { Splitter::none() } else { cl100k };
    let encoder = Encoder::new(vocabulary, applied, &[])?;
    let call = match kernel {
        "count-known-ascii" => Call::Count,
        "decode" => Call::Decode,
        _ => Call::Encode,
    };
    let known = kernel.contains("known").then(|| texts[0].clone());
    // Tables that are built at the first call are no part of a pass.
    let before: Vec<String> = known.into_iter().chain([text(4, &words(6, &latin(), 50), 5000)]).collect();
    encode(&encoder, &before, &texts, passes, call)
}

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.is_empty() {
        for kernel in KERNELS {
            println!("{kernel} {}", input(kernel)[0].len());
        }
        return Ok(());
    }
    let [kernel, passes] = arguments.as_slice() else { return Err("usage: kernels KERNEL PASSES".into()) };
    let passes: usize = passes.parse()?;
    if passes > PASSES || !KERNELS.contains(&kernel.as_str()) {
        return Err(format!("no kernel {kernel}, or more than {PASSES} passes: {}", KERNELS.join(", ")).into());
    }
    run(kernel, passes)
}
