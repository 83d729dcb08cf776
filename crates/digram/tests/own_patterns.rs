//! Splitting by patterns of one's own, which the general regex engine serves: no byte lost, no panic, errors that say where.

mod support;

use digram::Error;
use digram::split::Splitter;
use proptest::prelude::*;
use support::{pieces, strings};

#[test]
fn a_pattern_of_ones_own_keeps_every_byte() {
    let splitter = Splitter::new(r"[a-z]+(?=!)|\d*").unwrap();
    assert_eq!((splitter.engine(), splitter.pattern()), ("regex", Some(r"[a-z]+(?=!)|\d*")));
    assert_eq!(strings(&splitter, "?ab!é12 ab"), ["?", "ab", "!é", "12", " ab"]);
    assert_eq!(strings(&splitter, ""), [""; 0]);
    assert!(matches!(Splitter::new("a(b"), Err(Error::Pattern { position: 3, .. })));
}

fn random_pattern() -> impl Strategy<Value = String> {
    let leaf = proptest::sample::select(vec![
        "a",
        "b",
        "é",
        ".",
        r"\s",
        r"\S",
        r"\p{L}",
        r"\p{N}",
        "[^a]",
        "[a-é]",
        r"[^\s\p{L}]",
        "$",
        "^",
        r"\b",
        r"\G",
        r"\K",
        r"\z",
        r"\A",
        r"\1",
        "",
        "'",
        r"\r\n",
        "(?i)",
        "(?m)",
        "(?s)",
        "(?x)",
        r"\X",
        r"\R",
        r"\h",
        r"\Z",
        r"\e",
        "(?~ab)",
        "|",
        "(",
        ")",
        "[",
        "*",
        "{2}",
    ])
    .prop_map(String::from);
    leaf.prop_recursive(4, 24, 4, |inner| {
        let wrap = proptest::sample::select(vec![
            ("(", ")"),
            ("(?:", ")"),
            ("(?=", ")"),
            ("(?!", ")"),
            ("(?<=", ")"),
            ("(?<!", ")"),
            ("(?>", ")"),
            ("(?:", ")*"),
            ("(?:", ")+"),
            ("(?:", ")?"),
            ("(?:", ")*?"),
            ("(?:", ")++"),
            ("(?:", "){1,3}"),
            ("(?:", "){2,}"),
            ("(?i:", ")"),
            ("(?<n>", r")\k<n>"),
            ("(?(", ")a|b)"),
        ]);
        prop_oneof![
            (wrap, inner.clone()).prop_map(|((before, after), part)| format!("{before}{part}{after}")),
            proptest::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
            proptest::collection::vec(inner, 1..4).prop_map(|parts| parts.join("|")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_pattern_keeps_every_byte_or_gives_an_error(pattern in random_pattern(), text in "[ab é'1\r\n]{0,30}") {
        match Splitter::new(&pattern) {
            // `pieces` checks that they are the text.
            Ok(splitter) => match pieces(&splitter, text.as_bytes()) {
                Ok(_) | Err(Error::Backtracking { .. }) => {}
                Err(error) => panic!("{error}"),
            },
            Err(Error::Pattern { position, .. }) => prop_assert!(position <= pattern.chars().count()),
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn patterns_too_deep_are_errors_and_large_ones_work_or_are_errors() {
    let deep = ["(", "(?=", "["].map(|part| part.repeat(100_000));
    for pattern in deep.into_iter().chain([format!("{}{}", "(".repeat(100_000), ")".repeat(100_000))]) {
        let result = Splitter::new(&pattern).map(|_| ());
        assert!(matches!(result, Err(Error::Pattern { .. })), "{pattern:.40}: {result:?}");
    }
    for pattern in
        ["a{1000}{1000}{1000}", r"(?:(?=a)\p{L}{1000}){1000}(?!b)", r"\p{L}{1000}{1000}", r"(\w{500}|\d){1000}"]
    {
        match Splitter::new(pattern) {
            Ok(splitter) => assert_eq!(strings(&splitter, "a b"), ["a b"], "{pattern}"),
            Err(error) => assert!(matches!(error, Error::Pattern { .. }), "{pattern}: {error}"),
        }
    }
}
