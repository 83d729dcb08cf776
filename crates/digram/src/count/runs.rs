//! Runs: sorted lists of pieces in a temporary file, and how they are merged.
//!
//! A file has no name, or is gone with the process: none is left behind, whatever ends it. All runs of a thread stand in one
//! file, one after the other; a piece is a record of its length, its count and its position, as numbers of seven bits a byte,
//! and its bytes.

use super::BETWEEN_STOPS;
use crate::{Error, Result};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes that are written at a time.
const WRITTEN: usize = 1 << 18;

/// Runs that are merged at a time, at most.
pub(super) const MOST_RUNS: usize = 256;

/// A piece, its count, and where it was first met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record<'a> {
    pub(super) piece: &'a [u8],
    pub(super) count: u64,
    pub(super) position: u64,
}

/// A temporary file of runs.
#[derive(Debug)]
pub(super) struct RunFile {
    file: Arc<File>,
    folder: PathBuf,
    length: u64,
    /// Where the runs begin and end.
    runs: Vec<(u64, u64)>,
    /// The process that writes to it: a child of a fork has the same file, and would write where its parent does.
    process: u32,
    written: Vec<u8>,
}

/// What a failure of the system means.
fn refused(folder: &Path, error: &io::Error) -> Error {
    Error::Temporary { folder: folder.to_path_buf(), code: error.raw_os_error(), reason: reason(error) }
}

/// What the system says, without its number.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split_once(" (os error").map_or(text.clone(), |(reason, _)| reason.to_owned())
}

impl RunFile {
    /// A file without runs in a folder.
    pub(super) fn new(folder: &Path) -> Result<Self> {
        let file = tempfile::tempfile_in(folder).map_err(|error| refused(folder, &error))?;
        let folder = folder.to_path_buf();
        Ok(Self {
            file: Arc::new(file),
            folder,
            length: 0,
            runs: Vec::new(),
            process: std::process::id(),
            written: Vec::new(),
        })
    }

    /// The number of runs.
    pub(super) fn len(&self) -> usize {
        self.runs.len()
    }

    /// Writes a run: `write` is given what takes its records, in their order. After an error the file is as before.
    pub(super) fn write(
        &mut self,
        write: impl FnOnce(&mut dyn FnMut(Record<'_>) -> Result<()>) -> Result<()>,
    ) -> Result<()> {
        let start = self.runs.last().map_or(0, |&(_, end)| end);
        if self.process != std::process::id() {
            self.copy(start)?;
        }
        self.length = start;
        self.written.clear();
        write(&mut |record| self.push(record))?;
        self.flush()?;
        self.written = Vec::new();
        self.runs.push((start, self.length));
        Ok(())
    }

    /// Goes on in a file of this process, with the first `length` bytes of the old one, which stay as they are there.
    fn copy(&mut self, length: u64) -> Result<()> {
        let refused = |error: io::Error| refused(&self.folder, &error);
        let file = tempfile::tempfile_in(&self.folder).map_err(refused)?;
        let (mut at, mut bytes) = (0, vec![0; WRITTEN]);
        while at < length {
            let size = (length - at).min(WRITTEN as u64) as usize;
            read_at(&self.file, &mut bytes[..size], at).map_err(refused)?;
            write_at(&file, &bytes[..size], at).map_err(refused)?;
            at += size as u64;
        }
        (self.file, self.process) = (Arc::new(file), std::process::id());
        Ok(())
    }

    fn push(&mut self, record: Record<'_>) -> Result<()> {
        for number in [record.piece.len() as u64, record.count, record.position] {
            push_number(&mut self.written, number);
        }
        self.written.extend_from_slice(record.piece);
        if self.written.len() >= WRITTEN { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        write_at(&self.file, &self.written, self.length).map_err(|error| refused(&self.folder, &error))?;
        self.length += self.written.len() as u64;
        self.written.clear();
        Ok(())
    }

    /// Readers of all runs, or of some of them.
    pub(super) fn readers(&self, which: std::ops::Range<usize>, buffer: usize) -> Result<Vec<Reader>> {
        let reader = |&(start, end): &(u64, u64)| Reader {
            file: Arc::clone(&self.file),
            folder: self.folder.clone(),
            next: start,
            end,
            buffer: Vec::new(),
            size: buffer.max(64),
            at: 0,
            length: 0,
            count: 0,
            position: 0,
        };
        let mut readers: Vec<Reader> = self.runs[which].iter().map(reader).collect();
        let mut result = Ok(());
        readers.retain_mut(|reader| match reader.advance() {
            Ok(more) => more,
            Err(error) => {
                result = Err(error);
                false
            }
        });
        result.map(|()| readers)
    }
}

/// Reads one run.
#[derive(Debug)]
pub(super) struct Reader {
    file: Arc<File>,
    folder: PathBuf,
    /// Bytes of the file that are still to be read.
    next: u64,
    end: u64,
    buffer: Vec<u8>,
    /// Bytes that are read at a time.
    size: usize,
    /// Where the bytes of the current piece begin in the buffer, and how many they are.
    at: usize,
    length: usize,
    count: u64,
    position: u64,
}

impl Reader {
    /// The current record.
    pub(super) fn record(&self) -> Record<'_> {
        Record { piece: self.piece(), count: self.count, position: self.position }
    }

    fn piece(&self) -> &[u8] {
        &self.buffer[self.at..self.at + self.length]
    }

    /// Goes to the next record; false at the end.
    fn advance(&mut self) -> Result<bool> {
        self.at += self.length;
        self.length = 0;
        self.fill(30)?;
        if self.at == self.buffer.len() {
            return Ok(false);
        }
        let mut at = self.at;
        let [length, count, position] = [(); 3].map(|()| number_at(&self.buffer, &mut at));
        (self.at, self.count, self.position) = (at, count, position);
        self.fill(length as usize)?;
        self.length = length as usize;
        Ok(true)
    }

    /// Sees to it that so many bytes are in the buffer, if the run has them.
    fn fill(&mut self, bytes: usize) -> Result<()> {
        let there = self.buffer.len() - self.at;
        if there >= bytes || self.next == self.end {
            return Ok(());
        }
        self.buffer.drain(..self.at);
        self.at = 0;
        let more = ((bytes - there).max(self.size) as u64).min(self.end - self.next) as usize;
        self.buffer.resize(there + more, 0);
        read_at(&self.file, &mut self.buffer[there..], self.next).map_err(|error| refused(&self.folder, &error))?;
        self.next += more as u64;
        Ok(())
    }
}

fn push_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 128 {
        out.push(number as u8 | 128);
        number >>= 7;
    }
    out.push(number as u8);
}

fn number_at(bytes: &[u8], at: &mut usize) -> u64 {
    let (mut number, mut shift) = (0, 0);
    loop {
        let byte = bytes[*at];
        *at += 1;
        number |= u64::from(byte & 127) << shift;
        shift += 7;
        if byte < 128 {
            return number;
        }
    }
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

// Elsewhere the place in the file is shared; whoever reads or writes sets it first, and one thread does so at a time.
#[cfg(not(unix))]
fn write_at(mut file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    io::Seek::seek(&mut file, io::SeekFrom::Start(offset))?;
    io::Write::write_all(&mut file, bytes)
}

#[cfg(not(unix))]
fn read_at(mut file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    io::Seek::seek(&mut file, io::SeekFrom::Start(offset))?;
    io::Read::read_exact(&mut file, bytes)
}

/// The order of records in runs.
pub(super) trait Order {
    fn before(one: &Reader, other: &Reader) -> bool;
}

/// By piece, as byte strings.
pub(super) struct ByPiece;
/// By position.
pub(super) struct ByPosition;

impl Order for ByPiece {
    fn before(one: &Reader, other: &Reader) -> bool {
        one.piece() < other.piece()
    }
}

impl Order for ByPosition {
    fn before(one: &Reader, other: &Reader) -> bool {
        one.position < other.position
    }
}

/// The records of several runs in their order.
pub(super) struct Merge<O> {
    readers: Vec<Reader>,
    /// Numbers of readers, as a heap: the one at i comes before those at 2i + 1 and 2i + 2.
    heap: Vec<usize>,
    order: std::marker::PhantomData<O>,
}

impl<O: Order> Merge<O> {
    pub(super) fn new(readers: Vec<Reader>) -> Self {
        let heap = (0..readers.len()).collect();
        let mut merge = Merge { readers, heap, order: std::marker::PhantomData };
        for i in (0..merge.heap.len() / 2).rev() {
            merge.sift(i);
        }
        merge
    }

    /// The first record that was not passed.
    pub(super) fn first(&self) -> Option<Record<'_>> {
        self.heap.first().map(|&first| self.readers[first].record())
    }

    /// Passes the first record.
    pub(super) fn pass(&mut self) -> Result<()> {
        let Some(&first) = self.heap.first() else { return Ok(()) };
        if !self.readers[first].advance()? {
            self.readers[first].buffer = Vec::new();
            self.heap.swap_remove(0);
        }
        self.sift(0);
        Ok(())
    }

    fn sift(&mut self, mut i: usize) {
        let before =
            |heap: &[usize], one: usize, other: usize| O::before(&self.readers[heap[one]], &self.readers[heap[other]]);
        loop {
            let (left, right) = (2 * i + 1, 2 * i + 2);
            let mut least = i;
            for child in [left, right] {
                if child < self.heap.len() && before(&self.heap, child, least) {
                    least = child;
                }
            }
            if least == i {
                return;
            }
            self.heap.swap(i, least);
            i = least;
        }
    }
}

impl Merge<ByPiece> {
    /// Calls `each` with every distinct piece of runs in the order of pieces, its counts added up, and the smallest of its
    /// positions.
    pub(super) fn for_each(
        mut self,
        stop: &dyn Fn() -> bool,
        each: &mut dyn FnMut(Record<'_>) -> Result<()>,
    ) -> Result<()> {
        let (mut piece, mut number) = (Vec::new(), 0_usize);
        while let Some(record) = self.first() {
            piece.clear();
            piece.extend_from_slice(record.piece);
            let (mut count, mut position) = (0_u64, u64::MAX);
            while let Some(record) = self.first().filter(|record| record.piece == piece) {
                count = count.checked_add(record.count).ok_or(Error::CountOverflow)?;
                position = position.min(record.position);
                self.pass()?;
            }
            each(Record { piece: &piece, count, position })?;
            number += 1;
            if number.is_multiple_of(BETWEEN_STOPS) && stop() {
                return Err(Error::Interrupted);
            }
        }
        Ok(())
    }
}
