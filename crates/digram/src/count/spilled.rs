//! Counts that are on disk, in the end: more distinct pieces than the memory that they may take.

use super::runs::{ByPiece, ByPosition, MOST_RUNS, Merge, Record, RunFile};
use super::{BETWEEN_STOPS, PieceCounts};
use crate::{Error, Result};
use std::path::{Path, PathBuf};

/// The memory that counts may take, about, and where they go beyond it.
#[derive(Clone, Debug)]
pub struct Limit {
    /// In bytes.
    pub memory: usize,
    /// A folder for temporary files.
    pub folder: PathBuf,
}

/// Bytes that are read of a run at a time, at least.
const LEAST_READ: usize = 1 << 12;
/// And at most.
const MOST_READ: usize = 1 << 18;

fn buffer(memory: usize, runs: usize) -> usize {
    (memory / 4 / runs.max(1)).clamp(LEAST_READ, MOST_READ)
}

/// All pieces in the order of their positions.
#[derive(Debug)]
pub struct Listing {
    file: RunFile,
    memory: usize,
    pieces: usize,
    bytes: usize,
    occurrences: u128,
}

impl Listing {
    /// The number of distinct pieces.
    pub fn len(&self) -> usize {
        self.pieces
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.pieces == 0
    }

    /// The number of bytes in the distinct pieces together.
    pub fn distinct_bytes(&self) -> usize {
        self.bytes
    }

    /// How often all pieces together were counted.
    pub(super) fn occurrences(&self) -> u128 {
        self.occurrences
    }

    /// The memory that counts may take, about.
    pub fn memory(&self) -> usize {
        self.memory
    }

    /// All of them, in memory.
    ///
    /// # Errors
    /// `Temporary`; `Interrupted` soon after `stop` returns true.
    pub(super) fn load(&self, stop: &dyn Fn() -> bool) -> Result<PieceCounts> {
        let (mut counts, mut reader) = (PieceCounts::new(), self.read()?);
        counts.reserve(self.pieces, self.bytes);
        while let Some(record) = reader.merge.first() {
            if counts.len().is_multiple_of(BETWEEN_STOPS) && stop() {
                return Err(Error::Interrupted);
            }
            counts.push(record.piece, record.count);
            reader.merge.pass()?;
        }
        Ok(counts)
    }

    /// Reads them all, in order of first appearance.
    pub(super) fn read(&self) -> Result<ListingReader> {
        let readers = self.file.readers(0..self.file.len(), buffer(self.memory, self.file.len()))?;
        Ok(ListingReader { merge: Merge::new(readers) })
    }
}

/// Reads a [`Listing`], which may be gone meanwhile.
pub(super) struct ListingReader {
    merge: Merge<ByPosition>,
}

impl ListingReader {
    /// The next pieces: of `pieces` of them, or of so many `bytes` at least. None at the end.
    pub(super) fn next(&mut self, pieces: usize, bytes: usize) -> Result<PieceCounts> {
        let mut some = PieceCounts::new();
        while some.len() < pieces && some.distinct_bytes() < bytes {
            let Some(record) = self.merge.first() else { break };
            some.push(record.piece, record.count);
            self.merge.pass()?;
        }
        Ok(some)
    }
}

/// What runs came to.
pub(super) enum Merged {
    /// Few enough for memory.
    Counts(PieceCounts),
    Listing(Listing),
}

/// Merges runs that are sorted by piece.
pub(super) fn merge(files: Vec<&RunFile>, limit: &Limit, stop: &dyn Fn() -> bool) -> Result<Merged> {
    let few = fewer(&files, limit, stop)?;
    let files = if few.len() > 0 { vec![&few] } else { files };
    let runs: usize = files.iter().map(|file| file.len()).sum();
    let mut readers = Vec::new();
    for file in files {
        readers.extend(file.readers(0..file.len(), buffer(limit.memory, runs))?);
    }
    let mut listing = None;
    let mut sorter = Sorter { most: limit.memory / 2, ..Sorter::default() };
    let (mut pieces, mut bytes, mut occurrences) = (0, 0, 0);
    Merge::<ByPiece>::new(readers).for_each(stop, &mut |record| {
        pieces += 1;
        bytes += record.piece.len();
        occurrences += u128::from(record.count);
        if sorter.is_full(record) {
            sorter.write(listing_file(&mut listing, &limit.folder)?, stop)?;
        }
        sorter.push(record);
        Ok(())
    })?;
    let Some(mut file) = listing else { return Ok(Merged::Counts(sorter.into_counts())) };
    sorter.write(&mut file, stop)?;
    drop(sorter);
    let file = fewer_by_position(file, limit, stop)?;
    Ok(Merged::Listing(Listing { file, memory: limit.memory, pieces, bytes, occurrences }))
}

fn listing_file<'a>(listing: &'a mut Option<RunFile>, folder: &Path) -> Result<&'a mut RunFile> {
    Ok(match listing {
        Some(file) => file,
        None => listing.insert(RunFile::new(folder)?),
    })
}

/// A file with few runs, where these are too many to be merged at once; else one without any.
fn fewer(files: &[&RunFile], limit: &Limit, stop: &dyn Fn() -> bool) -> Result<RunFile> {
    let mut out = RunFile::new(&limit.folder)?;
    if files.iter().map(|file| file.len()).sum::<usize>() <= MOST_RUNS {
        return Ok(out);
    }
    for file in files {
        for first in (0..file.len()).step_by(MOST_RUNS) {
            let which = first..file.len().min(first + MOST_RUNS);
            let readers = file.readers(which, buffer(limit.memory, MOST_RUNS))?;
            out.write(|push| Merge::<ByPiece>::new(readers).for_each(stop, push))?;
        }
    }
    // Each round leaves a part in two hundred, until they are few, or as many as the files.
    if out.len() > MOST_RUNS && out.len() > files.len() { fewer(&[&out], limit, stop) } else { Ok(out) }
}

/// The same by position.
fn fewer_by_position(mut file: RunFile, limit: &Limit, stop: &dyn Fn() -> bool) -> Result<RunFile> {
    while file.len() > MOST_RUNS {
        let mut out = RunFile::new(&limit.folder)?;
        for first in (0..file.len()).step_by(MOST_RUNS) {
            let which = first..file.len().min(first + MOST_RUNS);
            let mut merge = Merge::<ByPosition>::new(file.readers(which, buffer(limit.memory, MOST_RUNS))?);
            let mut number = 0_usize;
            out.write(|push| {
                while let Some(record) = merge.first() {
                    number += 1;
                    if number.is_multiple_of(BETWEEN_STOPS) && stop() {
                        return Err(Error::Interrupted);
                    }
                    push(record)?;
                    merge.pass()?;
                }
                Ok(())
            })?;
        }
        file = out;
    }
    Ok(file)
}

/// Sorts records by position, as many as fit into memory.
#[derive(Default)]
struct Sorter {
    most: usize,
    bytes: Vec<u8>,
    /// Position, count, and where the piece begins and ends in `bytes`.
    records: Vec<(u64, u64, usize, usize)>,
}

impl Sorter {
    /// Whether there is no room for one more. A vector that grows is there twice for a moment.
    fn is_full(&self, record: Record<'_>) -> bool {
        let size =
            size_of::<(u64, u64, usize, usize)>() * (self.records.len() + 1) + self.bytes.len() + record.piece.len();
        !self.records.is_empty() && size > self.most / 2
    }

    fn push(&mut self, record: Record<'_>) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(record.piece);
        self.records.push((record.position, record.count, start, self.bytes.len()));
    }

    fn sort(&mut self) {
        self.records.sort_unstable();
    }

    /// Writes all as a run, and is empty then.
    fn write(&mut self, file: &mut RunFile, stop: &dyn Fn() -> bool) -> Result<()> {
        if stop() {
            return Err(Error::Interrupted);
        }
        self.sort();
        file.write(|push| {
            self.records.iter().try_for_each(|&(position, count, start, end)| {
                push(Record { piece: &self.bytes[start..end], count, position })
            })
        })?;
        self.bytes.clear();
        self.records.clear();
        Ok(())
    }

    fn into_counts(mut self) -> PieceCounts {
        self.sort();
        let mut counts = PieceCounts::new();
        counts.reserve(self.records.len(), self.bytes.len());
        for &(_, count, start, end) in &self.records {
            counts.push(&self.bytes[start..end], count);
        }
        counts
    }
}
