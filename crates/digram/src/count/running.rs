//! Counts while they are being made: a table for each thread, which are put together when somebody looks.

use super::documents::{Counter, Sink};
use super::files::{self, ReadError};
use super::parts::{PART, parts};
use super::runs::{Record, RunFile};
use super::spilled::{self, Limit, Listing, ListingReader, Merged};
use super::tally::Tally;
use super::{BETWEEN_STOPS, PieceCounts};
use crate::split::Splitter;
use crate::{Error, Result};
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Counts that grow: documents are added on any number of threads, and the counts are read in between.
///
/// Each thread has a table of its own, from one call to the next, in which a piece has the place where it was first met: by
/// bytes in all that was counted. So the order of first appearance does not depend on threads. With a [`Limit`], a table that
/// is full goes to a temporary file, sorted; such runs are merged when somebody looks.
pub struct RunningCounts {
    limit: Option<Limit>,
    /// Bytes that a thread is given at a time, about.
    part: usize,
    /// What was put together.
    settled: Arc<PieceCounts>,
    workers: Vec<Worker>,
    /// The table that is being added to that of the first worker, and the lines of it that were.
    leaving: Option<(Tally, usize)>,
    /// The table that is being added to what was put together, and the pieces of it that were.
    settling: Option<(Tally, usize)>,
    /// Pieces that were put together, and then had to leave memory.
    spilled: Option<RunFile>,
    /// All pieces, where they are on disk and nothing was added since.
    listing: Option<Arc<Listing>>,
    /// Bytes of all that was counted.
    position: u64,
    /// At least the highest count.
    most: u128,
}

/// What a thread has counted.
#[derive(Default)]
struct Worker {
    tally: Tally,
    /// The memory that the table may take, and the folder for runs.
    limit: Option<(usize, PathBuf)>,
    runs: Option<RunFile>,
}

impl Sink for Worker {
    #[inline]
    fn count(&mut self, text: &[u8], start: usize, ends: &[usize], position: u64) -> Result<()> {
        if self.limit.is_some() {
            let bytes = ends.last().map_or(0, |end| end - start);
            self.make_room(ends.len(), bytes)?;
        }
        self.tally.count(text, start, ends, position)
    }
}

impl Worker {
    /// Spills the table where so many pieces more, of so many bytes together, might have no room.
    fn make_room(&mut self, pieces: usize, bytes: usize) -> Result<()> {
        match &self.limit {
            Some((most, _)) if self.tally.len() > 0 && self.tally.memory_with(pieces, bytes) > *most => self.spill(),
            _ => Ok(()),
        }
    }

    /// Writes the table as a run, and empties it.
    fn spill(&mut self) -> Result<()> {
        let Some((_, folder)) = &self.limit else { return Ok(()) };
        if self.tally.len() == 0 {
            return Ok(());
        }
        let runs = match &mut self.runs {
            Some(runs) => runs,
            None => self.runs.insert(RunFile::new(folder)?),
        };
        runs.write(|push| {
            self.tally.for_each_by_piece(|piece, count, position| push(Record { piece, count, position }))
        })?;
        self.tally.clear();
        Ok(())
    }
}

/// All counts as they were at a time, where they are.
#[derive(Clone)]
pub enum Counts {
    /// In memory.
    Memory(Arc<PieceCounts>),
    /// On disk.
    Disk(Arc<Listing>),
}

impl Counts {
    /// The number of distinct pieces, and that of their bytes.
    pub fn size(&self) -> (usize, usize) {
        match self {
            Self::Memory(counts) => (counts.len(), counts.distinct_bytes()),
            Self::Disk(listing) => (listing.len(), listing.distinct_bytes()),
        }
    }

    /// How often all pieces together were counted.
    fn occurrences(&self) -> u128 {
        match self {
            Self::Memory(counts) => counts.iter().map(|(_, n)| u128::from(n)).sum(),
            Self::Disk(listing) => listing.occurrences(),
        }
    }

    /// All of them in memory, wherever they were.
    ///
    /// # Errors
    /// `Temporary`; `Interrupted` soon after `stop` returns true.
    pub fn load(&self, stop: &dyn Fn() -> bool) -> Result<Arc<PieceCounts>> {
        match self {
            Self::Memory(counts) => Ok(Arc::clone(counts)),
            Self::Disk(listing) => listing.load(stop).map(Arc::new),
        }
    }

    /// Reads them in order of first appearance.
    pub fn read(&self) -> Result<CountsReader> {
        Ok(CountsReader(match self {
            Self::Memory(counts) => Source::Memory(Arc::clone(counts), 0),
            Self::Disk(listing) => Source::Disk(listing.read()?),
        }))
    }
}

/// Reads counts, which may change meanwhile: it gives those of before.
pub struct CountsReader(Source);

enum Source {
    /// And how many were read.
    Memory(Arc<PieceCounts>, usize),
    Disk(ListingReader),
}

impl CountsReader {
    /// The next pieces: of `pieces` of them, or of so many `bytes` at least. None at the end.
    pub fn next(&mut self, pieces: usize, bytes: usize) -> Result<PieceCounts> {
        match &mut self.0 {
            Source::Memory(counts, at) => {
                let mut some = PieceCounts::new();
                while some.len() < pieces && some.distinct_bytes() < bytes && *at < counts.len() {
                    some.push(counts.piece(*at), counts.count(*at));
                    *at += 1;
                }
                Ok(some)
            }
            Source::Disk(reader) => reader.next(pieces, bytes),
        }
    }
}

impl RunningCounts {
    /// No counts yet; with a limit, they leave memory beyond it.
    pub fn new(limit: Option<Limit>) -> Self {
        Self::in_parts(limit, PART)
    }

    /// The same; a thread is given about `part` bytes at a time, on which no result depends.
    pub fn in_parts(limit: Option<Limit>, part: usize) -> Self {
        Self {
            limit,
            part,
            settled: Arc::default(),
            workers: Vec::new(),
            leaving: None,
            settling: None,
            spilled: None,
            listing: None,
            position: 0,
            most: 0,
        }
    }

    /// Counts the pieces of all `documents`, on up to `threads` threads, this one among them.
    ///
    /// # Errors
    /// With the index of its document, the smallest one that has an error: those of the split; [`Error::Interrupted`] soon
    /// after `stop` returns true; [`Error::CountOverflow`]; [`Error::Temporary`]. A part of the documents is then counted.
    pub fn count_batch(
        &mut self,
        counter: &Counter,
        documents: &[&[u8]],
        threads: usize,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> std::result::Result<(), (usize, Error)> {
        let parts = parts(counter, documents, self.part);
        let threads = threads.min(parts.len());
        self.begin(threads).map_err(|error| (0, error))?;
        let position = self.position;
        let bytes = documents.iter().map(|document| document.len() as u64).sum::<u64>();
        self.position += bytes;
        self.most += u128::from(bytes);
        counter.count_parts(documents, (&parts, position), &mut self.workers[..threads.max(1)], stop)
    }

    /// Counts the pieces of a document that is read from `reader`, on up to `threads` threads, this one among them. `done` goes
    /// up by the bytes that are counted.
    ///
    /// Where the pattern has cuts it is read and counted in parts, so that it takes little memory however long it is; else the
    /// whole of it is read first.
    ///
    /// # Errors
    /// See [`ReadError`]: what comes first. A part of the document is then counted.
    pub fn count_reader(
        &mut self,
        counter: &Counter,
        reader: impl Read + Send,
        threads: usize,
        done: &AtomicU64,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> std::result::Result<(), ReadError> {
        self.begin(threads).map_err(ReadError::Count)?;
        let sinks = &mut self.workers[..threads.max(1)];
        let (length, result) = files::count((counter, reader), self.part, self.position, sinks, done, stop);
        self.position += length;
        self.most += u128::from(length);
        result
    }

    /// Sees to it that there are so many workers, with the memory that each may take.
    fn begin(&mut self, threads: usize) -> Result<()> {
        self.listing = None;
        let threads = threads.max(1);
        if self.workers.len() < threads {
            self.workers.resize_with(threads, Worker::default);
        }
        let Some(limit) = &self.limit else { return Ok(()) };
        if self.settled.memory() > limit.memory / 4 {
            let (settled, folder) = (&self.settled, &limit.folder);
            let runs = match &mut self.spilled {
                Some(runs) => runs,
                None => self.spilled.insert(RunFile::new(folder)?),
            };
            runs.write(|push| {
                settled.for_each_by_piece(|i, piece, count| push(Record { piece, count, position: i as u64 }))
            })?;
            self.settled = Arc::default();
        }
        let each = limit.memory.saturating_sub(self.settled.memory()) / self.workers.len();
        for worker in &mut self.workers {
            worker.limit = Some((each, limit.folder.clone()));
        }
        Ok(())
    }

    /// Counts `piece` `n` more times. An empty piece, or `n` of 0, changes nothing.
    pub fn add(&mut self, piece: &[u8], n: u64) -> Result<()> {
        if piece.is_empty() || n == 0 {
            return Ok(());
        }
        if self.workers.is_empty() || self.listing.is_some() {
            self.begin(1)?;
        }
        self.workers[0].make_room(1, piece.len())?;
        let position = self.position;
        self.position += piece.len() as u64;
        self.most += u128::from(n);
        self.workers[0].tally.add(piece, n, position)
    }

    /// Counts `n` more times a piece that was cut elsewhere. Where bytes outside any well-formed character stand in it, it
    /// is cut there too, as in a document: so no token crosses such a place, wherever the pieces come from.
    pub fn add_cut(&mut self, piece: &[u8], n: u64) -> Result<()> {
        Splitter::none().for_each_piece(piece, |part| self.add(&piece[part], n))
    }

    /// Adds all counts of `other`; its new pieces come after the ones here.
    ///
    /// # Errors
    /// `CountOverflow`, and nothing was added (under a limit, where counts are on disk, it may only be told when somebody
    /// looks); `Temporary`; `Interrupted` soon after `stop` returns true, and then a part of `other` was added.
    pub fn merge(&mut self, other: &Counts, stop: &dyn Fn() -> bool) -> Result<()> {
        let more = other.occurrences();
        if self.most + more > u128::from(u64::MAX) && self.limit.is_none() {
            return self.merge_carefully(other, more, stop);
        }
        let mut reader = other.read()?;
        loop {
            let some = reader.next(BETWEEN_STOPS, 1 << 20)?;
            if stop() {
                return Err(Error::Interrupted);
            }
            if some.is_empty() {
                break;
            }
            some.iter().try_for_each(|(piece, n)| self.add(piece, n))?;
        }
        Ok(())
    }

    /// The same where a sum may be too large: in a copy, which takes the place of what is here when all was added.
    fn merge_carefully(&mut self, other: &Counts, more: u128, stop: &dyn Fn() -> bool) -> Result<()> {
        self.settle(stop)?;
        let mut sum = PieceCounts::clone(&self.settled);
        let mut reader = other.read()?;
        loop {
            let some = reader.next(BETWEEN_STOPS, 1 << 20)?;
            if stop() {
                return Err(Error::Interrupted);
            }
            if some.is_empty() {
                break;
            }
            sum.merge(&some)?;
        }
        self.settled = Arc::new(sum);
        self.most = self.most.saturating_add(more);
        Ok(())
    }

    /// Whether [`Self::settle`] has nothing to do.
    pub fn is_settled(&self) -> bool {
        self.listing.is_some()
            || (self.spilled.is_none() && self.workers.is_empty() && self.leaving.is_none() && self.settling.is_none())
    }

    /// Puts all together: then [`Self::counts`] has all that was counted.
    ///
    /// # Errors
    /// `CountOverflow`; `Temporary`; `Interrupted` soon after `stop` returns true, and then nothing is lost: the next call goes
    /// on.
    pub fn settle(&mut self, stop: &dyn Fn() -> bool) -> Result<()> {
        if self.is_settled() {
            return Ok(());
        }
        self.go_on(stop)?;
        match &self.limit {
            Some(limit) if self.spilled.is_some() || self.needs_more_than(limit.memory) => self.settle_on_disk(stop),
            _ => self.settle_in_memory(stop),
        }
    }

    /// All that was counted. Panics where it was not put together.
    pub fn counts(&self) -> Counts {
        assert!(self.is_settled(), "counts are put together before they are read");
        match &self.listing {
            Some(listing) => Counts::Disk(Arc::clone(listing)),
            None => Counts::Memory(Arc::clone(&self.settled)),
        }
    }

    /// All that was counted, in memory, whatever the limit. Errors are those of [`Self::settle`].
    pub fn into_counts(mut self, stop: &dyn Fn() -> bool) -> Result<PieceCounts> {
        self.settle(stop)?;
        match &self.listing {
            Some(listing) => listing.load(stop),
            None => Ok(Arc::unwrap_or_clone(self.settled)),
        }
    }

    /// Whether to put all together in memory takes more than so much.
    fn needs_more_than(&self, memory: usize) -> bool {
        let (mut needed, mut pieces) = (self.settled.memory(), 0);
        for Worker { tally, .. } in &self.workers {
            needed += tally.memory_with(0, 0);
            pieces += tally.len();
        }
        // The first table grows, and then there are a list of places, and the counts, which have an index if others are there.
        needed += pieces * (3 * size_of::<[u64; 8]>() + size_of::<[u64; 8]>());
        self.workers.iter().any(|worker| worker.runs.is_some()) || needed > memory
    }

    fn settle_in_memory(&mut self, stop: &dyn Fn() -> bool) -> Result<()> {
        if let Some(largest) = (0..self.workers.len()).max_by_key(|&i| self.workers[i].tally.len()) {
            self.workers.swap(0, largest);
        }
        while self.workers.len() > 1 {
            self.leaving = self.workers.pop().map(|worker| (worker.tally, 0));
            self.go_on(stop)?;
        }
        self.settling = self.workers.pop().map(|worker| (worker.tally, 0));
        self.go_on(stop)
    }

    /// Adds to others what is left of tables that are about to go.
    fn go_on(&mut self, stop: &dyn Fn() -> bool) -> Result<()> {
        if let Some((tally, done)) = &mut self.settling {
            tally.add_to(Arc::make_mut(&mut self.settled), done, stop)?;
            self.settling = None;
        }
        if let Some((tally, line)) = &mut self.leaving {
            self.workers[0].tally.merge(tally, line, stop)?;
            self.leaving = None;
        }
        Ok(())
    }

    /// Merges runs, of which the tables become the last ones.
    fn settle_on_disk(&mut self, stop: &dyn Fn() -> bool) -> Result<()> {
        let Some(limit) = self.limit.clone() else { return Ok(()) };
        for worker in &mut self.workers {
            worker.limit = Some((0, limit.folder.clone()));
            worker.spill()?;
            worker.tally = Tally::default();
        }
        let mut settled = None;
        if !self.settled.is_empty() {
            let mut file = RunFile::new(&limit.folder)?;
            let counts = &self.settled;
            file.write(|push| {
                counts.for_each_by_piece(|i, piece, count| push(Record { piece, count, position: i as u64 }))
            })?;
            settled = Some(file);
        }
        let files = self.workers.iter().filter_map(|worker| worker.runs.as_ref());
        let files = files.chain(&self.spilled).chain(&settled).collect();
        match spilled::merge(files, &limit, stop)? {
            Merged::Counts(counts) => {
                self.settled = Arc::new(counts);
                self.workers.clear();
                self.spilled = None;
            }
            Merged::Listing(listing) => self.listing = Some(Arc::new(listing)),
        }
        Ok(())
    }
}
