//! Training from more pieces than memory holds: in stages, each of which reads them twice and keeps what it needs.
//!
//! A stage has a threshold, and learns the merges that count at least this. It begins with all pieces as the merges so
//! far leave them. Between two neighbours x and y that count less than the threshold, a piece may be cut in two: no
//! merge of this stage goes across. For a merge of (x', y') there, where x' ends with x and y' begins with y, would
//! need as high a count, but every occurrence of (x', y') holds one of (x, y): occurrences of a token come into being in
//! one round, all from the same two parts, so each of x' was made of the same tokens, the last of them x, and each of y'
//! likewise. And where (x', y') does count at least the threshold, none of its occurrences is cut, for all pairs that x'
//! and y' were made of in this stage, and (x, y), count as much. So counts, merges and ties are those of whole pieces.
//! Which of the pieces comes first does not change either, for the first piece with a pair is among those that are kept.
//!
//! What is left of a piece is a few short stretches; those of one token are dropped, and the others are, in most texts
//! with many distinct pieces, the same ones over and over: they are counted like pieces, and learnt from in memory. When
//! no pair reaches the threshold any more, the next stage has a lower one. That is exact whatever the thresholds are, so
//! they may follow the memory.
//!
//! The counts of pairs in the first reading need not be exact: what is taken for more than it is only leaves a piece
//! longer. So they are kept in two tables of sums by hash, of which the smaller one is taken, as in a count-min sketch
//! (Cormode and Muthukrishnan 2005, "An improved data stream summary").

use super::alphabet::characters;
use super::arena::Arena;
use super::replay::{self, replay};
use super::rounds::{Trainer, Tuning};
use super::ticker::Ticker;
use super::{Alphabet, FIRST_THRESHOLD, Learned, Ties, TrainOptions, Trained, first_threshold, planned_merges};
use crate::count::{Counts, PieceCounts};
use crate::{Error, Result};
use foldhash::fast::FixedState;
use hashbrown::HashSet;
use std::hash::BuildHasher;
use std::sync::Arc;

/// What may be used; no result depends on it.
pub(super) struct Room {
    /// Bytes that the pieces of a stage may take, about, while they are learnt from.
    pub(super) memory: usize,
    /// Sums of pairs, a power of two.
    pub(super) sums: usize,
    /// Pieces and bytes that are read at a time.
    pub(super) batch: (usize, usize),
    /// The first threshold, where it is not to follow from the counts.
    pub(super) first_threshold: Option<u64>,
}

impl Room {
    /// For a process that is to take about so many bytes.
    pub(super) fn within(memory: usize) -> Self {
        let sums = (memory / 8 / size_of::<u64>()).clamp(1 << 12, 1 << 28);
        let sums = if sums.is_power_of_two() { sums } else { sums.next_power_of_two() / 2 };
        Room { memory: memory / 4 * 3, sums, batch: (1 << 16, 1 << 20), first_threshold: None }
    }
}

/// The memory that training from so many pieces, of so many bytes together, takes, about.
pub(super) fn memory_for(pieces: usize, bytes: usize, options: &TrainOptions) -> usize {
    let ordered = matches!(options.ties, Ties::SmallestTokens | Ties::LargestTokens | Ties::ShortestToken);
    let symbol = if ordered { 32 } else { 16 };
    (bytes + pieces).saturating_mul(symbol).saturating_add(bytes).saturating_add(pieces.saturating_mul(40))
}

/// Learns merges from `counts`, as `train_watched` does from counts in memory.
pub(super) fn train(counts: &Counts, options: &TrainOptions, room: &Room, ticker: &mut Ticker<'_>) -> Result<Trained> {
    let characters = match options.alphabet {
        Alphabet::Bytes => Vec::new(),
        Alphabet::Characters => characters(&|each| for_each_batch(counts, room, each), options, ticker)?.0,
    };
    let begun = replay::merges(options, &characters)?;
    let planned = planned_merges(options, characters.len(), begun.len() as u64)?;
    ticker.progress.planned = planned;
    ticker.learned.characters.clone_from(&characters);
    let stages = Stages { counts, options, room, characters: &characters, planned: planned.unwrap_or(u64::MAX) };
    let exhausted = stages.run(begun, ticker)?;
    ticker.call()?;
    let Learned { merges, counts: merge_counts, .. } = std::mem::take(&mut ticker.learned);
    Ok(Trained { characters, merges, merge_counts, exhausted })
}

fn for_each_batch(counts: &Counts, room: &Room, each: &mut dyn FnMut(&PieceCounts) -> Result<()>) -> Result<()> {
    let mut reader = counts.read()?;
    loop {
        let some = reader.next(room.batch.0, room.batch.1)?;
        if some.is_empty() {
            return Ok(());
        }
        each(&some)?;
    }
}

struct Stages<'a> {
    counts: &'a Counts,
    options: &'a TrainOptions,
    room: &'a Room,
    characters: &'a [char],
    planned: u64,
}

impl Stages<'_> {
    /// Learns all there is to learn. Returns whether no pair was left.
    fn run(&self, begun: Vec<(u32, u32)>, ticker: &mut Ticker<'_>) -> Result<bool> {
        let (mut sums, total) = self.begin(&begun, ticker)?;
        if ticker.progress.merges == self.planned {
            return Ok(false);
        }
        let start = u64::try_from(total / FIRST_THRESHOLD).unwrap_or(u64::MAX);
        let mut threshold = self.room.first_threshold.unwrap_or(start).max(self.options.min_count);
        // All pairs left that may be merged count less, once a stage is done.
        let mut ceiling = u64::MAX;
        let mut refused = HashSet::default();
        loop {
            let merges = ticker.learned.merges.clone();
            let (kept, is_cut) = self.keep(&merges, &sums, (&mut threshold, ceiling), ticker)?;
            drop(sums);
            let arena = self.arena(&kept, ticker)?;
            drop(kept);
            let options = TrainOptions { min_count: threshold, ..self.options.clone() };
            let tuning = Tuning { first_threshold: first_threshold(&arena) };
            let mut trainer = Trainer::new(arena, &options, self.characters, ticker)?;
            trainer.refused = refused;
            trainer.go_on(&merges)?;
            if trainer.learn(self.planned, &tuning)? {
                return Ok(false);
            }
            if threshold == self.options.min_count {
                return Ok(trainer.is_exhausted()? && !(is_cut && self.may_go_on(&mut trainer)?));
            }
            refused = std::mem::take(&mut trainer.refused);
            drop(trainer);
            ceiling = threshold;
            threshold = (threshold / 8).max(self.options.min_count);
            let merges = ticker.learned.merges.clone();
            sums = Sums::new(self.room.sums);
            self.for_each_arena(&merges, ticker, &mut |arena, _, _, ticker| sums.add(arena, ticker))?;
        }
    }

    /// Makes the merges that come before learning; gives the sums of the pairs then, and the sum of all counts.
    fn begin(&self, begun: &[(u32, u32)], ticker: &mut Ticker<'_>) -> Result<(Sums, u128)> {
        let (mut sums, mut total, mut counts) = (Sums::new(self.room.sums), 0, vec![0_u64; begun.len()]);
        self.for_each_arena(begun, ticker, &mut |arena, _, more, ticker| {
            for (count, &more) in counts.iter_mut().zip(more) {
                *count = count.checked_add(more).ok_or(Error::CountOverflow)?;
            }
            total += arena.total_count();
            sums.add(arena, ticker)
        })?;
        for (&(left, right), &count) in begun.iter().zip(&counts) {
            ticker.learn(left, right, count);
            ticker.progress.merges += 1;
        }
        Ok((sums, total))
    }

    /// The stretches of all pieces whose pairs may count the threshold, and whether anything was left out. Where they are
    /// too many, the threshold goes up, to half of the `ceiling` at most: then a stage takes the memory that it takes.
    fn keep(
        &self,
        merges: &[(u32, u32)],
        sums: &Sums,
        (threshold, ceiling): (&mut u64, u64),
        ticker: &mut Ticker<'_>,
    ) -> Result<(PieceCounts, bool)> {
        let (mut kept, mut is_cut) = (PieceCounts::new(), false);
        for_each_batch(self.counts, self.room, &mut |some| {
            is_cut |= self.cut(some, merges, (sums, *threshold), &mut kept, ticker)?;
            while memory_for(kept.len(), kept.distinct_bytes(), self.options) > self.room.memory
                && *threshold < ceiling / 2
            {
                *threshold = threshold.saturating_mul(2).clamp(1, ceiling / 2);
                let all = Counts::Memory(Arc::new(std::mem::take(&mut kept)));
                for_each_batch(&all, self.room, &mut |some| {
                    is_cut |= self.cut(some, merges, (sums, *threshold), &mut kept, ticker)?;
                    Ok(())
                })?;
            }
            Ok(())
        })?;
        Ok((kept, is_cut))
    }

    /// Adds the stretches of some pieces to `kept`; whether it cut anything off.
    fn cut(
        &self,
        some: &PieceCounts,
        merges: &[(u32, u32)],
        (sums, threshold): (&Sums, u64),
        kept: &mut PieceCounts,
        ticker: &mut Ticker<'_>,
    ) -> Result<bool> {
        let (mut is_cut, mut string) = (false, Vec::new());
        self.with_arena(some, merges, ticker, &mut |arena, base, _, ticker| {
            for (start, end) in arena.pieces() {
                let (mut first, mut position, mut tokens) = (start, start, 0);
                while position < end {
                    let token = arena.at(position);
                    position += arena.length(token);
                    tokens += 1;
                    ticker.work(1)?;
                    if position < end && sums.at_most(token, arena.at(position)) >= threshold {
                        continue;
                    }
                    if tokens > 1 {
                        self.spell(&base[first as usize..position as usize], &mut string);
                        kept.add(&string, arena.weight(start))?;
                    }
                    is_cut |= position < end;
                    (first, tokens) = (position, 0);
                }
            }
            Ok(())
        })?;
        Ok(is_cut)
    }

    /// Whether there is a pair in the whole pieces that may be merged.
    fn may_go_on(&self, trainer: &mut Trainer<'_, '_>) -> Result<bool> {
        let merges = trainer.ticker.learned.merges.clone();
        let mut found = false;
        for_each_batch(self.counts, self.room, &mut |some| {
            let mut arena = self.arena(some, trainer.ticker)?;
            replay(&mut arena, &merges, trainer.ticker)?;
            found |= arena.pairs().any(|(_, left, right)| trainer.may_merge(left, right));
            Ok(())
        })?;
        Ok(found)
    }

    /// Pieces as base symbols.
    fn arena(&self, some: &PieceCounts, ticker: &mut Ticker<'_>) -> Result<Arena> {
        Arena::of(some, self.options.alphabet, self.characters, some.distinct_bytes() as u64, ticker)
    }

    /// Calls `each` with all pieces, some at a time, as `merges` leave them: the arena, its base symbols, and how often
    /// each merge was made.
    fn for_each_arena(&self, merges: &[(u32, u32)], ticker: &mut Ticker<'_>, each: &mut Each<'_>) -> Result<()> {
        for_each_batch(self.counts, self.room, &mut |some| self.with_arena(some, merges, ticker, each))
    }

    fn with_arena(
        &self,
        some: &PieceCounts,
        merges: &[(u32, u32)],
        ticker: &mut Ticker<'_>,
        each: &mut Each<'_>,
    ) -> Result<()> {
        let mut arena = self.arena(some, ticker)?;
        let base = arena.cells().to_vec();
        let replayed = replay(&mut arena, merges, ticker)?;
        each(&arena, &base, &replayed.counts, ticker)
    }

    /// The string of some base symbols.
    fn spell(&self, symbols: &[u32], string: &mut Vec<u8>) {
        string.clear();
        match self.options.alphabet {
            Alphabet::Bytes => string.extend(symbols.iter().map(|&symbol| symbol as u8)),
            Alphabet::Characters => {
                for &symbol in symbols {
                    let character = self.characters[symbol as usize];
                    string.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                }
            }
        }
    }
}

type Each<'a> = dyn FnMut(&Arena, &[u32], &[u64], &mut Ticker<'_>) -> Result<()> + 'a;

/// Upper bounds of the counts of pairs.
struct Sums {
    /// Two tables, one after the other.
    sums: Vec<u64>,
    hasher: FixedState,
}

impl Sums {
    fn new(size: usize) -> Self {
        debug_assert!(size.is_power_of_two() && size > 1);
        Sums { sums: vec![0; size], hasher: FixedState::default() }
    }

    /// Where a pair is counted in each of the tables.
    fn places(&self, left: u32, right: u32) -> [usize; 2] {
        let (hash, half) = (self.hasher.hash_one(u64::from(left) << 32 | u64::from(right)), self.sums.len() / 2);
        [hash as usize & (half - 1), half + ((hash >> 32) as usize & (half - 1))]
    }

    /// Counts all pairs of an arena.
    fn add(&mut self, arena: &Arena, ticker: &mut Ticker<'_>) -> Result<()> {
        for (position, left, right) in arena.pairs() {
            let weight = arena.weight(position);
            for place in self.places(left, right) {
                self.sums[place] = self.sums[place].saturating_add(weight);
            }
            ticker.work(1)?;
        }
        Ok(())
    }

    /// A number that the count of a pair is not above.
    fn at_most(&self, left: u32, right: u32) -> u64 {
        let [one, other] = self.places(left, right);
        self.sums[one].min(self.sums[other])
    }
}
