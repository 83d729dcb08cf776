//! Counting under a limit, and texts that are read: the same as in memory.

use super::super::documents::Counter;
use super::super::runs::{ByPiece, MOST_RUNS, Merge, Record, RunFile};
use super::super::*;
use super::{List, documents, list, naive_documents, never, splitter, word};
use crate::specials::SpecialMatcher;
use crate::split;
use proptest::prelude::*;
use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

fn limit(memory: usize) -> Option<Limit> {
    Some(Limit { memory, folder: std::env::temp_dir() })
}

/// All that was counted, wherever it is, read by so many pieces.
fn all(counts: &mut RunningCounts, at_a_time: usize) -> List {
    counts.settle(&never).unwrap();
    let counts = counts.counts();
    let (mut found, mut reader) = (List::new(), counts.read().unwrap());
    loop {
        let some = reader.next(at_a_time, usize::MAX).unwrap();
        if some.is_empty() {
            break;
        }
        found.extend(list(&some));
    }
    assert!(list(&counts.load(&never).unwrap()) == found);
    let bytes = found.iter().map(|(piece, _)| piece.len()).sum();
    assert_eq!(counts.size(), (found.len(), bytes));
    found
}

/// What may be done with counts, in any order.
#[derive(Clone, Debug)]
enum Step {
    Count(Vec<Vec<u8>>, usize),
    Add(Vec<u8>, u64),
    Merge(Vec<Vec<u8>>),
    Look,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (documents(), 1_usize..4).prop_map(|(documents, threads)| Step::Count(documents, threads)),
        2 => (prop::collection::vec(any::<u8>(), 0..20), 0_u64..4).prop_map(|(piece, n)| Step::Add(piece, n)),
        1 => documents().prop_map(Step::Merge),
        1 => Just(Step::Look),
    ]
}

fn run(steps: &[Step], memory: Option<Limit>) -> RunningCounts {
    let counter = Counter::new(splitter(split::CL100K), SpecialMatcher::new(&["<s>"]).unwrap());
    let count = |into: &mut RunningCounts, documents: &[Vec<u8>], threads| {
        let documents: Vec<&[u8]> = documents.iter().map(Vec::as_slice).collect();
        into.count_batch(&counter, &documents, threads, &never).unwrap();
    };
    let mut counts = RunningCounts::in_parts(memory.clone(), 30);
    for step in steps {
        match step {
            Step::Count(documents, threads) => count(&mut counts, documents, *threads),
            Step::Add(piece, n) => counts.add_cut(piece, *n).unwrap(),
            Step::Merge(documents) => {
                let mut other = RunningCounts::in_parts(memory.clone(), 30);
                count(&mut other, documents, 1);
                other.settle(&never).unwrap();
                counts.merge(&other.counts(), &never).unwrap();
            }
            Step::Look => counts.settle(&never).unwrap(),
        }
    }
    counts
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn a_limit_changes_nothing(
        steps in prop::collection::vec(step(), 1..6),
        memory in prop_oneof![Just(1_usize), Just(3_000), 50_000_usize..300_000],
        at_a_time in 1_usize..50,
    ) {
        let expected = all(&mut run(&steps, None), usize::MAX);
        prop_assert_eq!(all(&mut run(&steps, limit(memory)), at_a_time), expected);
    }

    #[test]
    fn a_text_that_is_read_is_counted_as_a_whole(
        documents in documents(),
        pattern in prop::sample::select(&super::PATTERNS[..]),
        (threads, size, at_once) in (1_usize..4, 1_usize..60, 1_usize..9),
    ) {
        let text = String::from_utf8_lossy(&documents.concat()).into_owned();
        let (splitter, specials) = (splitter(pattern), SpecialMatcher::new(&["<s>", "s>a"]).unwrap());
        let expected = naive_documents(&splitter, &specials, &[text.as_bytes()]);
        let counter = Counter::new(splitter, specials);
        let (mut running, done) = (RunningCounts::in_parts(None, size), AtomicU64::new(0));
        let slow = Slow { text: text.as_bytes(), at_once };
        running.count_reader(&counter, slow, threads, &done, &never).unwrap();
        prop_assert_eq!(done.into_inner(), text.len() as u64);
        prop_assert_eq!(list(&running.into_counts(&never).unwrap()), expected);
    }

    #[test]
    fn the_first_byte_that_is_no_text_is_told(documents in documents(), threads in 1_usize..4, size in 1_usize..60) {
        let text = documents.concat();
        let counter = Counter::new(splitter(split::GPT2), SpecialMatcher::none());
        let mut running = RunningCounts::in_parts(None, size);
        let result = running.count_reader(&counter, &text[..], threads, &AtomicU64::new(0), &never);
        match (std::str::from_utf8(&text), result) {
            (Ok(_), result) => prop_assert!(result.is_ok()),
            (Err(error), Err(ReadError::NotText { offset, byte })) => {
                prop_assert_eq!((offset, byte), (error.valid_up_to() as u64, text[error.valid_up_to()]));
            }
            (Err(_), other) => prop_assert!(false, "{:?}", other),
        }
    }
}

/// Gives a few bytes at a time.
struct Slow<'a> {
    text: &'a [u8],
    at_once: usize,
}

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.at_once.min(buffer.len());
        self.text.read(&mut buffer[..bytes])
    }
}

/// Fails after its text.
struct Broken<'a>(&'a [u8]);

impl Read for Broken<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 => Err(io::Error::other("the disk is gone")),
            bytes => Ok(bytes),
        }
    }
}

#[test]
fn a_text_that_cannot_be_read_to_its_end_says_so() {
    let counter = Counter::new(splitter(split::GPT2), SpecialMatcher::none());
    let text = "a b ".repeat(1000);
    for threads in [1, 3] {
        let mut running = RunningCounts::in_parts(None, 100);
        let result = running.count_reader(&counter, Broken(text.as_bytes()), threads, &AtomicU64::new(0), &never);
        assert!(matches!(result, Err(ReadError::Io(error)) if error.to_string() == "the disk is gone"));
    }
}

#[test]
fn a_large_text_goes_through_little_memory() {
    let numbers = (0..300_000_u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 44);
    let text: String = numbers.map(word).collect();
    let counter = Counter::new(splitter(split::GPT2), SpecialMatcher::none());
    let expected = naive_documents(&splitter(split::GPT2), &SpecialMatcher::none(), &[text.as_bytes()]);
    for (threads, memory) in [(1, 200_000), (2, 200_000), (2, 3_000_000)] {
        let mut running = RunningCounts::new(limit(memory));
        running.count_batch(&counter, &[text.as_bytes()], threads, &never).unwrap();
        running.settle(&never).unwrap();
        assert!(matches!(running.counts(), Counts::Disk(_)));
        assert!(all(&mut running, 1000) == expected);
    }
}

#[test]
fn putting_together_on_disk_can_be_stopped_and_done_again() {
    let text: String = (0..200_000_u64).map(word).collect();
    let counter = Counter::new(splitter(split::GPT2), SpecialMatcher::none());
    let mut running = RunningCounts::new(limit(100_000));
    running.count_batch(&counter, &[text.as_bytes()], 2, &never).unwrap();
    for after in 0..4 {
        let asked = AtomicUsize::new(0);
        let stop = || asked.fetch_add(1, Ordering::Relaxed) >= after;
        assert_eq!(running.settle(&stop), Err(Error::Interrupted));
    }
    assert!(
        all(&mut running, 1000) == naive_documents(&splitter(split::GPT2), &SpecialMatcher::none(), &[text.as_bytes()])
    );
}

#[test]
fn a_folder_that_takes_no_file_is_named() {
    let folder = std::env::temp_dir().join("digram-no-such-folder");
    let mut running = RunningCounts::new(Some(Limit { memory: 1, folder: folder.clone() }));
    running.add(b"one", 1).unwrap();
    let error = running.add(b"two", 1).unwrap_err();
    assert!(matches!(&error, Error::Temporary { folder: named, code: Some(2), .. } if *named == folder), "{error:?}");
    let told = error.to_string();
    assert!(told.contains("digram-no-such-folder") && !told.contains("os error"), "{told}");
}

#[test]
fn sums_of_runs_past_64_bits_are_an_error() {
    let mut running = RunningCounts::new(limit(1));
    running.add(b"a", u64::MAX).unwrap();
    running.add(b"b", 1).unwrap();
    running.add(b"a", 1).unwrap();
    assert_eq!(running.settle(&never), Err(Error::CountOverflow));
}

#[test]
fn more_runs_than_are_merged_at_a_time() {
    let mut running = RunningCounts::new(limit(1));
    let pieces = 3 * MOST_RUNS;
    for i in 0..2 * pieces {
        running.add((i % pieces).to_string().as_bytes(), 2).unwrap();
    }
    let expected: List = (0..pieces).map(|i| (i.to_string().into_bytes(), 4)).collect();
    assert_eq!(all(&mut running, 7), expected);
}

#[test]
fn records_of_every_size_are_read_as_they_were_written() {
    let pieces: Vec<Vec<u8>> = [1, 2, 127, 128, 300, 70_000].map(|length| vec![b'a'; length]).to_vec();
    let numbers = [0, 1, 127, 128, 1 << 32, u64::MAX];
    let mut file = RunFile::new(&std::env::temp_dir()).unwrap();
    let failed = file.write(|push| {
        push(Record { piece: b"never", count: 1, position: 1 })?;
        Err(Error::Interrupted)
    });
    assert_eq!(failed, Err(Error::Interrupted));
    file.write(|push| {
        let records = pieces.iter().zip(numbers);
        records.into_iter().try_for_each(|(piece, n)| push(Record { piece, count: n, position: n / 2 }))
    })
    .unwrap();
    for buffer in [1, 100, 1 << 20] {
        let mut found = Vec::new();
        Merge::<ByPiece>::new(file.readers(0..1, buffer).unwrap())
            .for_each(&never, &mut |record| {
                found.push((record.piece.to_vec(), record.count, record.position));
                Ok(())
            })
            .unwrap();
        let expected: Vec<_> = pieces.iter().zip(numbers).map(|(piece, n)| (piece.clone(), n, n / 2)).collect();
        assert!(found == expected, "buffer {buffer}");
    }
}
