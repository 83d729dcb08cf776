//! Many documents at once, on the threads of the current rayon pool.

use super::{Encoder, Options};
use crate::{Error, Result};
use rayon::prelude::*;

/// Documents are handed out in runs of about this many bytes, large enough that a run costs more than handing it out.
pub const RUN: usize = 1 << 16;

/// The work that a document counts as, in bytes: its text and something for the call.
pub fn work_of(document: &[u8]) -> usize {
    document.len() + 16
}

/// The ids of many documents, end to end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// All ids.
    pub ids: Vec<u32>,
    /// Where the ids of each document end in `ids`.
    pub ends: Vec<usize>,
}

/// Cuts `documents` into runs of neighbours that hold about `RUN` bytes each.
fn runs<'a>(documents: &'a [&'a [u8]]) -> Vec<&'a [&'a [u8]]> {
    let mut runs = Vec::new();
    let (mut from, mut bytes) = (0, 0);
    for (i, document) in documents.iter().enumerate() {
        bytes += work_of(document);
        if bytes >= RUN {
            runs.push(&documents[from..=i]);
            (from, bytes) = (i + 1, 0);
        }
    }
    if from < documents.len() || runs.is_empty() {
        runs.push(&documents[from..]);
    }
    runs
}

impl Encoder {
    /// The ids of each document, as [`Self::encode`] gives them.
    ///
    /// # Errors
    /// As [`Self::encode`], inside `InDocument` with the index of the first document that has one.
    pub fn encode_batch(
        &self,
        documents: &[&[u8]],
        options: Options,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Batch> {
        let parts = self.for_each_run(documents, stop, |run| {
            let mut part = Batch::default();
            for document in run {
                self.encode(document, options, &mut part.ids, stop).map_err(|error| (part.ends.len(), error))?;
                part.ends.push(part.ids.len());
            }
            Ok(part)
        })?;
        let mut all = Batch {
            ids: Vec::with_capacity(parts.iter().map(|part| part.ids.len()).sum()),
            ends: Vec::with_capacity(documents.len()),
        };
        for part in parts {
            let base = all.ids.len();
            all.ids.extend_from_slice(&part.ids);
            all.ends.extend(part.ends.iter().map(|end| base + end));
        }
        Ok(all)
    }

    /// The number of ids of each document.
    ///
    /// # Errors
    /// As [`Self::encode_batch`].
    pub fn count_batch(
        &self,
        documents: &[&[u8]],
        options: Options,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Vec<u64>> {
        let parts = self.for_each_run(documents, stop, |run| {
            let count = |(i, document): (usize, &&[u8])| self.count(document, options, stop).map_err(|e| (i, e));
            run.iter().enumerate().map(count).collect::<std::result::Result<Vec<_>, _>>()
        })?;
        Ok(parts.concat())
    }

    /// Works on runs of documents in parallel; results in order. An error comes with its place in the run, and of several
    /// the first in the order of the documents is returned, whichever thread was faster.
    fn for_each_run<'d, T: Send>(
        &self,
        documents: &'d [&'d [u8]],
        stop: &(dyn Fn() -> bool + Sync),
        work: impl Fn(&'d [&'d [u8]]) -> std::result::Result<T, (usize, Error)> + Sync,
    ) -> Result<Vec<T>> {
        let runs = runs(documents);
        // A document asks whether to stop when it is long; many short ones never would.
        let work = |run| if stop() { Err((0, Error::Interrupted)) } else { work(run) };
        // A single run is done here: a caller with little to do need not be inside a pool.
        let results: Vec<_> = match runs[..] {
            [run] => vec![work(run)],
            _ => runs.par_iter().map(|&run| work(run)).collect(),
        };
        let mut done = Vec::with_capacity(results.len());
        let mut before = 0;
        for (run, result) in runs.iter().zip(results) {
            match result {
                Ok(part) => done.push(part),
                Err((_, Error::Interrupted)) => return Err(Error::Interrupted),
                Err((i, source)) => {
                    return Err(Error::InDocument { index: before + i, source: Box::new(source) });
                }
            }
            before += run.len();
        }
        Ok(done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split::Splitter;
    use crate::vocabulary::{Base, Vocabulary};
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn many_short_documents_can_be_stopped() {
        let vocabulary = Vocabulary::from_merges(&Base::bytes(), Vec::new(), &[], None).unwrap();
        let encoder = Encoder::new(vocabulary, Splitter::none(), &[]).unwrap();
        let documents = vec![&b"ab"[..]; 4 * RUN];
        let asked = AtomicUsize::new(0);
        let stop = || asked.fetch_add(1, Ordering::Relaxed) >= 2;
        assert_eq!(encoder.encode_batch(&documents, Options::default(), &stop), Err(Error::Interrupted));
        asked.store(0, Ordering::Relaxed);
        assert_eq!(encoder.count_batch(&documents, Options::default(), &stop), Err(Error::Interrupted));
    }

    #[test]
    fn one_document_is_one_run() {
        let long = vec![b'a'; 3 * RUN];
        assert_eq!(runs(&[&long]).len(), 1);
        assert_eq!(runs(&[&long, b"b"]).len(), 2);
        assert_eq!(runs(&[]).len(), 1);
    }
}
