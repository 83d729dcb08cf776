//! The characters that a character alphabet is made of.

use super::TrainOptions;
use super::ticker::Ticker;
use crate::count::PieceCounts;
use crate::{Error, Result};

/// Pieces that are read some at a time, as often as needed.
pub(super) type Read<'a> = dyn Fn(&mut dyn FnMut(&PieceCounts) -> Result<()>) -> Result<()> + 'a;

/// The characters of an alphabet, sorted, and how many characters the distinct pieces have together.
///
/// They are those of the pieces and the `initial` ones. Of more than `limit`, the initial ones and the most frequent
/// others stay, of equally frequent ones the first by code point.
pub(super) fn characters(read: &Read<'_>, options: &TrainOptions, ticker: &mut Ticker<'_>) -> Result<(Vec<char>, u64)> {
    // A bit for each code point: a small text should not have to wait for the whole of Unicode.
    let mut seen = vec![0_u64; (char::MAX as usize + 1) / 64];
    let mut symbols = 0;
    read(&mut |counts| {
        for (piece, _) in counts.iter() {
            let text = str::from_utf8(piece).map_err(|error| Error::NotText { offset: error.valid_up_to() })?;
            for character in text.chars() {
                set(&mut seen, character);
                symbols += 1;
                ticker.work(1)?;
            }
        }
        Ok(())
    })?;
    let Some(limit) = options.limit else {
        options.initial.iter().for_each(|&character| set(&mut seen, character));
        return Ok((sorted(&seen), symbols));
    };
    let mut kept = vec![0_u64; seen.len()];
    options.initial.iter().for_each(|&character| set(&mut kept, character));
    let initial = sorted(&kept).len() as u64;
    let Some(others) = limit.checked_sub(initial) else {
        return Err(Error::Argument(format!(
            "limit_alphabet={limit} is below the {initial} characters that the alphabet has in any case: ask for at \
             least {initial}"
        )));
    };
    let mut by_count = frequencies(read, sorted(&seen), ticker)?;
    by_count.retain(|&(_, character)| kept[character as usize / 64] >> (character as usize % 64) & 1 == 0);
    by_count.sort_by_key(|&(count, character)| (std::cmp::Reverse(count), character));
    by_count.truncate(usize::try_from(others).unwrap_or(usize::MAX));
    by_count.iter().for_each(|&(_, character)| set(&mut kept, character));
    Ok((sorted(&kept), symbols))
}

/// How often each of the characters occurs.
fn frequencies(read: &Read<'_>, characters: Vec<char>, ticker: &mut Ticker<'_>) -> Result<Vec<(u128, char)>> {
    let mut index = vec![0_u32; characters.last().map_or(0, |&last| last as usize + 1)];
    for (i, &character) in (0..).zip(&characters) {
        index[character as usize] = i;
    }
    let mut found: Vec<_> = characters.into_iter().map(|character| (0, character)).collect();
    read(&mut |counts| {
        for (piece, count) in counts.iter() {
            for character in str::from_utf8(piece).expect("it was read before").chars() {
                found[index[character as usize] as usize].0 += u128::from(count);
                ticker.work(1)?;
            }
        }
        Ok(())
    })?;
    Ok(found)
}

fn set(bits: &mut [u64], character: char) {
    bits[character as usize / 64] |= 1 << (character as usize % 64);
}

fn sorted(bits: &[u64]) -> Vec<char> {
    let of_word = |(word, &bits): (usize, &u64)| {
        let set = (0..64).filter(move |bit| bits >> bit & 1 == 1);
        set.map(move |bit| char::from_u32(word as u32 * 64 + bit).expect("it was a character"))
    };
    bits.iter().enumerate().filter(|word| *word.1 != 0).flat_map(of_word).collect()
}
