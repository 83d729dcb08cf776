//! Steps as Python writes them, tuples of words, to the engine's.

use digram::encode::{AddedToken, Decoder, DecoderStep};
use digram::normalize::{self, Normalizer};
use digram::split::{Behaviour, Find, Prefix, Splitter, Step};
use digram::{Error, Result};

/// The name of a step and its arguments.
pub type Words = Vec<String>;

fn unknown(step: &[String]) -> Error {
    Error::Argument(format!("{step:?} is no step that this version of digram knows: update digram"))
}

/// A sole character.
fn character(text: &str, step: &[String]) -> Result<char> {
    let mut characters = text.chars();
    characters.next().filter(|_| characters.next().is_none()).ok_or_else(|| unknown(step))
}

fn words(step: &[String]) -> Vec<&str> {
    step.iter().map(String::as_str).collect()
}

/// The normalizer.
pub fn normalizer(steps: &[Words]) -> Result<Normalizer> {
    let one = |step: &Words| {
        Ok(match words(step)[..] {
            ["nfc"] => normalize::Step::Nfc,
            ["nfd"] => normalize::Step::Nfd,
            ["nfkc"] => normalize::Step::Nfkc,
            ["nfkd"] => normalize::Step::Nfkd,
            ["lowercase"] => normalize::Step::Lowercase,
            ["strip", "left"] => normalize::Step::Strip { left: true, right: false },
            ["strip", "right"] => normalize::Step::Strip { left: false, right: true },
            ["strip", "both"] => normalize::Step::Strip { left: true, right: true },
            ["prepend", text] => normalize::Step::Prepend(text.into()),
            ["replace", text, content] => normalize::Step::Replace(Find::text(text)?, content.into()),
            ["replace-regex", pattern, content] => normalize::Step::Replace(Find::regex(pattern)?, content.into()),
            ["byte-characters"] => normalize::Step::ByteCharacters,
            _ => return Err(unknown(step)),
        })
    };
    Ok(Normalizer(steps.iter().map(one).collect::<Result<_>>()?))
}

/// The split.
pub fn splitter(steps: &[Words]) -> Result<Splitter> {
    let one = |step: &Words| {
        Ok(match words(step)[..] {
            ["cut", kind, pattern, behaviour, which] => Step::Cut {
                find: match kind {
                    "text" => Find::text(pattern)?,
                    "regex" => Find::regex(pattern)?,
                    "numbers" => Find::numbers(),
                    "punctuation" => Find::punctuation(),
                    "white-space" => Find::white_space(),
                    "words" => Find::words(),
                    _ => return Err(unknown(step)),
                },
                behaviour: match behaviour {
                    "removed" => Behaviour::Removed,
                    "isolated" => Behaviour::Isolated,
                    "merged-with-previous" => Behaviour::MergedWithPrevious,
                    "merged-with-next" => Behaviour::MergedWithNext,
                    "contiguous" => Behaviour::Contiguous,
                    _ => return Err(unknown(step)),
                },
                invert: match which {
                    "matches" => false,
                    "gaps" => true,
                    _ => return Err(unknown(step)),
                },
            },
            ["prefix-space"] => Step::PrefixSpace,
            ["metaspace", mark, prefix, split] => Step::Metaspace {
                replacement: character(mark, step)?,
                prefix: match prefix {
                    "always" => Prefix::Always,
                    "first" => Prefix::First,
                    "never" => Prefix::Never,
                    _ => return Err(unknown(step)),
                },
                split: match split {
                    "cut" => true,
                    "keep" => false,
                    _ => return Err(unknown(step)),
                },
            },
            ["byte-characters"] => Step::ByteCharacters,
            _ => return Err(unknown(step)),
        })
    };
    Ok(Splitter::of_steps(steps.iter().map(one).collect::<Result<_>>()?))
}

/// The decoder; without steps, bytes as they are.
pub fn decoder(steps: &[Words]) -> Result<Decoder> {
    let one = |step: &Words| {
        let number = |text: &str| text.parse().map_err(|_| unknown(step));
        Ok(match words(step)[..] {
            ["byte-characters"] => DecoderStep::ByteCharacters,
            ["metaspace", mark, prefix] => {
                DecoderStep::Metaspace { replacement: character(mark, step)?, prefix: prefix != "never" }
            }
            ["replace", text, content] if !text.is_empty() => DecoderStep::Replace(text.into(), content.into()),
            ["leading-mark", mark, which @ ("first" | "all")] => {
                DecoderStep::LeadingMark { mark: character(mark, step)?, all: which == "all" }
            }
            ["byte-fallback"] => DecoderStep::ByteFallback { whole_runs: true },
            ["byte-pieces"] => DecoderStep::ByteFallback { whole_runs: false },
            ["fuse"] => DecoderStep::Fuse,
            ["strip", mark, start, stop] => {
                DecoderStep::Strip { content: character(mark, step)?, start: number(start)?, stop: number(stop)? }
            }
            _ => return Err(unknown(step)),
        })
    };
    match steps {
        [] => Ok(Decoder::Bytes),
        [step] if words(step)[..] == ["spaced"] => Ok(Decoder::Spaced),
        _ => Ok(Decoder::Steps(steps.iter().map(one).collect::<Result<_>>()?)),
    }
}

/// An added token of its text, its id and the names of its flags, a space between two.
pub fn added((text, id, flags): (String, u32, String)) -> AddedToken {
    let has = |flag| flags.split(' ').any(|word| word == flag);
    AddedToken {
        text,
        id,
        special: has("special"),
        lstrip: has("lstrip"),
        rstrip: has("rstrip"),
        single_word: has("single_word"),
        normalized: has("normalized"),
    }
}
