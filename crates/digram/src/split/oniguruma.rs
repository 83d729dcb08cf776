//! Patterns written for Oniguruma: what the general engine's own mode for them leaves over.

/// What `\w` is inside brackets there: without the joiners U+200C and U+200D.
const WORD: &str = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}";

/// What it is by itself, and for `\b`: in Latin-1 the superscript digits and fractions are part of words too.
const BARE: &str = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}²³¹¼½¾";

/// The pattern with `\w`, `\W`, `\b` and `\B` written out.
///
/// Oniguruma lets `\W` stand inside brackets too; so written it becomes a class in brackets, which nest.
pub(super) fn translated(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut depth = 0u32;
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some('w') => out.push_str(&format!("[{}]", if depth == 0 { BARE } else { WORD })),
                Some('W') => out.push_str(&format!("[^{}]", if depth == 0 { BARE } else { WORD })),
                Some('b') if depth == 0 => {
                    out.push_str(&format!("(?:(?<=[{BARE}])(?![{BARE}])|(?<![{BARE}])(?=[{BARE}]))"));
                }
                Some('B') if depth == 0 => {
                    out.push_str(&format!("(?:(?<=[{BARE}])(?=[{BARE}])|(?<![{BARE}])(?![{BARE}]))"));
                }
                escaped => {
                    out.push('\\');
                    out.extend(escaped);
                }
            },
            '[' => {
                depth += 1;
                out.push('[');
            }
            ']' => {
                depth = depth.saturating_sub(1);
                out.push(']');
            }
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_are_written_out() {
        for same in [r"\p{L}+|\\w", r"[^\s\]\\]w|\d{1,3}+$", "a\\"] {
            assert_eq!(translated(same), same);
        }
        assert_eq!(translated(r"[^\w]\W"), format!("[^[{WORD}]][^{BARE}]"));
        assert_eq!(translated(r"[\b]"), r"[\b]");
    }
}
