//! Patterns as public files spell them, and the scanner of each.

use super::super::general::Dialect::{self, Oniguruma, Rust};
use super::super::scanner::{Cl100k, Contractions, Gpt2, O200k, Scanner};
use super::super::{CL100K, CL100K_CLASSIC, GPT2, GPT2_TIKTOKEN, O200K, QWEN2};

/// Whose it is, its text, the dialects in which it has this meaning, and its scanner.
pub(super) type Spelling = (&'static str, &'static str, &'static [Dialect], Scanner);

const BOTH: &[Dialect] = &[Rust, Oniguruma];
const ANY_CASE: Contractions = Contractions::AnyCase;

pub(super) const SPELLINGS: &[Spelling] = &[
    ("GPT-2, encoder.py; ByteLevel of tokenizers", GPT2, BOTH, Scanner::Gpt2(Gpt2::GPT2)),
    ("r50k_base, p50k_base in tiktoken", GPT2_TIKTOKEN, BOTH, Scanner::Gpt2(Gpt2::GPT2)),
    (
        "r50k_base in tiktoken before 0.8",
        r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
        BOTH,
        Scanner::Gpt2(Gpt2::GPT2),
    ),
    (
        "GPT-2's, of other copies",
        r"'s|'t|'re|'ve|'m|'ll|'d| ?[\p{L}]+| ?[\p{N}]+| ?[^\s\p{N}\p{L}]+|\s+$|\s+(?!\S)|\s+",
        // To Oniguruma `\s+$` also ends before a line feed within the run.
        &[Rust],
        Scanner::Gpt2(Gpt2::GPT2),
    ),
    ("cl100k_base in tiktoken", CL100K, &[Rust], Scanner::Cl100k(Cl100k::CL100K)),
    // There `{1,3}+` repeats.
    (
        "cl100k_base, read by Oniguruma",
        CL100K,
        &[Oniguruma],
        Scanner::Cl100k(Cl100k { numbers: usize::MAX, ..Cl100k::CL100K }),
    ),
    (
        "cl100k_base as digram writes it for Oniguruma",
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|(?>\p{N}{1,3})| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++\z|\s*[\r\n]|\s+(?!\S)|\s",
        BOTH,
        Scanner::Cl100k(Cl100k::CL100K),
    ),
    (
        "cl100k_base at first; Llama 3, GLM 4, OLMo 2, Phi 4, DBRX",
        CL100K_CLASSIC,
        BOTH,
        Scanner::Cl100k(Cl100k::CLASSIC),
    ),
    (
        "cl100k_base in tiktoken 0.4 to 0.7",
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+",
        BOTH,
        Scanner::Cl100k(Cl100k::CLASSIC),
    ),
    (
        "nanochat",
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,2}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+",
        BOTH,
        Scanner::Cl100k(Cl100k { numbers: 2, ..Cl100k::CLASSIC }),
    ),
    (
        "llama.cpp's llama3",
        r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        BOTH,
        Scanner::Cl100k(Cl100k { contractions: ANY_CASE, ..Cl100k::CLASSIC }),
    ),
    ("Qwen 2 and 3", QWEN2, BOTH, Scanner::Cl100k(Cl100k::QWEN2)),
    (
        "llama.cpp's bailingmoe",
        r"'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+",
        BOTH,
        Scanner::Cl100k(Cl100k { contractions: ANY_CASE, ..Cl100k::QWEN2 }),
    ),
    (
        "Ling (bailingmoe)",
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+",
        BOTH,
        Scanner::Cl100k(Cl100k::QWEN2),
    ),
    (
        "llama.cpp's ufakzeka",
        r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        BOTH,
        Scanner::Cl100k(Cl100k { contractions: Contractions::None, ..Cl100k::QWEN2 }),
    ),
    (
        "Qwen 3.5",
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        BOTH,
        Scanner::Cl100k(Cl100k { marks: true, ..Cl100k::QWEN2 }),
    ),
    ("o200k_base, o200k_harmony in tiktoken; Llama 4", O200K, BOTH, Scanner::O200k(O200k::O200K)),
    (
        "o200k_base in one line, classes in another order",
        r"[^\r\n\p{L}\p{N}]?[\p{M}\p{Lu}\p{Lo}\p{Lt}\p{Lm}]*[\p{Ll}\p{M}\p{Lm}\p{Lo}]+(?:'(?i:[sdmt]|ll|ve|re))?|[^\r\n\p{N}\p{L}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?:'(?i:[sdmt]|ll|ve|re))?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]|\s+(?!\S)|\s",
        BOTH,
        Scanner::O200k(O200k::O200K),
    ),
    (
        "Mistral's tekken",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        BOTH,
        Scanner::O200k(O200k::TEKKEN),
    ),
    (
        "Kimi K2, tokenization_kimi.py",
        r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        BOTH,
        Scanner::O200k(O200k { slash: false, han: true, ..O200k::O200K }),
    ),
];
