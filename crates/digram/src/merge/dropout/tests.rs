//! Both kernels against the definition; the numbers against the published generator.

use super::*;
use crate::vocabulary::rules::PairTable;
use proptest::prelude::*;

/// The definition: all pairs in order, some passed over, the next one applied.
fn naive<R: Rules>(rules: &R, mut symbols: Vec<u32>, dropout: &Dropout, numbers: &mut Numbers) -> Vec<u32> {
    loop {
        let mut pairs: Vec<(Merge, usize)> = (0..symbols.len().saturating_sub(1))
            .filter_map(|at| Some((rules.merge(symbols[at], symbols[at + 1], 0)?, at)))
            .collect();
        if pairs.is_empty() {
            return symbols;
        }
        pairs.sort_by_key(|(merge, at)| (merge.rank, *at));
        let Some((merge, at)) = pairs.get(dropout.passed_over(numbers.number())) else {
            return symbols;
        };
        symbols.splice(*at..at + 2, [merge.id]);
    }
}

fn table(merges: &[(u32, u32)], each: u32) -> PairTable {
    let mut table = PairTable::default();
    for (&(l, r), i) in merges.iter().zip(0..) {
        table.add(l, r, Merge { rank: i / each, id: 4 + i / each });
    }
    table
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    /// Any rules at all: parts need not be earlier tokens, several rules may share a rank.
    #[test]
    fn both_kernels_follow_the_definition(
        merges in prop::collection::vec((0u32..12, 0u32..12), 0..30),
        each in 1u32..3,
        symbols in prop::collection::vec(0u32..4, 2..=SCANNED),
        p in prop_oneof![Just(0.0), Just(1.0), Just(0.999), 0.0..1.0],
        seed: u64,
    ) {
        let (table, dropout) = (table(&merges, each), Dropout::new(p).unwrap());
        let mut want_numbers = Numbers::of_document(seed, 3);
        let want = naive(&table, symbols.clone(), &dropout, &mut want_numbers);
        for kernel in [0, 1] {
            let (mut got, mut numbers) = (symbols.clone(), Numbers::of_document(seed, 3));
            let kept = match kernel {
                0 => scan(&table, &mut got, &dropout, &mut numbers),
                _ => long(&table, &mut got, &dropout, &mut numbers, &mut Scratch::default(), &|| false).unwrap(),
            };
            got.truncate(kept);
            prop_assert_eq!(&got, &want, "kernel {}", kernel);
            prop_assert_eq!(numbers.state, want_numbers.state, "as many numbers are drawn");
        }
    }

    /// One number says of how many pairs in a row each would have been dropped by itself.
    #[test]
    fn numbers_below_a_power_of_p_pass_over(p in 0.0..0.99, number: u64) {
        let passed = Dropout::new(p).unwrap().passed_over(number) as i32;
        let at = number as f64 / 2_f64.powi(64);
        let near = 1e-12;
        prop_assert!(at < p.powi(passed) + near && at >= p.powi(passed + 1) - near, "{}", passed);
    }
}

#[test]
fn nothing_is_passed_over_at_0_and_all_at_1() {
    for number in [0, 1, u64::MAX / 2, u64::MAX] {
        assert_eq!(Dropout::new(0.0).unwrap().passed_over(number), 0);
        assert_eq!(Dropout::new(1.0).unwrap().passed_over(number), u32::MAX as usize);
    }
    for wrong in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        assert!(matches!(Dropout::new(wrong), Err(Error::Argument(_))));
    }
}

/// The first numbers of SplitMix64 from 1234567, as Vigna's `splitmix64.c` prints them.
#[test]
fn numbers_are_those_of_splitmix64() {
    let mut numbers = Numbers { state: 1_234_567 };
    let first: Vec<u64> = (0..5).map(|_| numbers.number()).collect();
    let published = [
        6_457_827_717_110_365_317,
        3_203_168_211_198_807_973,
        9_817_491_932_198_370_423,
        4_593_380_528_125_082_431,
        16_408_922_859_458_223_821,
    ];
    assert_eq!(first, published);
}

/// As each pair dropped by a throw of its own: the shares of all results, of `abab` with three merges.
#[test]
fn shares_are_those_of_dropping_each_pair() {
    let table = table(&[(0, 1), (1, 0), (4, 4)], 1);
    let p: f64 = 0.3;
    let dropout = Dropout::new(p).unwrap();
    let mut whole = 0;
    let rounds = 100_000;
    for index in 0..rounds {
        let (mut symbols, mut numbers) = (vec![0, 1, 0, 1], Numbers::of_document(5, index));
        merge_dropped(&table, &mut symbols, 0, &dropout, &mut numbers, &mut Scratch::default(), &|| false).unwrap();
        whole += u32::from(symbols == [6]);
    }
    // To `abab`: of ab, ba, ab one of the two ab first, which is 1 - p + p^2 (1 - p) of what is not all dropped ... then the
    // other one, then both joined, and no stop in between.
    // Pairs in order: ab at 0, ab at 2, ba at 1. The first or the second goes with (1 - p)(1 + p); then the only pair is the
    // other ab, 1 - p; then the last, 1 - p.
    let share = (1.0 - p) * (1.0 + p) * (1.0 - p) * (1.0 - p);
    let got = f64::from(whole) / rounds as f64;
    assert!((got - share).abs() < 0.006, "{got} for {share}");
}

#[test]
fn a_long_piece_takes_its_time_and_can_be_stopped() {
    let table = table(&[(0, 0), (4, 4)], 1);
    for p in [0.0, 0.1, 0.9, 0.99, 1.0] {
        let (mut symbols, dropout) = (vec![0; 1 << 18], Dropout::new(p).unwrap());
        let started = std::time::Instant::now();
        let mut numbers = Numbers::of_document(0, 0);
        merge_dropped(&table, &mut symbols, 0, &dropout, &mut numbers, &mut Scratch::default(), &|| false).unwrap();
        assert!(started.elapsed().as_secs() < 60, "not in the square of the length");
    }
    let (mut symbols, dropout) = (vec![0; 1 << 18], Dropout::new(0.1).unwrap());
    let mut numbers = Numbers::of_document(0, 0);
    let stopped = merge_dropped(&table, &mut symbols, 0, &dropout, &mut numbers, &mut Scratch::default(), &|| true);
    assert_eq!(stopped, Err(Error::Interrupted));
}
