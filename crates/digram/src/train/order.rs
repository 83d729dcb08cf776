//! The order of tokens as strings, in two integers a token, for `Ties::SmallestTokens`.
//!
//! Tokens may be long (a passage of a megabyte that occurs twice ends as one token, by way of many that are nearly as
//! long), so they are never spelled out. Sort all suffixes of the symbol array once. A token that occurs at position p
//! and has n symbols is a prefix of suffix p; the suffixes that begin with it are neighbours in the sorted order, an
//! interval of ranks. Its key is (lo, n), where lo is the first rank of that interval: the last rank at or before
//! rank(p) whose common prefix with the suffix before it is shorter than n.
//!
//! *Comparing keys compares strings.* Take tokens s and t, s != t. If s is a prefix of t, every suffix that begins with
//! t begins with s: the interval of t lies in that of s, so lo(s) <= lo(t), and s is shorter: (lo, n) puts s first, as
//! strings do. If neither is a prefix of the other, they differ first at some place i that both have, and every suffix
//! that begins with s compares to every suffix that begins with t as s to t, at place i: the intervals are disjoint and
//! lie in the order of the strings. What follows a token in its suffixes, boundaries included, never enters: tokens hold
//! no boundary, and common prefixes are compared to n only.
//!
//! The suffixes are sorted by induced sorting (Nong, Zhang and Chan 2009) as implemented by libsais, the common prefixes
//! come from Karkkainen, Manzini and Puglisi 2009; both are linear, whatever the text.

use super::arena::{Arena, BOUNDARY};
use super::ticker::Ticker;
use crate::{Error, Result};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Entries of one level of minima that one entry of the next level covers.
const FAN: usize = 16;
/// The most cells: libsais counts them in an `i32`.
const CELL_LIMIT: u64 = i32::MAX as u64;
/// Arenas of more cells are sorted in another thread, while this one keeps calling the callback.
const SMALL: usize = 1 << 16;

/// A token's place among all tokens as strings.
pub(super) type TokenKey = u64;

/// The suffix order of the symbols of an arena.
pub(super) struct TokenOrder {
    /// Position -> rank of its suffix.
    ranks: Vec<i32>,
    /// `minima[0][r]` is the common prefix of the suffixes of ranks r - 1 and r; an entry of a further level is the
    /// minimum of `FAN` entries of the one before.
    minima: Vec<Vec<i32>>,
}

impl TokenOrder {
    /// Sorts the suffixes of an arena in which nothing was merged yet.
    pub(super) fn new(arena: &Arena, ticker: &mut Ticker<'_>) -> Result<Self> {
        let cells = arena.cells();
        if cells.len() as u64 > CELL_LIMIT {
            return Err(Error::TooLarge { limit: CELL_LIMIT });
        }
        // A boundary is smaller than any symbol here, though any consistent order would do.
        let mut text = Vec::with_capacity(cells.len());
        for &cell in cells {
            text.push(if cell == BOUNDARY { 0 } else { cell as i32 + 1 });
            ticker.work(1)?;
        }
        let (ranks, lcp) = if text.len() < SMALL { sort_suffixes(text) } else { sort_in_thread(text, ticker)? };
        let mut minima = vec![lcp];
        while minima[minima.len() - 1].len() > FAN {
            let last = &minima[minima.len() - 1];
            ticker.work(last.len())?;
            minima.push(last.chunks(FAN).map(|chunk| *chunk.iter().min().expect("a chunk is not empty")).collect());
        }
        Ok(TokenOrder { ranks, minima })
    }

    /// The key of the token of `length` symbols that occurs at `position`.
    pub(super) fn key(&self, position: u32, length: u32) -> TokenKey {
        let first = self.first_rank(self.ranks[position as usize] as usize, length as i32);
        (first as u64) << 32 | u64::from(length)
    }

    /// The last rank at or before `rank` whose common prefix with the one before is shorter than `length`.
    fn first_rank(&self, rank: usize, length: i32) -> usize {
        // Up: look left within the block, then in the blocks of the next level.
        let (mut level, mut end) = (0, rank + 1);
        let mut found = loop {
            let minima = &self.minima[level];
            let start = (end - 1) / FAN * FAN;
            if let Some(i) = minima[start..end].iter().rposition(|&minimum| minimum < length) {
                break start + i;
            }
            // Rank 0 has no suffix before it, so its entry is 0 and there is always a block to the left.
            (level, end) = (level + 1, start / FAN);
        };
        // Down: the last such entry of the block.
        while level > 0 {
            level -= 1;
            let minima = &self.minima[level];
            let (start, end) = (found * FAN, minima.len().min((found + 1) * FAN));
            let i = minima[start..end].iter().rposition(|&minimum| minimum < length);
            found = start + i.expect("the minimum of a block is in it");
        }
        found
    }
}

/// `sort_suffixes` in a thread of its own, which on an interrupt is left to end by itself: it cannot be stopped, and
/// holds nothing but its own memory.
fn sort_in_thread(text: Vec<i32>, ticker: &mut Ticker<'_>) -> Result<(Vec<i32>, Vec<i32>)> {
    let (sender, receiver) = channel();
    let thread = thread::spawn(move || sender.send(sort_suffixes(text)));
    loop {
        match receiver.recv_timeout(Duration::from_millis(25)) {
            Ok(sorted) => return Ok(sorted),
            Err(RecvTimeoutError::Timeout) => ticker.call()?,
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(_) => unreachable!("the thread sends before it ends"),
            },
        }
    }
}

/// The rank of every suffix, and by rank the length of the common prefix with the suffix before (0 for the first).
fn sort_suffixes(mut text: Vec<i32>) -> (Vec<i32>, Vec<i32>) {
    if text.is_empty() {
        return (Vec::new(), Vec::new());
    }
    let sorted = libsais::SuffixArrayConstruction::for_text_mut(&mut text).in_owned_buffer32().single_threaded().run();
    let sorted = sorted.expect("libsais fails only for want of memory");
    let common = sorted.plcp_construction().single_threaded().run().expect("libsais fails only for want of memory");
    let (mut suffixes, plcp, _) = common.into_parts();
    // Each array takes the place of one that is done: the text becomes the ranks, the suffixes the common prefixes.
    let mut ranks = text;
    for (rank, suffix) in suffixes.iter_mut().enumerate() {
        let position = *suffix as usize;
        ranks[position] = rank as i32;
        *suffix = plcp[position];
    }
    suffixes[0] = 0;
    (ranks, suffixes)
}

#[cfg(test)]
mod tests {
    use super::super::TrainOptions;
    use super::super::tests::{Random, counts};
    use super::*;
    use std::ops::ControlFlow;

    /// All substrings of random pieces: keys compare as the strings do, and equal strings have equal keys.
    #[test]
    fn keys_compare_as_strings() {
        let mut callback = |_| ControlFlow::Continue(());
        let mut ticker = Ticker::new(&mut callback);
        for seed in 0..200 {
            let mut random = Random::new(seed);
            let letters = &['b', 'a', 'c', 'd'][..1 + random.below(4)];
            let texts: Vec<String> = (0..1 + random.below(4))
                .map(|_| {
                    let half: String = (0..1 + random.below(12)).map(|_| *random.one_of(letters)).collect();
                    half.repeat(1 + random.below(4))
                })
                .collect();
            let pieces: Vec<_> = texts.iter().map(|text| (&text[..], 1)).collect();
            let (arena, _) = Arena::new(&counts(&pieces), &TrainOptions::default(), &mut ticker).unwrap();
            let order = TokenOrder::new(&arena, &mut ticker).unwrap();
            let cells = arena.cells();
            let mut tokens = Vec::new();
            for start in 0..cells.len() {
                for end in start + 1..=cells.len() {
                    if cells[end - 1] == BOUNDARY {
                        break;
                    }
                    tokens.push((&cells[start..end], order.key(start as u32, (end - start) as u32)));
                }
            }
            tokens.sort();
            for pair in tokens.windows(2) {
                assert_eq!(pair[0].0.cmp(pair[1].0), pair[0].1.cmp(&pair[1].1), "seed {seed}: {pair:?}");
            }
        }
    }

    /// Suffixes and common prefixes, against sorting them as slices.
    #[test]
    fn suffixes_are_sorted() {
        for seed in 0..200 {
            let mut random = Random::new(seed);
            let (length, symbols) = (random.below(300), 1 + random.below(5));
            let text: Vec<i32> = (0..length).map(|_| random.below(symbols) as i32).collect();
            let mut sorted: Vec<usize> = (0..text.len()).collect();
            sorted.sort_by_key(|&start| &text[start..]);
            let (ranks, lcp) = sort_suffixes(text.clone());
            for (rank, &start) in sorted.iter().enumerate() {
                assert_eq!(ranks[start], rank as i32);
                let before = if rank == 0 { &[] } else { &text[sorted[rank - 1]..] };
                let common = before.iter().zip(&text[start..]).take_while(|(a, b)| a == b).count();
                assert_eq!(lcp[rank], common as i32);
            }
        }
    }

    /// Texts above `SMALL` are sorted in a thread, with more levels of minima: against the definition of the key.
    #[test]
    fn long_texts_have_the_first_rank_too() {
        let mut callback = |_| ControlFlow::Continue(());
        let mut ticker = Ticker::new(&mut callback);
        let mut random = Random::new(5);
        let half: String = (0..SMALL).map(|_| *random.one_of(&['a', 'a', 'a', 'b'])).collect();
        let (arena, _) = Arena::new(&counts(&[(&half.repeat(2), 1)]), &TrainOptions::default(), &mut ticker).unwrap();
        let order = TokenOrder::new(&arena, &mut ticker).unwrap();
        let lcp = &order.minima[0];
        for _ in 0..3000 {
            let rank = random.below(lcp.len());
            let scale = *random.one_of(&[3, 10, 30, 300, SMALL]);
            let length = 1 + random.below(scale) as i32;
            let first = (0..=rank).rfind(|&r| lcp[r] < length).unwrap();
            assert_eq!(order.first_rank(rank, length), first);
        }
    }
}
