//! From the general engine's own syntax tree to ours: what is regular apart from look-around.
//!
//! Possessive repetitions of a set of characters are regular with a look at the next character: `X++` is `X+(?!X)`, and so on;
//! other atomic groups only where they change nothing. What is left (back-references, `\G`, `\K`, conditionals, other atomic
//! groups, subroutines) is `None`.

use super::super::general::Dialect;
use super::super::oniguruma;
use super::tree::{Pattern, Set, Side, Tree};
use fancy_regex::internal::{FLAG_MULTI, FLAG_ONIGURUMA_MODE, FLAG_UNICODE};
use fancy_regex::{Assertion, BacktrackingControlVerb, Expr, LookAround};
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

/// What the pattern means, if the automata can run it.
pub(super) fn pattern(pattern: &str, dialect: Dialect) -> Option<Pattern> {
    pattern_with(pattern, dialect, Vec::new())
}

/// As [`pattern`]; the sets that it names come after those given, and are found among them.
pub(super) fn pattern_with(pattern: &str, dialect: Dialect, sets: Vec<ClassUnicode>) -> Option<Pattern> {
    let tree = match dialect {
        Dialect::Rust => Expr::parse_tree_with_flags(pattern, FLAG_UNICODE),
        Dialect::Oniguruma => Expr::parse_tree_with_flags(
            &oniguruma::translated(pattern),
            FLAG_UNICODE | FLAG_MULTI | FLAG_ONIGURUMA_MODE,
        ),
    };
    let mut translator = Translator { sets, looking: false };
    let tree = translator.tree(&tree.ok()?.expr, true)?;
    Some(Pattern { tree, sets: translator.sets })
}

struct Translator {
    sets: Vec<ClassUnicode>,
    /// Whether inside a look-around.
    looking: bool,
}

impl Translator {
    /// `last` says that nothing can fail after it: then an atomic group changes nothing.
    fn tree(&mut self, expr: &Expr, last: bool) -> Option<Tree> {
        Some(match expr {
            Expr::Empty => Tree::Empty,
            Expr::Any { newline: true, .. } => self.all_but(&[]),
            Expr::Any { newline: false, crlf: true } => self.all_but(&['\n', '\r']),
            Expr::Any { newline: false, crlf: false } => self.all_but(&['\n']),
            Expr::Literal { val, casei } => {
                let one = |c: char| {
                    let mut class = ClassUnicode::new([ClassUnicodeRange::new(c, c)]);
                    if *casei {
                        class.try_case_fold_simple().ok()?;
                    }
                    Some(Tree::Class(self.set(class)))
                };
                let mut characters = val.chars().map(one).collect::<Option<Vec<_>>>()?;
                if characters.len() == 1 { characters.pop()? } else { Tree::Concat(characters) }
            }
            Expr::Delegate { inner, casei } => {
                let class = if *casei { class(&format!("(?i:{inner})")) } else { class(inner) };
                Tree::Class(self.set(class?))
            }
            Expr::Assertion(assertion) => self.assertion(*assertion)?,
            Expr::GeneralNewline { unicode: true } => {
                let (cr, lf) = (self.set(one_of(&['\r'])), self.set(one_of(&['\n'])));
                let not_lf = self.complement(lf);
                let others = self.set(one_of(&['\n', '\x0B', '\x0C', '\u{85}', '\u{2028}', '\u{2029}']));
                Tree::Alternatives(vec![
                    Tree::Concat(vec![Tree::Class(cr), Tree::Class(lf)]),
                    Tree::Class(others),
                    Tree::Concat(vec![Tree::Class(cr), Tree::Beside { side: Side::After, set: not_lf, edge: true }]),
                ])
            }
            Expr::Concat(parts) => {
                let end = parts.len() - 1;
                let parts = parts.iter().enumerate().map(|(i, part)| self.tree(part, last && i == end));
                Tree::Concat(parts.collect::<Option<_>>()?)
            }
            Expr::Alt(parts) => {
                Tree::Alternatives(parts.iter().map(|part| self.tree(part, last)).collect::<Option<_>>()?)
            }
            Expr::Group(child) => self.tree(child, last)?,
            Expr::Repeat { child, lo, hi, greedy } => {
                let max = (*hi != usize::MAX).then_some(*hi);
                if hi < lo {
                    return None;
                }
                let child = self.tree(child, false)?;
                if max.is_none() && child.may_be_empty() && !child.is_empty_last() {
                    return None;
                }
                child.repeat(*lo, max, *greedy)
            }
            Expr::AtomicGroup(child) => self.atomic(child, last)?,
            Expr::LookAround(child, look) => self.look(child, *look)?,
            Expr::BacktrackingControlVerb(BacktrackingControlVerb::Fail) => {
                Tree::Class(self.set(ClassUnicode::empty()))
            }
            _ => return None,
        })
    }

    fn atomic(&mut self, child: &Expr, last: bool) -> Option<Tree> {
        let tree = self.tree(child, last)?;
        if last || tree.width().is_some() {
            return Some(tree);
        }
        let Tree::Repeat { child, min, max, greedy } = tree else {
            return None;
        };
        let set = self.as_set(&child)?;
        let times = |min, max| Tree::Class(set).repeat(min, max, true);
        if !greedy {
            return Some(times(min, Some(min)));
        }
        let no_more = Tree::Beside { side: Side::After, set: self.complement(set), edge: true };
        Some(match max {
            None => Tree::Concat(vec![times(min, None), no_more]),
            // At least two numbers of times, or the width would be known.
            Some(max) => {
                Tree::Alternatives(vec![times(max, Some(max)), Tree::Concat(vec![times(min, Some(max - 1)), no_more])])
            }
        })
    }

    fn look(&mut self, child: &Expr, look: LookAround) -> Option<Tree> {
        let (side, negative) = match look {
            LookAround::LookAhead => (Side::After, false),
            LookAround::LookAheadNeg => (Side::After, true),
            LookAround::LookBehind => (Side::Before, false),
            LookAround::LookBehindNeg => (Side::Before, true),
        };
        let outside = std::mem::replace(&mut self.looking, true);
        // Of what is ahead it only counts whether it is there; what is behind must also end here.
        let body = self.tree(child, side == Side::After)?;
        self.looking = outside;
        Some(match self.as_set(&body) {
            Some(set) => {
                let set = if negative { self.complement(set) } else { set };
                Tree::Beside { side, set, edge: negative }
            }
            None => Tree::Look { side, negative, body: Box::new(body) },
        })
    }

    fn assertion(&mut self, assertion: Assertion) -> Option<Tree> {
        use Side::{After, Before};
        let beside = |side, set, edge| Tree::Beside { side, set, edge };
        let both = |before, after| Tree::Concat(vec![before, after]);
        let either = |one, other| Tree::Alternatives(vec![one, other]);
        Some(match assertion {
            Assertion::StartText => beside(Before, self.set(ClassUnicode::empty()), true),
            Assertion::EndText => beside(After, self.set(ClassUnicode::empty()), true),
            Assertion::EndTextIgnoreTrailingNewlines { crlf } => {
                let breaks = self.set(one_of(if crlf { &['\n', '\r'] } else { &['\n'] }));
                let end = beside(After, self.set(ClassUnicode::empty()), true);
                let body = Tree::Concat(vec![Tree::Class(breaks).repeat(0, None, true), end]);
                Tree::Look { side: After, negative: false, body: Box::new(body) }
            }
            Assertion::StartLine { crlf: false } => beside(Before, self.set(one_of(&['\n'])), true),
            Assertion::EndLine { crlf: false } => beside(After, self.set(one_of(&['\n'])), true),
            // `\r\n` is one line break.
            Assertion::StartLine { crlf: true } => {
                let (cr, lf) = (self.set(one_of(&['\r'])), self.set(one_of(&['\n'])));
                let not_lf = self.complement(lf);
                either(beside(Before, lf, true), both(beside(Before, cr, false), beside(After, not_lf, true)))
            }
            Assertion::EndLine { crlf: true } => {
                let (cr, lf) = (self.set(one_of(&['\r'])), self.set(one_of(&['\n'])));
                let not_cr = self.complement(cr);
                either(beside(After, cr, true), both(beside(Before, not_cr, true), beside(After, lf, false)))
            }
            // Not at the end of the text, but for an empty one; the engine does not keep to that in look-around.
            Assertion::StartLineOniguruma { crlf: false } if !self.looking => {
                let (none, lf, any) = (ClassUnicode::empty(), one_of(&['\n']), all());
                let (none, lf, any) = (self.set(none), self.set(lf), self.set(any));
                either(beside(Before, none, true), both(beside(Before, lf, false), beside(After, any, false)))
            }
            Assertion::StartLineOniguruma { .. } => return None,
            Assertion::LeftWordBoundary
            | Assertion::LeftWordHalfBoundary
            | Assertion::RightWordBoundary
            | Assertion::RightWordHalfBoundary
            | Assertion::WordBoundary
            | Assertion::NotWordBoundary => {
                let word = self.set(class(r"\w")?);
                let other = self.complement(word);
                let (yes, no) = (|side| beside(side, word, false), |side| beside(side, other, true));
                match assertion {
                    Assertion::LeftWordBoundary => both(no(Before), yes(After)),
                    Assertion::RightWordBoundary => both(yes(Before), no(After)),
                    Assertion::LeftWordHalfBoundary => no(Before),
                    Assertion::RightWordHalfBoundary => no(After),
                    Assertion::WordBoundary => either(both(no(Before), yes(After)), both(yes(Before), no(After))),
                    _ => either(both(no(Before), no(After)), both(yes(Before), yes(After))),
                }
            }
        })
    }

    /// The set of the characters that a tree matches, where each match is a single character.
    fn as_set(&mut self, tree: &Tree) -> Option<Set> {
        match tree {
            Tree::Class(set) => Some(*set),
            Tree::Alternatives(parts) => {
                let mut union = ClassUnicode::empty();
                for part in parts {
                    let set = self.as_set(part)?;
                    union.union(&self.sets[set]);
                }
                Some(self.set(union))
            }
            _ => None,
        }
    }

    fn set(&mut self, class: ClassUnicode) -> Set {
        let known = self.sets.iter().position(|set| *set == class);
        known.unwrap_or_else(|| {
            self.sets.push(class);
            self.sets.len() - 1
        })
    }

    fn complement(&mut self, set: Set) -> Set {
        let mut class = self.sets[set].clone();
        class.negate();
        self.set(class)
    }

    fn all_but(&mut self, characters: &[char]) -> Tree {
        let mut class = one_of(characters);
        class.negate();
        Tree::Class(self.set(class))
    }
}

fn one_of(characters: &[char]) -> ClassUnicode {
    ClassUnicode::new(characters.iter().map(|&c| ClassUnicodeRange::new(c, c)))
}

fn all() -> ClassUnicode {
    ClassUnicode::new([ClassUnicodeRange::new('\0', char::MAX)])
}

/// The characters that a pattern of one character matches.
fn class(pattern: &str) -> Option<ClassUnicode> {
    match regex_syntax::parse(pattern).ok()?.kind() {
        HirKind::Class(Class::Unicode(class)) => Some(class.clone()),
        HirKind::Class(Class::Bytes(class)) if class.ranges().is_empty() => Some(ClassUnicode::empty()),
        HirKind::Literal(literal) => {
            let mut characters = std::str::from_utf8(&literal.0).ok()?.chars();
            let character = characters.next()?;
            characters.next().is_none().then(|| one_of(&[character]))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flags_of_the_parser_are_those_of_oniguruma() {
        let flags = FLAG_UNICODE | FLAG_MULTI | FLAG_ONIGURUMA_MODE;
        let parsed = |pattern| format!("{:?}", Expr::parse_tree_with_flags(pattern, flags).unwrap().expr);
        // Not possessive but repeated; at every line; words of Unicode.
        assert!(parsed("a{1,3}+").starts_with("Repeat { child: Repeat"), "{}", parsed("a{1,3}+"));
        assert!(parsed("^").contains("StartLineOniguruma") && parsed("$").contains("EndLine"));
        assert!(parsed(r"\R").contains("unicode: true"));
        let rust = format!("{:?}", Expr::parse_tree("a{1,3}+^").unwrap().expr);
        assert!(rust.contains("AtomicGroup") && rust.contains("StartText"), "{rust}");
    }

    #[test]
    fn what_is_not_regular_is_left_to_the_general_engine() {
        for (text, regular) in [
            (r"(a)\1", false),
            (r"\Ga", false),
            (r"a\Kb", false),
            (r"(a)?(?(1)b|c)", false),
            (r"(?<x>a)\g<x>", false),
            (r"(?>a|ab)c", false),
            (r"(?>a+b?)c", false),
            (r"(?~ab)", false),
            (r"c(?>a|ab)", true),
            (r"(?>ab|cd)c", true),
            (r"(?>a|b)++c", true),
            (r"(?=(?>a|ab))c", true),
            (r"(?<=(?>a|ab))c", false),
            (r"x{3,1}", false),
            (r"(?:a?b?)*(?:\b|(?:a|b)*?)+", false),
            (r"(?:a?|b)*", false),
            (r"(?:b|a?|\b)*(?:a?b?)*c??", true),
        ] {
            assert_eq!(pattern(text, Dialect::Rust).is_some(), regular, "{text}");
        }
    }
}
