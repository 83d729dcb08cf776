//! Counting the pieces of documents, one or many, on one thread or many, always with the same result.

use super::parts::Part;
use super::tally::Tally;
use super::{PieceCounts, RunningCounts};
use crate::specials::{SpecialMatcher, Stretch};
use crate::split::{Splitter, for_each_stretch};
use crate::{Error, Result};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of a text between two questions whether to stop.
const BETWEEN_STOPS: usize = 1 << 20;

/// Ends of pieces that are counted together, of a pattern that has no scanner.
const AT_ONCE: usize = 256;

/// Documents to piece counts: special tokens are cut out first, then the text between them is split.
#[derive(Clone, Debug)]
pub struct Counter {
    splitter: Splitter,
    specials: SpecialMatcher,
    specials_are_text: bool,
}

/// What takes the pieces of one thread.
pub(super) trait Sink {
    /// Counts the pieces of `text` that begin at byte `start` and have these ends; `position` is that of the text's first
    /// byte.
    fn count(&mut self, text: &[u8], start: usize, ends: &[usize], position: u64) -> Result<()>;
}

impl Sink for Tally {
    #[inline]
    fn count(&mut self, text: &[u8], start: usize, ends: &[usize], position: u64) -> Result<()> {
        Tally::count(self, text, start, ends, position)
    }
}

impl Counter {
    /// Counts the pieces that `splitter` makes of the text between the markers of `specials`.
    pub fn new(splitter: Splitter, specials: SpecialMatcher) -> Self {
        let specials_are_text = specials.is_text();
        Counter { splitter, specials, specials_are_text }
    }

    /// Adds the pieces of one document to `into`.
    ///
    /// Each special token ends a piece and is itself not counted; of markers that begin at the same place the longest is
    /// taken, and the text between two is split as a text of its own. After an error `into` is as it was.
    pub fn count_document(&self, document: &[u8], into: &mut PieceCounts) -> Result<()> {
        self.count_batch(&[document], 1, into, &|| false).map_err(|(_, error)| error)
    }

    /// Adds the pieces of all `documents` to `into`, on up to `threads` threads, this one among them.
    ///
    /// The result, order of first appearance included, is that of counting one document after the other. Errors are those of
    /// [`RunningCounts::count_batch`]; after one `into` is as it was, but for [`Error::CountOverflow`].
    pub fn count_batch(
        &self,
        documents: &[&[u8]],
        threads: usize,
        into: &mut PieceCounts,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> std::result::Result<(), (usize, Error)> {
        let mut running = RunningCounts::new(None);
        running.count_batch(self, documents, threads, stop)?;
        let last = documents.len().saturating_sub(1);
        let counts = running.into_counts(stop).map_err(|error| (last, error))?;
        if into.is_empty() {
            *into = counts;
            return Ok(());
        }
        into.merge(&counts).map_err(|error| (last, error))
    }

    /// Bytes of text that are sure to be split in a tenth of a second or so, whatever they hold.
    pub fn quick_bytes(&self) -> usize {
        self.splitter.quick_bytes()
    }

    /// Whether [`Self::last_cut`] may find anything.
    pub(super) fn has_cuts(&self) -> bool {
        self.specials_are_text && self.splitter.has_cuts()
    }

    /// The last place of `text` from byte `from` up to byte `to`, both included, where it may be cut in two whose pieces are those
    /// of the whole, whatever stands before and behind; `None` where there is none, or none is known.
    ///
    /// There a piece begins, and no marker goes across: none that begins before it and is not there as a whole.
    pub(super) fn last_cut(&self, text: &[u8], from: usize, mut to: usize) -> Option<usize> {
        while from <= to {
            let cut = self.splitter.last_cut(text, from, to, |_, _| true)?;
            if self.specials.may_begin(&text[..cut], 0) == cut {
                return Some(cut);
            }
            to = cut - 1;
        }
        None
    }

    /// Counts parts of documents into one of `sinks` each, on as many threads. An error comes with the index of its document,
    /// the smallest one that has an error. `stop` is asked at every part and every megabyte.
    pub(super) fn count_parts<S: Sink + Send>(
        &self,
        documents: &[&[u8]],
        (parts, position): (&[Part], u64),
        sinks: &mut [S],
        stop: &(dyn Fn() -> bool + Sync),
    ) -> std::result::Result<(), (usize, Error)> {
        let next = AtomicUsize::new(0);
        // The smallest part that has an error; those before it are counted, for the smallest error may be in one of them.
        let failed = AtomicUsize::new(usize::MAX);
        let work = |sink: &mut S| {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(part) = parts.get(number).filter(|_| number < failed.load(Ordering::Relaxed)) else {
                    return Ok(());
                };
                if let Err(error) = self.count_part(documents, part, position, sink, stop) {
                    failed.fetch_min(number, Ordering::Relaxed);
                    return Err(error);
                }
            }
        };
        on_threads(sinks, work)
            .into_iter()
            .filter_map(std::result::Result::err)
            .min_by_key(|(index, _)| *index)
            .map_or(Ok(()), Err)
    }

    fn count_part<S: Sink>(
        &self,
        documents: &[&[u8]],
        part: &Part,
        position: u64,
        sink: &mut S,
        stop: &dyn Fn() -> bool,
    ) -> std::result::Result<(), (usize, Error)> {
        let mut position = position + part.position;
        for i in part.documents.clone() {
            let whole = 0..documents[i].len();
            let bytes = part.bytes.clone().unwrap_or(whole);
            let text = &documents[i][bytes.clone()];
            // Only patterns without cuts have errors with a place in the text, and of these a part is the whole document.
            self.count_text(text, position, sink, stop).map_err(|error| (i, error))?;
            position += text.len() as u64;
        }
        Ok(())
    }

    /// Counts the pieces of one text; `position` is that of its first byte.
    pub(super) fn count_text<S: Sink>(
        &self,
        text: &[u8],
        position: u64,
        sink: &mut S,
        stop: &dyn Fn() -> bool,
    ) -> Result<()> {
        if self.specials_are_text
            && let Ok(text) = simdutf8::basic::from_utf8(text)
        {
            return self.count_str(text, position, sink, stop);
        }
        let mut asked = Asked { stop, left: 0 };
        asked.look(1)?;
        self.specials.for_each_stretch(text, |stretch| match stretch {
            Stretch::Text(range) if self.splitter.has_ends() => {
                for_each_stretch(text[range.clone()].into(), |stretch| match stretch {
                    Ok((part, at)) => self.count_ends(part, position + (range.start + at) as u64, sink, &mut asked),
                    Err(bytes) => sink.count(text, range.start + bytes.start, &[range.start + bytes.end], position),
                })
            }
            Stretch::Text(range) => self.count_slowly(text, range, position, sink, &mut asked),
            Stretch::Special(..) => Ok(()),
        })
    }

    /// The same of a text that is UTF-8, as all markers are.
    pub(super) fn count_str<S: Sink>(
        &self,
        text: &str,
        position: u64,
        sink: &mut S,
        stop: &dyn Fn() -> bool,
    ) -> Result<()> {
        let mut asked = Asked { stop, left: 0 };
        asked.look(1)?;
        self.specials.for_each_stretch(text.as_bytes(), |stretch| match stretch {
            Stretch::Text(range) if self.splitter.has_ends() => {
                let position = position + range.start as u64;
                self.count_ends(&text[range], position, sink, &mut asked)
            }
            Stretch::Text(range) => self.count_slowly(text.as_bytes(), range, position, sink, &mut asked),
            Stretch::Special(..) => Ok(()),
        })
    }

    /// The same of a text without markers, by a scanner.
    fn count_ends<S: Sink>(&self, text: &str, position: u64, sink: &mut S, asked: &mut Asked<'_>) -> Result<()> {
        let text = text.as_bytes();
        let (mut start, mut ends) = (0, Vec::new());
        while start < text.len() {
            ends.clear();
            self.splitter.next_ends(text, start, &mut ends);
            sink.count(text, start, &ends, position)?;
            let end = ends[ends.len() - 1];
            asked.look(end - start)?;
            start = end;
        }
        Ok(())
    }

    /// The same of a stretch of a text, with a pattern that has no scanner.
    fn count_slowly<S: Sink>(
        &self,
        text: &[u8],
        range: Range<usize>,
        position: u64,
        sink: &mut S,
        asked: &mut Asked<'_>,
    ) -> Result<()> {
        // A pattern of the user's own may look at all of the text for each piece.
        let always = self.splitter.may_be_slow();
        let (mut start, mut ends) = (range.start, Vec::new());
        self.splitter.for_each_piece_within(text, range, asked.stop, |piece| {
            let last = ends.last().copied().unwrap_or(start);
            if ends.len() == AT_ONCE || piece.start != last {
                sink.count(text, start, &ends, position)?;
                ends.clear();
                start = piece.start;
            }
            ends.push(piece.end);
            asked.look(if always { usize::MAX } else { piece.len() })
        })?;
        sink.count(text, start, &ends, position)
    }
}

/// A question whether to stop, and the bytes until it is asked again.
struct Asked<'a> {
    stop: &'a dyn Fn() -> bool,
    left: usize,
}

impl Asked<'_> {
    /// To be called for so many bytes.
    fn look(&mut self, bytes: usize) -> Result<()> {
        if bytes >= self.left {
            self.left = BETWEEN_STOPS;
            return if (self.stop)() { Err(Error::Interrupted) } else { Ok(()) };
        }
        self.left -= bytes;
        Ok(())
    }
}

/// Calls `work` with each of `states`, of which there is at least one, on a thread for each, this one among them; where no
/// more threads are to be had, with fewer.
pub(super) fn on_threads<S: Send, T: Send>(states: &mut [S], work: impl Fn(&mut S) -> T + Sync) -> Vec<T> {
    let Some((first, others)) = states.split_first_mut() else { return Vec::new() };
    if others.is_empty() {
        return vec![work(first)];
    }
    let work = &work;
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for state in others {
            let thread = std::thread::Builder::new().name("digram".into());
            match thread.spawn_scoped(scope, move || work(state)) {
                Ok(thread) => threads.push(thread),
                Err(_) => break,
            }
        }
        let mut results = vec![work(first)];
        for thread in threads {
            results.push(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        results
    })
}
