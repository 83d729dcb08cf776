//! Parity-aware training: texts in groups, mostly one a language, of which in each round the one that is compressed worst
//! chooses the pair (Foroutan, Meister, Paul, Niklaus, Ahmadi, Bosselut and Sennrich 2025, "Parity-aware byte-pair encoding").
//!
//! **The definition** (`tests` has it word for word). The cost of a group is the number of tokens that its measured text has
//! now, divided by what it was said to be worth. Each round takes the group of the highest cost, of equal ones the first; of the pairs
//! of its training text the one with the highest count, ties as in ordinary training; and merges this pair everywhere, in the
//! texts of all groups. A group whose best count is below `min_count` chooses no more.
//!
//! **The window** (the paper's moving-window variant). A group that made more than `alpha / groups` of the last `window` choices
//! waits: the next one in the order of cost has its turn.
//!
//! **The method.** Each group has a trainer of its own, with all pairs in its table, however rare: any of them may be merged
//! because it is frequent elsewhere. They go in step, so an id is the same token in all. A round costs each group what the
//! pair's occurrences in it cost: all together little more than as many ordinary trainings, to the same number of merges.

use super::arena::Arena;
use super::rounds::Trainer;
use super::ticker::Ticker;
use super::{Alphabet, Learned, Progress, TrainOptions, Watch, planned_merges, replay};
use crate::count::PieceCounts;
use crate::{Error, Result};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ops::{ControlFlow, Deref};

/// Which group chooses.
#[derive(Debug, Clone, PartialEq)]
pub struct Parity {
    /// What the tokens of each group are divided by.
    pub worth: Vec<f64>,
    /// How many choices the window holds, and `alpha`, at least 1; none where any group may choose again and again.
    pub window: Option<(usize, f64)>,
}

/// What was learnt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParityTrained {
    /// The merges in learned order, those to begin with first: merge k makes the id 256 + k.
    pub merges: Vec<(u32, u32)>,
    /// The count of each in the group that chose it; of one to begin with in all groups together.
    pub merge_counts: Vec<u64>,
    /// The group that chose each merge, but for those to begin with.
    pub chosen: Vec<u32>,
    /// The tokens of the measured text of each group at the end.
    pub tokens: Vec<u64>,
    /// Whether no group had a pair left before `vocab_size`.
    pub exhausted: bool,
}

/// What the tickers of all trainers tell the one who watches.
struct Shared<'a> {
    watch: RefCell<&'a mut dyn Watch>,
    progress: Cell<Progress>,
    learned: RefCell<Learned>,
}

impl Watch for &Shared<'_> {
    fn tick(&mut self, _: Progress, _: &Learned) -> ControlFlow<()> {
        self.watch.borrow_mut().tick(self.progress.get(), &self.learned.borrow())
    }
}

/// Learns merges from the counts of groups. `measured` are the counts of other texts whose tokens are the cost, in the order of
/// the groups; without them it is the training texts. `options.merges` are made first.
///
/// # Errors
/// As [`super::train_watched`]; `Argument` for no group, for numbers of `parity` or `measured` that are not those of the groups,
/// and for options that are not served here: a character alphabet, seed tokens, and asking.
pub fn train_parity<C: Deref<Target = PieceCounts>>(
    groups: Vec<C>,
    measured: Option<Vec<C>>,
    options: &TrainOptions,
    parity: &Parity,
    watch: &mut dyn Watch,
) -> Result<ParityTrained> {
    check(groups.len(), measured.as_ref().map(Vec::len), options, parity)?;
    let progress = Progress { merges: 0, planned: None, best_count: 0 };
    let shared = Shared { watch: RefCell::new(watch), progress: Cell::new(progress), learned: RefCell::default() };
    let begun = replay::merges(options, &[])?;
    let planned = planned_merges(options, 0, begun.len() as u64)?;
    let mut watches: Vec<&Shared> = vec![&shared; groups.len() + measured.as_ref().map_or(0, Vec::len)];
    let mut tickers: Vec<Ticker> = watches.iter_mut().map(|watch| Ticker::new(watch)).collect();
    let (trained, held_out) = tickers.split_at_mut(groups.len());
    let mut groups = all(groups, options, &begun, trained)?;
    let mut measured = measured.map(|counts| all(counts, options, &begun, held_out)).transpose()?;
    let mut found = ParityTrained::default();
    for (k, &merge) in begun.iter().enumerate() {
        found.merges.push(merge);
        let mut counts = groups.iter().map(|group| group.trainer.ticker.learned.counts[k]);
        found.merge_counts.push(counts.try_fold(0, u64::checked_add).ok_or(Error::CountOverflow)?);
    }
    let mut choices = Choices::new(parity, groups.len());
    while planned.is_none_or(|planned| (found.merges.len() as u64) < planned) {
        let of = measured.as_ref().unwrap_or(&groups);
        let Some(chosen) = choices.next(|group| of[group].tokens as f64 / parity.worth[group]) else {
            found.exhausted = true;
            break;
        };
        let slot = groups[chosen].trainer.next_pair()?;
        let best = slot.map(|slot| (slot, groups[chosen].trainer.pairs.get(slot)));
        let Some((slot, pair)) = best.filter(|(_, pair)| pair.count >= options.min_count) else {
            choices.done[chosen] = true;
            continue;
        };
        let (left, right, count) = (pair.left, pair.right, pair.count);
        choices.note(chosen);
        found.merges.push((left, right));
        found.merge_counts.push(count);
        found.chosen.push(chosen as u32);
        {
            let mut learned = shared.learned.borrow_mut();
            learned.merges.push((left, right));
            learned.counts.push(count);
        }
        shared.progress.set(Progress { merges: found.merges.len() as u64, planned, best_count: count });
        for (i, group) in groups.iter_mut().enumerate() {
            group.merge(left, right, (i == chosen).then_some(slot))?;
        }
        for group in measured.iter_mut().flatten() {
            group.merge(left, right, None)?;
        }
    }
    found.tokens = measured.as_ref().unwrap_or(&groups).iter().map(|group| group.tokens).collect();
    Ok(found)
}

fn check(groups: usize, measured: Option<usize>, options: &TrainOptions, parity: &Parity) -> Result<()> {
    let wrong = |message: &str| Err(Error::Argument(message.to_owned()));
    if groups == 0 {
        return wrong("parity needs a group of texts at least");
    }
    if parity.worth.len() != groups || measured.is_some_and(|n| n != groups) {
        return wrong("parity needs as many texts to measure, and numbers to divide by, as groups");
    }
    if !parity.worth.iter().all(|worth| worth.is_finite() && *worth > 0.0) {
        return wrong("what tokens are divided by must be above 0");
    }
    if parity.window.is_some_and(|(window, alpha)| window == 0 || !(alpha >= 1.0 && alpha.is_finite())) {
        return wrong("the window must hold a choice at least, and alpha be 1 or more");
    }
    if options.alphabet != Alphabet::Bytes || options.ask || !options.seeds.is_empty() {
        return wrong("parity is for an alphabet of bytes, without seed tokens and without asking");
    }
    match options.min_count {
        0 => wrong("min_count=0 would merge pairs that do not occur: ask for at least 1"),
        _ => Ok(()),
    }
}

/// Whose turn it is.
struct Choices<'a> {
    parity: &'a Parity,
    /// Groups that have no pair left.
    done: Vec<bool>,
    last: VecDeque<usize>,
    /// How often each stands in `last`.
    often: Vec<usize>,
}

impl<'a> Choices<'a> {
    fn new(parity: &'a Parity, groups: usize) -> Self {
        Choices { parity, done: vec![false; groups], last: VecDeque::new(), often: vec![0; groups] }
    }

    /// The group of the highest cost that need not wait; none where all are done.
    fn next(&self, cost: impl Fn(usize) -> f64) -> Option<usize> {
        let groups = self.done.len();
        let most = self.parity.window.map_or(f64::INFINITY, |(window, alpha)| alpha * window as f64 / groups as f64);
        let worst = |open: &dyn Fn(usize) -> bool| {
            let open = (0..groups).filter(|&group| !self.done[group] && open(group));
            open.fold(None, |worst, group| match worst {
                Some(other) if cost(other) >= cost(group) => worst,
                _ => Some(group),
            })
        };
        // Where all that are left would have to wait, none has to.
        worst(&|group| self.often[group] as f64 <= most).or_else(|| worst(&|_| true))
    }

    fn note(&mut self, group: usize) {
        let Some((window, _)) = self.parity.window else { return };
        self.last.push_back(group);
        self.often[group] += 1;
        if self.last.len() > window {
            let first = self.last.pop_front().expect("it holds more than the window");
            self.often[first] -= 1;
        }
    }
}

/// The texts of one group.
struct Group<'t, 'c> {
    trainer: Trainer<'t, 'c>,
    tokens: u64,
}

/// Groups in which the merges to begin with were made and all pairs are known.
fn all<'t, 'c, C: Deref<Target = PieceCounts>>(
    counts: Vec<C>,
    options: &TrainOptions,
    begun: &[(u32, u32)],
    tickers: &'t mut [Ticker<'c>],
) -> Result<Vec<Group<'t, 'c>>> {
    let group = |(counts, ticker): (C, &'t mut Ticker<'c>)| {
        ticker.call()?;
        let pieces = counts.iter().try_fold(0_u64, |sum, (_, n)| sum.checked_add(n)).ok_or(Error::CountOverflow)?;
        let (arena, _) = Arena::new(&counts, options, ticker)?;
        drop(counts);
        let mut trainer = Trainer::new(arena, options, &[], ticker)?;
        trainer.begin(begun)?;
        trainer.threshold = 1;
        trainer.count_pairs()?;
        // A piece has one token more than pairs.
        let mut tokens = pieces;
        for (position, ..) in trainer.arena.pairs() {
            tokens = tokens.checked_add(trainer.arena.weight(position)).ok_or(Error::CountOverflow)?;
        }
        Ok(Group { trainer, tokens })
    };
    counts.into_iter().zip(tickers).map(group).collect()
}

impl Group<'_, '_> {
    /// Merges a pair, which may not be there. `taken` is its slot where it was taken out of the queue.
    fn merge(&mut self, left: u32, right: u32, taken: Option<u32>) -> Result<()> {
        let Trainer { arena, pairs, .. } = &mut self.trainer;
        let Some(slot) = taken.or_else(|| pairs.find(left, right)) else {
            arena.add_token(arena.length(left).saturating_add(arena.length(right)))?;
            self.trainer.add_token(left, right, None);
            self.trainer.left.add_token();
            self.trainer.right.add_token();
            return Ok(());
        };
        self.trainer.merge(slot)?;
        let Trainer { arena, pairs, beside, .. } = &mut self.trainer;
        // The list begins with the positions where it was replaced.
        let replaced = (0..beside.len()).map(|i| arena.weight(pairs.position(slot, i)));
        self.tokens -= replaced.sum::<u64>();
        match taken {
            Some(slot) => pairs.free(slot),
            // The queue still has it.
            None => pairs.forget(slot),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
