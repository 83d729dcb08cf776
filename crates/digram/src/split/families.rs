//! The scanner of a pattern, found by what the pattern means.
//!
//! One split is spelt in many ways: `'(?i:[sdmt]|ll|ve|re)` and `(?i:'s|'t|'re|'ve|'m|'ll|'d)`, `\s*[\r\n]` and
//! `\s*[\r\n]+`, possessive or not, alternatives or members of a class in another order. So spellings are not compared. What
//! a pattern takes of a few short texts says which scanner it could be, with which parameters; that scanner's own
//! pattern is then proved to match the same at every place of every text (`linear::meaning`). What cannot be proved runs
//! on the general engine, as before.

#[cfg(test)]
mod spellings;
#[cfg(test)]
mod tests;

use super::general::Dialect;
use super::linear::Meaning;
use super::scanner::{Cl100k, Contractions, Gpt2, Gpt2Numbers, O200k, Scanner, Space};
use super::steps::{Behaviour, Step};
use super::{CL100K, CL100K_CLASSIC, GPT2, GPT2_TIKTOKEN, O200K, QWEN2};

/// What a pattern is known to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// All that a scanner does.
    Scanner(Scanner),
    /// `\p{N}{1,n}`; `usize::MAX` for any number.
    Numbers(usize),
    /// `[一-龥぀-ゟ゠-ヿ]+`
    Cjk,
    /// The third of DeepSeek's patterns.
    DeepSeekRest,
}

/// The second of DeepSeek's patterns.
const CJK: &str = r"[\u{4E00}-\u{9FA5}\u{3040}-\u{30FF}]+";
/// The third.
const DEEPSEEK_REST: &str =
    r"[!-/:-@\[-`{-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// What a pattern is, if that is known.
pub(super) fn of_pattern(pattern: &str, dialect: Dialect) -> Option<Known> {
    // A proof takes up to a millisecond or two; the patterns that most files hold need none.
    let spelt =
        SPELT.iter().find(|(text, _)| *text == pattern && !(pattern == CL100K && dialect == Dialect::Oniguruma));
    spelt.map(|&(_, scanner)| Known::Scanner(scanner)).or_else(|| proved(pattern, dialect))
}

/// The patterns with a name, whose scanners are known beforehand; to Oniguruma cl100k's `{1,3}+` means something else.
const SPELT: [(&str, Scanner); 6] = [
    (GPT2, Scanner::Gpt2(Gpt2::GPT2)),
    (GPT2_TIKTOKEN, Scanner::Gpt2(Gpt2::GPT2)),
    (CL100K, Scanner::Cl100k(Cl100k::CL100K)),
    (CL100K_CLASSIC, Scanner::Cl100k(Cl100k::CLASSIC)),
    (QWEN2, Scanner::Cl100k(Cl100k::QWEN2)),
    (O200K, Scanner::O200k(O200k::O200K)),
];

/// What a pattern is proved to be.
fn proved(pattern: &str, dialect: Dialect) -> Option<Known> {
    let meaning = Meaning::new(pattern, dialect)?;
    let known = candidate(&meaning)?;
    meaning.is(&known.pattern()?).then_some(known)
}

/// The scanner that cuts as some steps do, one after the other.
pub(super) fn of_steps(steps: &[Step]) -> Option<Scanner> {
    let known: Vec<Known> = steps.iter().map(of_step).collect::<Option<_>>()?;
    match known[..] {
        [Known::Scanner(scanner)] => Some(scanner),
        // To the pieces of the first step, that is numbers, GPT-2's pattern does nothing.
        [Known::Numbers(most), Known::Scanner(Scanner::Gpt2(gpt2 @ Gpt2 { numbers: Gpt2Numbers::Run, .. }))] => {
            Some(Scanner::Gpt2(Gpt2 { numbers: Gpt2Numbers::Apart(most), ..gpt2 }))
        }
        // The first two have no character in common, and neither cuts what the other has cut out.
        [Known::Numbers(3), Known::Cjk, Known::DeepSeekRest] | [Known::Cjk, Known::Numbers(3), Known::DeepSeekRest] => {
            Some(Scanner::DeepSeek)
        }
        _ => None,
    }
}

/// What a step is, if all it does is to make pieces of the matches and the gaps.
fn of_step(step: &Step) -> Option<Known> {
    let Step::Cut { find, behaviour, invert } = step else {
        return None;
    };
    match (find.known()?, behaviour, invert) {
        (known, Behaviour::Isolated, _) => Some(known),
        // A scanner's pattern leaves no gaps.
        (Known::Scanner(scanner), Behaviour::Removed, true) => Some(Known::Scanner(scanner)),
        (Known::Numbers(_), Behaviour::Contiguous, _) => Some(Known::Numbers(usize::MAX)),
        _ => None,
    }
}

/// What a pattern could be.
fn candidate(meaning: &Meaning) -> Option<Known> {
    let takes = |text: &str| meaning.takes(text);
    let contractions = |takes_one: &dyn Fn(&str) -> bool| match ["s", "S", "ſ"].map(takes_one) {
        [false, ..] => Contractions::None,
        [_, false, _] => Contractions::Plain,
        [_, _, false] => Contractions::AnyCase,
        _ => Contractions::Folded,
    };
    // A contraction before anything else takes two characters, whatever follows; one at the end of a word, three.
    let before = |letter: &str| takes(&format!("'{letter}a")) == 2;
    let behind = |letter: &str| takes(&format!("a'{letter}a")) == 3;
    let numbers = match takes("11111") {
        5 => usize::MAX,
        most => most,
    };
    Some(match (numbers, takes("aAb")) {
        (0, 0) => Known::Cjk,
        (0, _) => Known::DeepSeekRest,
        (_, 0) => Known::Numbers(numbers),
        (_, 1) => Known::Scanner(Scanner::O200k(O200k {
            contractions: contractions(&behind),
            numbers,
            slash: takes("!\n/") == 3,
            han: takes("a中") == 1,
        })),
        _ if takes("!a") == 2 => Known::Scanner(Scanner::Cl100k(Cl100k {
            contractions: contractions(&before),
            numbers,
            space: if takes("\n ") == 2 { Space::EndFirst } else { Space::LineBreakFirst },
            marks: takes("a\u{301}") == 2,
        })),
        _ => Known::Scanner(Scanner::Gpt2(Gpt2 {
            contractions: contractions(&before),
            numbers: if takes(" 1") == 2 { Gpt2Numbers::Run } else { Gpt2Numbers::Apart(numbers) },
        })),
    })
}

impl Known {
    /// The pattern that it stands for, in the dialect of the regex crates; `None` where it takes more than one.
    fn pattern(self) -> Option<String> {
        match self {
            Known::Scanner(scanner) => pattern_of(scanner),
            Known::Numbers(most) => Some(format!(r"\p{{N}}{}", up_to(most))),
            Known::Cjk => Some(CJK.into()),
            Known::DeepSeekRest => Some(DEEPSEEK_REST.into()),
        }
    }
}

/// The pattern that a scanner stands for; `None` for DeepSeek's, which are three.
pub(super) fn pattern_of(scanner: Scanner) -> Option<String> {
    Some(match scanner {
        Scanner::Gpt2(Gpt2 { contractions, numbers }) => {
            let contractions = contractions.first();
            match numbers {
                Gpt2Numbers::Run => {
                    format!(r"{contractions} ?\p{{L}}+| ?\p{{N}}+| ?[^\s\p{{L}}\p{{N}}]+|\s+(?!\S)|\s+")
                }
                Gpt2Numbers::Apart(most) => format!(
                    r"{contractions}\p{{N}}{}| ?\p{{L}}+| ?[^\s\p{{L}}\p{{N}}]+|\s+(?![^\s\p{{N}}])|\s+",
                    up_to(most)
                ),
            }
        }
        Scanner::Cl100k(Cl100k { contractions, numbers, space, marks }) => {
            let marks = if marks { r"\p{M}" } else { "" };
            format!(
                r"{}[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}{marks}]+|\p{{N}}{}| ?[^\s\p{{L}}{marks}\p{{N}}]+[\r\n]*|{}",
                contractions.first(),
                up_to(numbers),
                match space {
                    Space::EndFirst => r"\s++$|\s*[\r\n]|\s+(?!\S)|\s",
                    Space::LineBreakFirst | Space::Plain => r"\s*[\r\n]+|\s+(?!\S)|\s+",
                },
            )
        }
        Scanner::O200k(O200k { contractions, numbers, slash, han }) => {
            let (before, not) = if han { (r"\p{Han}+|", r"&&[^\p{Han}]") } else { ("", "") };
            let (upper, lower) = (
                format!(r"[\p{{Lu}}\p{{Lt}}\p{{Lm}}\p{{Lo}}\p{{M}}{not}]"),
                format!(r"[\p{{Ll}}\p{{Lm}}\p{{Lo}}\p{{M}}{not}]"),
            );
            let end = contractions.alternatives().map_or(String::new(), |any| format!("(?:{any})?"));
            format!(
                r"{before}[^\r\n\p{{L}}\p{{N}}]?{upper}*{lower}+{end}|[^\r\n\p{{L}}\p{{N}}]?{upper}+{lower}*{end}|\p{{N}}{}| ?[^\s\p{{L}}\p{{N}}]+[\r\n{}]*|\s*[\r\n]+|\s+(?!\S)|\s+",
                up_to(numbers),
                if slash { "/" } else { "" },
            )
        }
        Scanner::DeepSeek => return None,
    })
}

fn up_to(most: usize) -> String {
    if most == usize::MAX { "+".into() } else { format!("{{1,{most}}}") }
}

impl Contractions {
    fn alternatives(self) -> Option<&'static str> {
        match self {
            Contractions::None => None,
            Contractions::Plain => Some("'s|'t|'re|'ve|'m|'ll|'d"),
            Contractions::AnyCase => Some("'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD]"),
            Contractions::Folded => Some("(?i:'s|'t|'re|'ve|'m|'ll|'d)"),
        }
    }

    /// As the first alternatives of a pattern.
    fn first(self) -> String {
        self.alternatives().map_or(String::new(), |any| format!("{any}|"))
    }
}
