use super::super::general::General;
use super::spellings::SPELLINGS;
use super::*;
use crate::split::{Find, Splitter};
use proptest::prelude::*;
use std::ops::Range;
use std::sync::LazyLock;

/// Characters that patterns treat in a way of their own, and some of every class.
const CRITICAL: &str = "aAsStTdDmMlLvVeErRſ\u{212A}ǅʰ中々あㄱ\u{301}\u{903}\u{302A}12²٣Ⅷ〇⺀\r\n  \t\u{B}\u{85}\u{A0}\u{2003}\u{3000}\0\u{200B}\u{E000}''/!.-_©。\u{30A0}👍\u{10FFFF}";

fn pieces(splitter: &Splitter, text: &str) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    splitter
        .for_each_piece(text.as_bytes(), |piece| {
            pieces.push(piece);
            Ok(())
        })
        .unwrap();
    pieces
}

fn by_general(general: &General, text: &str) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    general
        .split(text, 0, &|| false, &mut |piece| {
            pieces.push(piece);
            Ok(())
        })
        .unwrap();
    pieces
}

/// By the pieces one at a time; it is checked that the ends that come many at a time are theirs.
fn by_scanner(scanner: &Splitter, text: &str) -> Vec<Range<usize>> {
    let (pieces, mut ends) = (pieces(scanner, text), Vec::new());
    while ends.last().copied().unwrap_or(0) < text.len() {
        scanner.next_ends(text.as_bytes(), ends.last().copied().unwrap_or(0), &mut ends);
    }
    assert!(ends.iter().eq(pieces.iter().map(|piece| &piece.end)), "{text:?} {scanner:?} {ends:?} {pieces:?}");
    pieces
}

/// Every member of every family but DeepSeek's.
fn members() -> Vec<Scanner> {
    let all_contractions = [Contractions::None, Contractions::Plain, Contractions::AnyCase, Contractions::Folded];
    let all_numbers = [1, 2, 3, 4, usize::MAX];
    let mut members = Vec::new();
    for contractions in all_contractions {
        members.push(Scanner::Gpt2(Gpt2 { contractions, numbers: Gpt2Numbers::Run }));
        for numbers in all_numbers {
            members.push(Scanner::Gpt2(Gpt2 { contractions, numbers: Gpt2Numbers::Apart(numbers) }));
            for flag in [false, true] {
                for space in [Space::LineBreakFirst, Space::EndFirst] {
                    members.push(Scanner::Cl100k(Cl100k { contractions, numbers, space, marks: flag }));
                }
                for han in [false, true] {
                    members.push(Scanner::O200k(O200k { contractions, numbers, slash: flag, han }));
                }
            }
        }
    }
    members
}

/// Each scanner beside the automaton of its pattern.
static MEMBERS: LazyLock<Vec<(Splitter, General)>> = LazyLock::new(|| {
    let both = |member| (Splitter::of_scanner(member), General::new(&pattern_of(member).unwrap()).unwrap());
    members().into_iter().map(both).collect()
});

/// DeepSeek's scanner, and its steps on the general engine.
static DEEPSEEK: LazyLock<(Splitter, Splitter)> = LazyLock::new(|| {
    // Each alternative once more keeps it from being known.
    let cut = |pattern: &str| isolated(&format!("{pattern}|(?!)(?=ab)"));
    let slow = Splitter::of_steps([r"\p{N}{1,3}", CJK_AS_PUBLISHED, DEEPSEEK_REST].map(cut).to_vec());
    assert_eq!(slow.engine(), "steps");
    (Splitter::of_scanner(Scanner::DeepSeek), slow)
});

const CJK_AS_PUBLISHED: &str = "[一-龥぀-ゟ゠-ヿ]+";

fn isolated(pattern: &str) -> Step {
    Step::Cut { find: Find::regex(pattern).unwrap(), behaviour: Behaviour::Isolated, invert: false }
}

fn check_deepseek(text: &str) {
    assert_eq!(by_scanner(&DEEPSEEK.0, text), pieces(&DEEPSEEK.1, text), "{text:?}");
}

/// Texts around one character, one for each place in the patterns where its class counts.
fn contexts(c: char) -> impl Iterator<Item = String> {
    [
        format!("a{c}b"),
        format!("!{c} {c}1"),
        format!(" {c}{c}'sA  {c}"),
        format!("1{c}2{c}3{c}4 {c}中"),
        format!("A{c}Bb\n{c}\n"),
        format!("'{c}e'{c}x'l{c}'v{c}"),
        format!("\u{301}{c}AB!{c}/中{c}"),
        format!("\t{c}\r{c}\0{c}\0\0{c}a"),
    ]
    .into_iter()
}

fn critical_text() -> impl Strategy<Value = String> {
    let one = prop::sample::select(CRITICAL.chars().collect::<Vec<_>>()).prop_map(String::from);
    let few = [
        "'s", "'S", "'ſ", "'ll", "'lL", "'Ve", "'RE", "\r\n", "  ", " \n ", "AB", "ab", "1234", "//", " a", " !", "  1",
    ];
    let few = prop::sample::select(few.map(String::from).to_vec());
    let any = any::<char>().prop_map(String::from);
    prop::collection::vec(prop_oneof![6 => one, 4 => few, 1 => any], 0..40).prop_map(|parts| parts.concat())
}

#[test]
fn published_spellings_are_recognised() {
    for (whose, pattern, dialects, expected) in SPELLINGS {
        for dialect in *dialects {
            assert_eq!(
                of_pattern(pattern, *dialect),
                Some(Known::Scanner(*expected)),
                "{whose}: {pattern} {dialect:?}"
            );
        }
    }
    for (pattern, expected) in [
        (r"\p{N}", Known::Numbers(1)),
        (r"\p{N}{1}", Known::Numbers(1)),
        (r"[\p{N}]{1,3}", Known::Numbers(3)),
        (r"\p{Nd}++|\p{N}+", Known::Numbers(usize::MAX)),
        (CJK_AS_PUBLISHED, Known::Cjk),
        (r"[゠-ヿ぀-ゟ一-龥]+", Known::Cjk),
        // As in the file, every escape of ASCII punctuation apart.
        (
            r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"##,
            Known::DeepSeekRest,
        ),
    ] {
        for dialect in [Dialect::Rust, Dialect::Oniguruma] {
            let expected = match (pattern, dialect) {
                (r"\p{Nd}++|\p{N}+", _) => None,
                _ => Some(expected),
            };
            assert_eq!(of_pattern(pattern, dialect), expected, "{pattern} {dialect:?}");
        }
    }
}

#[test]
fn every_member_of_a_family_is_recognised_by_its_own_pattern() {
    for member in members() {
        let pattern = pattern_of(member).unwrap();
        assert_eq!(of_pattern(&pattern, Dialect::Rust), Some(Known::Scanner(member)), "{pattern}");
    }
}

#[test]
fn every_scanner_agrees_with_the_automaton_in_every_context() {
    for text in CRITICAL.chars().flat_map(contexts) {
        for (scanner, general) in &*MEMBERS {
            assert_eq!(by_scanner(scanner, &text), by_general(general, &text), "{text:?} {}", general.pattern());
        }
    }
}

/// Published patterns beside their scanners, on each context of each of the characters.
fn check_published(characters: impl Iterator<Item = char> + Clone) {
    for (_, pattern, dialects, member) in SPELLINGS {
        let (scanner, general) = (Splitter::of_scanner(*member), General::in_dialect(pattern, dialects[0]).unwrap());
        for text in characters.clone().flat_map(contexts) {
            assert_eq!(by_scanner(&scanner, &text), by_general(&general, &text), "{text:?} {pattern}");
        }
    }
    characters.flat_map(contexts).for_each(|text| check_deepseek(&text));
}

#[test]
fn published_scanners_agree_with_the_automaton_on_characters_of_every_kind() {
    check_published(('\0'..='\u{250}').chain('\u{3000}'..='\u{3100}').chain(('\0'..=char::MAX).step_by(997)));
}

#[test]
#[ignore = "exhaustive: every code point"]
fn published_scanners_agree_with_the_automaton_on_every_character() {
    check_published('\0'..=char::MAX);
}

/// All texts of `length` characters of `alphabet`.
fn all_texts(alphabet: &str, length: u32) -> impl Iterator<Item = String> {
    let alphabet: Vec<char> = alphabet.chars().collect();
    let n = alphabet.len();
    (0..n.pow(length)).map(move |number| (0..length).map(|at| alphabet[number / n.pow(at) % n]).collect())
}

#[test]
fn steps_agree_with_their_scanner_on_all_short_texts() {
    // One of each class, and of each pair that a step tells apart.
    for text in (1..=5).flat_map(|length| all_texts("aé\u{301}!。1中 \n\0", length)) {
        check_deepseek(&text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn every_scanner_agrees_with_the_automaton_on_random_texts(text in critical_text()) {
        for (scanner, general) in &*MEMBERS {
            prop_assert_eq!(by_scanner(scanner, &text), by_general(general, &text), "{}", general.pattern());
        }
        prop_assert_eq!(by_scanner(&DEEPSEEK.0, &text), pieces(&DEEPSEEK.1, &text));
    }
}

#[test]
fn sequences_of_steps_that_are_a_scanner() {
    let numbers = |behaviour| Step::Cut { find: Find::numbers(), behaviour, invert: false };
    let engine = |steps: &[Step]| Splitter::of_steps(steps.to_vec()).engine();
    let deepseek = [r"\p{N}{1,3}", CJK_AS_PUBLISHED, DEEPSEEK_REST].map(isolated);
    assert_eq!(engine(&deepseek), "scanner:deepseek");
    assert_eq!(engine(&[numbers(Behaviour::Isolated), isolated(GPT2)]), "scanner:gpt2");
    assert_eq!(engine(&[numbers(Behaviour::Contiguous), isolated(GPT2)]), "scanner:gpt2");
    assert_eq!(engine(&[isolated(r"\p{N}{1,3}"), isolated(GPT2)]), "scanner:gpt2");
    assert_eq!(engine(&[isolated(QWEN2)]), "scanner:qwen2");
    // Near misses: another order, another behaviour, a step more or less.
    for steps in [
        vec![isolated(GPT2), numbers(Behaviour::Isolated)],
        vec![numbers(Behaviour::Removed), isolated(GPT2)],
        vec![numbers(Behaviour::MergedWithPrevious), isolated(GPT2)],
        vec![numbers(Behaviour::Isolated), isolated(CL100K_CLASSIC)],
        vec![isolated(r"\p{N}{1,2}"), deepseek[1].clone(), deepseek[2].clone()],
        vec![deepseek[2].clone(), deepseek[1].clone(), deepseek[0].clone()],
        vec![deepseek[0].clone(), deepseek[2].clone()],
        vec![deepseek[2].clone()],
        vec![isolated(GPT2), Step::ByteCharacters],
    ] {
        assert_eq!(engine(&steps), "steps");
    }
}

/// The steps of StarCoder and its like, beside the scanner.
#[test]
fn numbers_cut_out_before_gpt2_are_as_by_steps() {
    for (most, behaviour, pattern) in [
        (1, Behaviour::Isolated, r"\p{N}"),
        (2, Behaviour::Isolated, r"\p{N}{1,2}"),
        (3, Behaviour::Isolated, r"\p{N}{1,3}"),
        (usize::MAX, Behaviour::Contiguous, r"\p{N}"),
        (usize::MAX, Behaviour::Isolated, r"\p{N}+"),
    ] {
        let known = Splitter::of_scanner(Scanner::Gpt2(Gpt2 { numbers: Gpt2Numbers::Apart(most), ..Gpt2::GPT2 }));
        let cut = Step::Cut { find: Find::regex(&format!("{pattern}|(?!)(?=ab)")).unwrap(), behaviour, invert: false };
        let slow = Splitter::of_steps(vec![cut, isolated(GPT2)]);
        assert_eq!(slow.engine(), "steps");
        for text in (1..=6).flat_map(|length| all_texts("as!'1 \n", length)).chain(CRITICAL.chars().flat_map(contexts))
        {
            assert_eq!(by_scanner(&known, &text), pieces(&slow, &text), "{text:?} {pattern}");
        }
    }
}

/// Patterns that differ from a published one in a place.
#[test]
fn near_misses_are_not_recognised() {
    for (pattern, from, to) in [
        (GPT2, r" ?\p{L}+", r" ?\p{L}*"),
        (GPT2, r" ?\p{L}+", r" ?[\p{L}\p{M}]+"),
        (GPT2, r" ?\p{N}+", r" ?\p{Nd}+"),
        (GPT2, r" ?\p{N}+", r" ?[0-9]+"),
        (GPT2, r"'s|", "'z|"),
        (GPT2, r"'ll|", ""),
        (GPT2, r"\s+(?!\S)|", ""),
        (GPT2, r" ?\p{L}+| ?\p{N}+", r" ?\w+"),
        (GPT2, r"\s+(?!\S)|\s+", r"\s+|\s+(?!\S)"),
        (CL100K, r"\s*[\r\n]|\s+(?!\S)", r"\s+(?!\S)|\s*[\r\n]"),
        (CL100K, r"\s++$", r"\s+(?m:$)"),
        (CL100K, r"{1,3}+", "{2}"),
        (CL100K, r"[\r\n]*+", ""),
        (CL100K_CLASSIC, r"[^\r\n\p{L}\p{N}]?", r"[^\r\n\p{L}]?"),
        (CL100K_CLASSIC, r"[^\r\n\p{L}\p{N}]?", r"[^\n\p{L}\p{N}]?"),
        (CL100K_CLASSIC, r"|'d)", r"|'d|’s)"),
        (CL100K_CLASSIC, r"\p{L}+", r"\p{L}+?"),
        (CL100K_CLASSIC, r"[\r\n]*", r"[\r\n\t]*"),
        (CL100K_CLASSIC, r"\s+(?!\S)", r"[ ]+(?!\S)"),
        (CL100K_CLASSIC, r"\p{N}{1,3}", r"\p{N}{2,3}"),
        (CL100K_CLASSIC, r"\p{N}{1,3}", r"\p{N}{1,3}(?!\p{N})"),
        (CL100K_CLASSIC, r"\p{N}{1,3}", r"(?<!\p{N})\p{N}{1,3}|\p{N}{1,2}"),
        (QWEN2, r"|\p{N}|", r"|\d|"),
        (O200K, r"[\r\n/]*", r"[\r\n/\\]*"),
        (O200K, r"\p{Lo}\p{M}]*", r"\p{Lo}]*"),
        (O200K, r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}", r"|\p{N}"),
    ] {
        assert!(pattern.contains(from), "{from}");
        let changed = pattern.replacen(from, to, 1);
        assert_eq!(of_pattern(&changed, Dialect::Rust), None, "{changed}");
    }
}

/// Parts of patterns, as one would change them by hand.
fn parts(pattern: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = pattern;
    while !rest.is_empty() {
        let length = if rest.starts_with(r"\p{") || (rest.starts_with('{') && rest.contains('}')) {
            rest.find('}').unwrap() + 1
        } else if let Some(escaped) = rest.strip_prefix('\\') {
            1 + escaped.chars().next().map_or(0, char::len_utf8)
        } else if let Some(group) = ["(?i:", "(?:", "(?!", "(?="].iter().find(|group| rest.starts_with(**group)) {
            group.len()
        } else {
            rest.chars().next().unwrap().len_utf8()
        };
        let (part, after) = rest.split_at(length);
        parts.push(part);
        rest = after;
    }
    parts
}

#[derive(Clone, Debug)]
enum Mutation {
    Drop,
    Double,
    Swap,
    Replace(&'static str),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let replacements = vec![
        r"\p{L}", r"\p{N}", r"\p{M}", r"\s", r"\S", r"\p{Lo}", r"\p{Nd}", "[^", "[", "+", "*", "?", "++", "*+", "?+",
        "{1,3}", "{1,2}", "{1,3}+", "|", " ", "/", "s", "'", "ſ", r"\r", r"\n", "(?i:", "(?:", "(?=", "(?!", "$",
        r"\z", "",
    ];
    prop_oneof![
        2 => Just(Mutation::Drop),
        1 => Just(Mutation::Double),
        2 => Just(Mutation::Swap),
        4 => prop::sample::select(replacements).prop_map(Mutation::Replace),
    ]
}

fn mutated(pattern: &str, changes: &[(prop::sample::Index, Mutation)]) -> String {
    let mut parts = parts(pattern);
    for (index, mutation) in changes {
        let at = index.index(parts.len());
        match mutation {
            Mutation::Drop => drop(parts.remove(at)),
            Mutation::Double => parts.insert(at, parts[at]),
            Mutation::Swap if at > 0 => parts.swap(at - 1, at),
            Mutation::Swap => {}
            Mutation::Replace(with) => parts[at] = with,
        }
        if parts.is_empty() {
            break;
        }
    }
    parts.concat()
}

fn what_is_recognised_cuts_alike(
    (spelling, changes, dialect): (usize, Vec<(prop::sample::Index, Mutation)>, Dialect),
    texts: &[String],
) -> std::result::Result<(), TestCaseError> {
    let pattern = mutated(SPELLINGS[spelling].1, &changes);
    let Some(Known::Scanner(known)) = of_pattern(&pattern, dialect) else {
        return Ok(());
    };
    let general = General::backtracking(&pattern, dialect).unwrap();
    for text in texts {
        prop_assert_eq!(
            by_scanner(&Splitter::of_scanner(known), text),
            by_general(&general, text),
            "{} {:?} on {:?}",
            pattern,
            dialect,
            text
        );
    }
    Ok(())
}

fn change() -> impl Strategy<Value = (usize, Vec<(prop::sample::Index, Mutation)>, Dialect)> {
    let changes = prop::collection::vec((any::<prop::sample::Index>(), mutation()), 1..3);
    (0..SPELLINGS.len(), changes, prop::sample::select(vec![Dialect::Rust, Dialect::Oniguruma]))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn what_is_recognised_of_changed_patterns_cuts_as_by_backtracking(
        change in change(),
        texts in prop::collection::vec(critical_text(), 30),
    ) {
        what_is_recognised_cuts_alike(change, &texts)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30_000, ..ProptestConfig::default() })]

    #[test]
    #[ignore = "exhaustive: 30,000 changed patterns"]
    fn what_is_recognised_of_many_changed_patterns_cuts_as_by_backtracking(
        change in change(),
        texts in prop::collection::vec(critical_text(), 30),
    ) {
        what_is_recognised_cuts_alike(change, &texts)?;
    }
}
