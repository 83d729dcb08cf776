//! Many documents at once.

use super::runs::all_in_order;
use super::{Encoder, Options};
use crate::text::Text;
use crate::{Error, Result};
use std::ops::Range;

/// Documents are handed out in runs of about this many bytes, large enough that a run costs more than handing it out.
pub const RUN: usize = 1 << 16;

/// The work that a document counts as, in bytes: its text and something for the call.
fn work_of(document: &Text) -> usize {
    document.size() + 16
}

/// The work that documents are, in bytes.
pub fn work_of_all(documents: &[Text]) -> usize {
    documents.iter().map(work_of).sum()
}

/// The ids of some documents, end to end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// All ids.
    pub ids: Vec<u32>,
    /// Where the ids of each document end in `ids`.
    pub ends: Vec<usize>,
}

/// Cuts `documents` into runs of neighbours that hold about `RUN` bytes each.
fn runs(documents: &[Text]) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let (mut from, mut bytes) = (0, 0);
    for (i, document) in documents.iter().enumerate() {
        bytes += work_of(document);
        if bytes >= RUN {
            runs.push(from..i + 1);
            (from, bytes) = (i + 1, 0);
        }
    }
    if from < documents.len() {
        runs.push(from..documents.len());
    }
    runs
}

impl Encoder {
    /// The ids of each document, as [`Self::encode`] gives them: run of neighbours by run, in order, as soon as they are there.
    ///
    /// `threads` threads work, this one among them; here `stop` is asked, and `take` called.
    ///
    /// # Errors
    /// As [`Self::encode`], inside `InDocument` with the index of the first document that has one; what `take` returns.
    pub fn encode_batch(
        &self,
        documents: &[Text],
        options: Options,
        threads: usize,
        stop: &dyn Fn() -> bool,
        take: &mut dyn FnMut(Batch) -> Result<()>,
    ) -> Result<()> {
        let work = |run: Range<usize>, stop: &dyn Fn() -> bool| {
            let (mut part, mut room) = (Batch::default(), Vec::new());
            for document in &documents[run] {
                let document = document.utf8(&mut room);
                self.encode(document, options, &mut part.ids, stop).map_err(|error| (part.ends.len(), error))?;
                part.ends.push(part.ids.len());
            }
            Ok(part)
        };
        self.for_each_run(documents, threads, stop, work, take)
    }

    /// The number of ids of each document; see [`Self::encode_batch`].
    ///
    /// # Errors
    /// As [`Self::encode_batch`].
    pub fn count_batch(
        &self,
        documents: &[Text],
        options: Options,
        threads: usize,
        stop: &dyn Fn() -> bool,
    ) -> Result<Vec<u64>> {
        let work = |run: Range<usize>, stop: &dyn Fn() -> bool| {
            let mut room = Vec::new();
            let mut count = |(i, document): (usize, &Text)| {
                self.count(document.utf8(&mut room), options, stop).map_err(|error| (i, error))
            };
            documents[run].iter().enumerate().map(&mut count).collect::<std::result::Result<Vec<_>, _>>()
        };
        let mut counts = Vec::with_capacity(documents.len());
        self.for_each_run(documents, threads, stop, work, &mut |part: Vec<u64>| {
            counts.extend(part);
            Ok(())
        })?;
        Ok(counts)
    }

    /// Works on runs of documents in parallel; results in order. An error comes with its place in the run, and of several
    /// the first in the order of the documents is returned, whichever thread was faster.
    pub(super) fn for_each_run<T: Send>(
        &self,
        documents: &[Text],
        threads: usize,
        stop: &dyn Fn() -> bool,
        work: impl Fn(Range<usize>, &dyn Fn() -> bool) -> std::result::Result<T, (usize, Error)> + Sync,
        take: &mut dyn FnMut(T) -> Result<()>,
    ) -> Result<()> {
        let runs = runs(documents);
        let work = |run: usize, stop: &dyn Fn() -> bool| {
            work(runs[run].clone(), stop).map_err(|(i, source)| match source {
                Error::Interrupted => Error::Interrupted,
                source => Error::InDocument { index: runs[run].start + i, source: Box::new(source) },
            })
        };
        all_in_order(runs.len(), threads, stop, work, take)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split::Splitter;
    use crate::vocabulary::{Base, Vocabulary};
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn bytes() -> Encoder {
        let vocabulary = Vocabulary::from_merges(&Base::bytes(), Vec::new(), &[], None).unwrap();
        Encoder::new(vocabulary, Splitter::none(), &[]).unwrap()
    }

    #[test]
    fn many_short_documents_can_be_stopped() {
        let encoder = bytes();
        let documents = vec![Text::Bytes(b"ab"); 4 * RUN];
        for threads in [1, 2] {
            let asked = AtomicUsize::new(0);
            let stop = || asked.fetch_add(1, Ordering::Relaxed) >= 2;
            let result = encoder.encode_batch(&documents, Options::default(), threads, &stop, &mut |_| Ok(()));
            assert_eq!(result, Err(Error::Interrupted));
            asked.store(0, Ordering::Relaxed);
            assert_eq!(encoder.count_batch(&documents, Options::default(), threads, &stop), Err(Error::Interrupted));
        }
    }

    #[test]
    fn parts_join_to_the_whole_in_order() {
        let encoder = bytes();
        let texts: Vec<String> = (0..2000).map(|i| "x".repeat(i % 300) + &i.to_string()).collect();
        let documents: Vec<Text> = texts.iter().map(|text| Text::Utf8(text)).collect();
        for threads in [1, 2, 5] {
            let mut all = Vec::new();
            let take = &mut |part: Batch| {
                let mut start = 0;
                for end in part.ends {
                    all.push(part.ids[start..end].iter().map(|&id| id as u8 as char).collect::<String>());
                    start = end;
                }
                Ok(())
            };
            encoder.encode_batch(&documents, Options::default(), threads, &|| false, take).unwrap();
            assert_eq!(all, texts);
            let counts = encoder.count_batch(&documents, Options::default(), threads, &|| false).unwrap();
            assert_eq!(counts, texts.iter().map(|text| text.len() as u64).collect::<Vec<_>>());
        }
    }

    #[test]
    fn one_document_is_one_run() {
        let long = vec![b'a'; 3 * RUN];
        assert_eq!(runs(&[Text::Bytes(&long)]).len(), 1);
        assert_eq!(runs(&[Text::Bytes(&long), Text::Bytes(b"b")]).len(), 2);
        assert_eq!(runs(&[]).len(), 0);
    }
}
