//! Counting the pieces of documents, one or many, on one thread or many, always with the same result.

use super::PieceCounts;
use super::front::Front;
use crate::specials::{SpecialMatcher, Stretch};
use crate::split::Splitter;
use crate::{Error, Result};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The least text, in bytes, that is worth a table of its own on another thread; also how often `stop` is asked.
const RUN_BYTES: usize = 1 << 20;
/// The most text, in bytes, in one such table, unless a single document has more.
const MAX_RUN_BYTES: usize = 1 << 24;
/// The least text, in bytes, that is worth a front table.
const FRONT_BYTES: usize = 1 << 18;

/// Documents to piece counts: special tokens are cut out first, then the text between them is split.
#[derive(Clone, Debug)]
pub struct Counter {
    splitter: Splitter,
    specials: SpecialMatcher,
}

impl Counter {
    /// Counts the pieces that `splitter` makes of the text between the markers of `specials`.
    pub fn new(splitter: Splitter, specials: SpecialMatcher) -> Self {
        Counter { splitter, specials }
    }

    /// Adds the pieces of one document to `into`.
    ///
    /// Each special token ends a piece and is itself not counted; of markers that begin at the same place the longest is
    /// taken, and the text between two is split as a text of its own. After an error `into` holds a part of the pieces.
    pub fn count_document(&self, document: &[u8], into: &mut PieceCounts) -> Result<()> {
        self.count_run(&[document], 0..1, into, &|| false).map_err(|(_, error)| error)
    }

    /// Adds the pieces of all `documents` to `into`, on the threads of the current rayon pool.
    ///
    /// The result, order of first appearance included, is that of counting one document after the other. An error comes
    /// with the index of its document, the smallest one that has an error (for [`Error::CountOverflow`], of a document
    /// near it); `into` then holds a part of the pieces. When `stop` returns true, which is asked at every document and
    /// every megabyte, the count ends with [`Error::Interrupted`].
    pub fn count_batch(
        &self,
        documents: &[&[u8]],
        into: &mut PieceCounts,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> std::result::Result<(), (usize, Error)> {
        let threads = rayon::current_num_threads();
        let bytes: usize = documents.iter().map(|document| document.len()).sum();
        let run_bytes = if threads == 1 { usize::MAX } else { (bytes / (8 * threads)).clamp(RUN_BYTES, MAX_RUN_BYTES) };
        self.count_runs(documents, &runs(documents, run_bytes), 2 * threads, into, stop)
    }

    /// Counts runs of documents, each into a table of its own, and adds the tables to `into` in the order of the runs.
    /// While `wave` runs are counted, the tables of the ones before are added: two waves are in memory at most.
    fn count_runs(
        &self,
        documents: &[&[u8]],
        runs: &[Range<usize>],
        wave: usize,
        into: &mut PieceCounts,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> std::result::Result<(), (usize, Error)> {
        if let [_] = runs {
            return self.count_run(documents, 0..documents.len(), into, stop);
        }
        let mut counted = Vec::new();
        // The smallest run that has an error; the ones after it need not be counted.
        let failed = AtomicUsize::new(usize::MAX);
        let count_one = |(i, run): (usize, &Range<usize>)| {
            let mut counts = PieceCounts::new();
            if failed.load(Ordering::Relaxed) > i {
                self.count_run(documents, run.clone(), &mut counts, stop).inspect_err(|_| {
                    failed.fetch_min(i, Ordering::Relaxed);
                })?;
            }
            Ok((run.start, counts))
        };
        for (number, wave_runs) in runs.chunks(wave).enumerate() {
            let (added, next) = rayon::join(
                || add_all(std::mem::take(&mut counted), into),
                || {
                    wave_runs
                        .par_iter()
                        .enumerate()
                        .map(|(i, run)| count_one((number * wave + i, run)))
                        .collect::<Vec<_>>()
                },
            );
            added?;
            counted = next;
        }
        add_all(counted, into)
    }

    /// Counts the documents `run`, one after the other.
    fn count_run(
        &self,
        documents: &[&[u8]],
        run: Range<usize>,
        into: &mut PieceCounts,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> std::result::Result<(), (usize, Error)> {
        if documents[run.clone()].iter().map(|document| document.len()).sum::<usize>() < FRONT_BYTES {
            return self.for_each_piece(documents, run, stop, |piece| into.add(piece, 1));
        }
        let last = run.end.saturating_sub(1);
        let mut front = Front::new(into);
        let counted = self.for_each_piece(documents, run, stop, |piece| front.add(piece));
        let finished = front.finish();
        counted.and(finished.map_err(|error| (last, error)))
    }

    /// Calls `add` with the pieces of the documents `run`, until it or the split fails or `stop` returns true.
    fn for_each_piece(
        &self,
        documents: &[&[u8]],
        mut run: Range<usize>,
        stop: &(dyn Fn() -> bool + Sync),
        mut add: impl FnMut(&[u8]) -> Result<()>,
    ) -> std::result::Result<(), (usize, Error)> {
        let mut one = |document: &[u8]| {
            if stop() {
                return Err(Error::Interrupted);
            }
            let mut ask_at = RUN_BYTES;
            // A pattern of the user's own may look at all of the text for each piece.
            let always = self.splitter.may_be_slow();
            self.specials.for_each_stretch(document, |stretch| match stretch {
                Stretch::Text(text) => self.splitter.for_each_piece_within(document, text, stop, |piece| {
                    if always || piece.end > ask_at {
                        if stop() {
                            return Err(Error::Interrupted);
                        }
                        ask_at = piece.end + RUN_BYTES;
                    }
                    add(&document[piece])
                }),
                Stretch::Special(..) => Ok(()),
            })
        };
        run.try_for_each(|i| one(documents[i]).map_err(|error| (i, error)))
    }
}

/// The first document of a run and the counts of all of it, or the document that has an error.
type Counted = std::result::Result<(usize, PieceCounts), (usize, Error)>;

/// Adds the tables of runs to `into` in their order, up to the first error.
fn add_all(counted: Vec<Counted>, into: &mut PieceCounts) -> std::result::Result<(), (usize, Error)> {
    counted.into_iter().try_for_each(|run| {
        let (first, counts) = run?;
        into.merge(&counts).map_err(|error| (first, error))
    })
}

/// Cuts the list of documents into runs of `bytes` bytes or a little more; the last may be shorter.
fn runs(documents: &[&[u8]], bytes: usize) -> Vec<Range<usize>> {
    let (mut runs, mut start, mut size) = (Vec::new(), 0, 0_usize);
    for (i, document) in documents.iter().enumerate() {
        size = size.saturating_add(document.len());
        if size >= bytes || i + 1 == documents.len() {
            runs.push(start..i + 1);
            (start, size) = (i + 1, 0);
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn list(counts: &PieceCounts) -> Vec<(Vec<u8>, u64)> {
        counts.iter().map(|(piece, n)| (piece.to_vec(), n)).collect()
    }

    fn pool(threads: usize) -> rayon::ThreadPool {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
    }

    #[test]
    fn special_tokens_end_pieces_and_are_not_counted() {
        let counter = Counter::new(
            Splitter::new(crate::split::CL100K).unwrap(),
            SpecialMatcher::new(&["<|e|>", "<|e|>>", "\u{1F600}"]).unwrap(),
        );
        let mut counts = PieceCounts::new();
        counter.count_document("ab  <|e|>>  cd\u{1F600}cd <|e|".as_bytes(), &mut counts).unwrap();
        // White space before a marker is white space at the end of a text.
        let expected = [("ab", 1), ("  ", 1), (" ", 1), (" cd", 1), ("cd", 1), (" <|", 1), ("e", 1), ("|", 1)];
        assert_eq!(list(&counts), expected.map(|(piece, n)| (piece.as_bytes().to_vec(), n)));
    }

    #[test]
    fn the_place_of_an_error_is_that_of_the_document() {
        let pattern = "(?:a|b|ab)*(?>c|cd)e";
        let counter = Counter::new(Splitter::new(pattern).unwrap(), SpecialMatcher::new(&["|"]).unwrap());
        let document = format!("c\u{e9}|\u{e9}{}", "ab".repeat(60));
        let result = counter.count_document(document.as_bytes(), &mut PieceCounts::new());
        assert_eq!(result, Err(Error::Backtracking { pattern: pattern.into(), offset: 6 }));
    }

    #[test]
    fn a_batch_names_the_first_document_with_an_error() {
        let counter = Counter::new(Splitter::new("(?:a|b|ab)*(?>c|cd)e").unwrap(), SpecialMatcher::none());
        let bad = "ab".repeat(60);
        let mut documents = vec![&b"abc"[..]; 40];
        (documents[11], documents[30]) = (bad.as_bytes(), bad.as_bytes());
        pool(4).install(|| {
            let runs = runs(&documents, 6);
            for wave in [1, 3, 100] {
                let result = counter.count_runs(&documents, &runs, wave, &mut PieceCounts::new(), &|| false);
                assert!(matches!(result, Err((11, Error::Backtracking { .. }))), "{result:?}");
            }
        });
    }

    #[test]
    fn a_batch_ends_when_it_is_asked_to() {
        let counter = Counter::new(Splitter::none(), SpecialMatcher::none());
        let asked = AtomicUsize::new(0);
        let stop = || asked.fetch_add(1, Ordering::Relaxed) == 5;
        let result = pool(1).install(|| counter.count_batch(&[&b"a"[..]; 9], &mut PieceCounts::new(), &stop));
        assert_eq!(result, Err((5, Error::Interrupted)));
        // Within a document too.
        let long = b"a ".repeat(3 * RUN_BYTES);
        let counter = Counter::new(Splitter::new(crate::split::GPT2).unwrap(), SpecialMatcher::none());
        asked.store(0, Ordering::Relaxed);
        assert_eq!(counter.count_batch(&[&long], &mut PieceCounts::new(), &stop), Err((0, Error::Interrupted)));
    }

    #[test]
    fn a_batch_large_enough_for_threads_is_counted_as_on_one() {
        let counter = Counter::new(Splitter::new(crate::split::O200K).unwrap(), SpecialMatcher::none());
        let text: Vec<String> = (0..200_000_u64).map(|i| format!("{:x} ", i.wrapping_mul(0x9E37_79B9) >> 7)).collect();
        let documents: Vec<String> = text.chunks(1000).map(|words| words.concat().repeat(5)).collect();
        let documents: Vec<&[u8]> = documents.iter().map(|document| document.as_bytes()).collect();
        let count = |threads| {
            let mut counts = PieceCounts::new();
            pool(threads).install(|| counter.count_batch(&documents, &mut counts, &|| false)).unwrap();
            list(&counts)
        };
        let one = count(1);
        assert!(one.len() > 1000);
        assert_eq!(count(4), one);
    }

    proptest! {
        #[test]
        fn a_batch_is_its_documents_one_after_the_other(
            documents in proptest::collection::vec("[ab .]{0,12}(<s>)?[ab .]{0,12}", 0..40),
            (threads, run_bytes, wave) in (1_usize..5, 0_usize..60, 1_usize..6),
        ) {
            let counter = Counter::new(Splitter::new(crate::split::GPT2).unwrap(), SpecialMatcher::new(&["<s>"]).unwrap());
            let documents: Vec<&[u8]> = documents.iter().map(|document| document.as_bytes()).collect();
            let mut before = PieceCounts::new();
            before.add(b"b", 7).unwrap();
            let (mut one_by_one, mut batch) = (before.clone(), before);
            for document in &documents {
                counter.count_document(document, &mut one_by_one).unwrap();
            }
            let runs = runs(&documents, run_bytes);
            pool(threads)
                .install(|| counter.count_runs(&documents, &runs, wave, &mut batch, &|| false))
                .unwrap();
            prop_assert_eq!(list(&batch), list(&one_by_one));
        }
    }
}
