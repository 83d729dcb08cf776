//! The split patterns that published vocabularies were trained with, letter for letter.

/// GPT-2's pattern, as published with GPT-2.
pub const GPT2: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

/// GPT-2's pattern as tiktoken spells it for `r50k_base` and `p50k_base`; it cuts every text as [`GPT2`] does.
pub const GPT2_TIKTOKEN: &str = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s";

/// The pattern of `cl100k_base` in tiktoken 0.8 and later.
pub const CL100K: &str = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s";

/// The older pattern of `cl100k_base`, which Llama 3 and most copies use. At the end of a text it cuts after the last
/// line break of a run of white space, where [`CL100K`] keeps the run whole.
pub const CL100K_CLASSIC: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// The pattern of Qwen 2 and 3: [`CL100K_CLASSIC`] with each number by itself.
pub const QWEN2: &str =
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// The pattern of `o200k_base` and `o200k_harmony`: tiktoken's seven alternatives, joined by `|`.
pub const O200K: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
);

/// Name and text of every named pattern.
pub const NAMED: [(&str, &str); 4] =
    [("gpt2", GPT2), ("cl100k", CL100K), ("cl100k-classic", CL100K_CLASSIC), ("o200k", O200K)];

/// The text of a named pattern; `None` for a name that is not in [`NAMED`].
pub fn named(name: &str) -> Option<&'static str> {
    NAMED.iter().find(|(known, _)| *known == name).map(|&(_, pattern)| pattern)
}
