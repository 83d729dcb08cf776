//! A definition's parts -> the engine's tokenizer. Python's side of the names is `digram.definition`.

use crate::encoder::Encoder;
use crate::errors::exception;
use crate::ids::{numbers, triples};
use crate::steps::{self, Words};
use digram::encode;
use digram::split::Splitter;
use digram::vocabulary::{Base, Fallback, Found, Pairs, Special, Unknown, Vocabulary};
use digram::{Error, Result};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The pieces of a flat buffer: piece i ends at `ends[i]`.
fn slices<'a>(bytes: &'a [u8], ends: &[u64]) -> Result<Vec<&'a [u8]>> {
    let mut start = 0;
    let slice = |&end: &u64| {
        let end = end as usize;
        let piece = bytes.get(start..end).ok_or_else(not_ascending)?;
        start = end;
        Ok(piece)
    };
    ends.iter().map(slice).collect()
}

/// The pieces of a flat buffer with their ids.
fn spelt<'a>(bytes: &'a [u8], ends: &[u64], ids: &[u32]) -> Result<Vec<(&'a [u8], u32)>> {
    if ends.len() != ids.len() {
        return Err(Error::Argument(format!("{} tokens have {} ids", ends.len(), ids.len())));
    }
    let mut start = 0;
    let piece = |(&end, &id): (&u64, &u32)| {
        let end = end as usize;
        let piece = bytes.get(start..end).ok_or_else(not_ascending)?;
        start = end;
        Ok((piece, id))
    };
    ends.iter().zip(ids).map(piece).collect()
}

fn not_ascending() -> Error {
    Error::Argument("the ends are not ascending".into())
}

fn unknown(id: Option<u32>, first_byte_id: Option<u32>) -> Unknown {
    match (id, first_byte_id) {
        (Some(id), _) => Unknown::Token(id),
        (None, Some(first)) => Unknown::Bytes(Box::new(std::array::from_fn(|byte| first + byte as u32))),
        (None, None) => Unknown::Error,
    }
}

/// Flat u32: the merges and the rules that an earlier build found, in triples, and the ids that are not canonical.
type Flat<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);

fn found_before(flat: Option<Flat<'_>>) -> PyResult<Option<Found>> {
    let Some((merges, rules, not_canonical)) = flat else {
        return Ok(None);
    };
    Ok(Some(Found {
        merges: triples(&merges)?,
        rules: triples(&rules)?,
        not_canonical: numbers(&not_canonical)?.into_owned(),
    }))
}

fn splitter(pattern: Option<&str>) -> Result<Splitter> {
    pattern.map_or_else(|| Ok(Splitter::none()), Splitter::new)
}

fn built(py: Python<'_>, build: impl FnOnce() -> Result<encode::Encoder> + Send) -> PyResult<Encoder> {
    py.detach(build).map(Encoder::new).map_err(|error| exception(py, error, None))
}

/// A vocabulary of merges: flat u32 triples (left, right, new), lowest rank first. The base symbols are the bytes 0 to 255,
/// or `characters` with ids from 0.
#[pyfunction]
#[pyo3(signature = (merges, *, characters=None, unknown_id=None, first_byte_id=None, specials=Vec::new(), split=None,
    found=None))]
#[expect(clippy::too_many_arguments, reason = "they are the fields of a definition")]
pub fn from_merges(
    py: Python<'_>,
    merges: &Bound<'_, PyAny>,
    characters: Option<String>,
    unknown_id: Option<u32>,
    first_byte_id: Option<u32>,
    specials: Vec<Special>,
    split: Option<String>,
    found: Option<Flat<'_>>,
) -> PyResult<Encoder> {
    let (merges, found) = (triples(merges)?, found_before(found)?);
    built(py, || {
        let base = match characters {
            Some(characters) => {
                Base::Characters(characters.chars().zip(0..).collect(), unknown(unknown_id, first_byte_id))
            }
            None => Base::bytes(),
        };
        let vocabulary = Vocabulary::from_merges(&base, merges, &specials, found)?;
        encode::Encoder::new(vocabulary, splitter(split.as_deref())?, &specials)
    })
}

/// A vocabulary of ranked bytes: token i is `tokens[ends[i - 1]:ends[i]]` (flat u64) and has the id `ids[i]` (flat u32).
#[pyfunction]
#[pyo3(signature = (tokens, ends, ids, *, specials=Vec::new(), split=None, found=None))]
pub fn from_ranks(
    tokens: &Bound<'_, PyBytes>,
    ends: &Bound<'_, PyAny>,
    ids: &Bound<'_, PyAny>,
    specials: Vec<Special>,
    split: Option<String>,
    found: Option<Flat<'_>>,
) -> PyResult<Encoder> {
    let (bytes, ends, ids, found) = (tokens.as_bytes(), numbers(ends)?, numbers(ids)?, found_before(found)?);
    built(tokens.py(), || {
        let vocabulary = Vocabulary::from_ranks(&spelt(bytes, &ends, &ids)?, &specials, found)?;
        encode::Encoder::new(vocabulary, splitter(split.as_deref())?, &specials)
    })
}

/// A vocabulary of an ordered token list, of str tokens (`characters`) or bytes.
#[pyfunction]
#[pyo3(signature = (tokens, ends, characters, *, unknown_id=None, specials=Vec::new(), split=None, found=None))]
pub fn from_list(
    tokens: &Bound<'_, PyBytes>,
    ends: &Bound<'_, PyAny>,
    characters: bool,
    unknown_id: Option<u32>,
    specials: Vec<Special>,
    split: Option<String>,
    found: Option<Flat<'_>>,
) -> PyResult<Encoder> {
    let (bytes, ends, found) = (tokens.as_bytes(), numbers(ends)?, found_before(found)?);
    built(tokens.py(), || {
        let (list, unknown) = (slices(bytes, &ends)?, unknown(unknown_id, None));
        let vocabulary = Vocabulary::from_list(&list, characters, unknown, &specials, found)?;
        encode::Encoder::new(vocabulary, splitter(split.as_deref())?, &specials)
    })
}

/// A vocabulary of pairs in general: tokens as of `from_ranks`, merges as flat u32 triples (left, right, new), and what is done
/// around splitting and merging, as steps of strings (see `digram.definition`).
#[pyfunction]
#[pyo3(signature = (tokens, ends, ids, merges, ranked, *, characters=false, whole=false, byte_ids=None, unknown_id=None,
    fuse_unknown=false, specials=Vec::new(), split=None, steps=Vec::new(), normalizer=Vec::new(), byte_characters=false,
    added=Vec::new(), decoder=Vec::new(), template=Default::default(), found=None))]
#[expect(clippy::too_many_arguments, reason = "they are the fields of a definition")]
pub fn from_pairs(
    tokens: &Bound<'_, PyBytes>,
    ends: &Bound<'_, PyAny>,
    ids: &Bound<'_, PyAny>,
    merges: &Bound<'_, PyAny>,
    ranked: &Bound<'_, PyAny>,
    characters: bool,
    whole: bool,
    byte_ids: Option<Vec<u32>>,
    unknown_id: Option<u32>,
    fuse_unknown: bool,
    specials: Vec<Special>,
    split: Option<String>,
    steps: Vec<Words>,
    normalizer: Vec<Words>,
    byte_characters: bool,
    added: Vec<(String, u32, String)>,
    decoder: Vec<Words>,
    template: (Vec<u32>, Vec<u32>),
    found: Option<Flat<'_>>,
) -> PyResult<Encoder> {
    let (bytes, ends, ids, merges) = (tokens.as_bytes(), numbers(ends)?, numbers(ids)?, triples(merges)?);
    let (ranked, found) = (numbers(ranked)?, found_before(found)?);
    built(tokens.py(), || {
        let spelt = spelt(bytes, &ends, &ids)?;
        let wrong = |_| Error::Argument("byte_ids must be 256 ids".into());
        let bytes = byte_ids.map(|ids| ids.try_into().map(Box::new).map_err(wrong)).transpose()?;
        let unknown = Fallback { bytes, token: unknown_id, fuse: fuse_unknown };
        let pairs = Pairs { tokens: &spelt, merges, ranked: &ranked, characters, whole, unknown };
        let vocabulary = Vocabulary::from_pairs(pairs, &specials, found)?;
        let splitter = match split {
            Some(pattern) => Splitter::new(&pattern)?,
            None => steps::splitter(&steps)?,
        };
        let around = encode::Around {
            normalizer: steps::normalizer(&normalizer)?,
            added: added.into_iter().map(steps::added).collect(),
            byte_characters,
            decoder: steps::decoder(&decoder)?,
            template,
        };
        encode::Encoder::with(vocabulary, splitter, &specials, around)
    })
}
