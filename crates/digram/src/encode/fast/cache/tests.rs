//! The cache against a map.

use super::super::key::LONGEST_KEPT;
use super::super::view::Far;
use super::*;
use proptest::prelude::*;
use std::collections::HashMap;

fn key(piece: &[u8]) -> Key {
    Key::of(piece, 0, piece.len())
}

fn ids(cache: &Cache, piece: &[u8]) -> Option<Vec<u32>> {
    let (view, mut room) = (cache.view(), [std::mem::MaybeUninit::uninit(); super::super::view::BLOCK]);
    let &[(key, line)] = view.ask::<false>(piece, 0, &[piece.len()], &mut room) else { unreachable!() };
    match view.get(key, line, &mut Far::default())? {
        Hit::Few(ids, first, count) => Some([&[first], &ids[1..]].concat()[..count].to_vec()),
        Hit::Apart(place, count) => Some(view.apart(key, place, count, piece)?.to_vec()),
    }
}

fn insert(cache: &mut Cache, piece: &[u8], ids: &[u32]) {
    cache.insert(key(piece), piece, ids);
}

/// Each entry is found under its key, and they are as many as are counted.
fn check(cache: &Cache) {
    assert_eq!(lost(cache), 0);
}

/// How many entries are not found; of those that are there all must be counted.
fn lost(cache: &Cache) -> usize {
    let (mut used, mut lost) = (0, 0);
    for (line, entries) in cache.lines.iter().enumerate() {
        for (at, entry) in entries.0.iter().enumerate().filter(|(_, entry)| !entry.is_free()) {
            lost += usize::from(cache.find(entry.key) != Place::Taken(line, at));
            used += 1;
        }
    }
    assert_eq!(used, cache.used);
    lost
}

proptest! {
    #[test]
    fn what_is_there_is_what_was_put(pieces in prop::collection::vec(("[ab]{1,18}|[ab]{240,260}", 0usize..9, any::<bool>()), 0..400)) {
        let (mut cache, mut map) = (Cache::new(), HashMap::new());
        for (n, (piece, count, near)) in pieces.iter().enumerate() {
            prop_assert_eq!(&ids(&cache, piece.as_bytes()), &map.get(piece).cloned());
            if piece.len() <= LONGEST_KEPT {
                let ids: Vec<u32> = (0..*count as u32).map(|i| i + n as u32).collect();
                insert(&mut cache, piece.as_bytes(), &ids);
                map.entry(piece.clone()).or_insert(ids);
            }
            if *near {
                cache.bring_near(key(piece.as_bytes()));
            }
        }
        check(&cache);
    }

    /// In a small table, of which most is taken: whatever is removed and moved, all that is left is found.
    #[test]
    fn what_is_left_is_found(steps in prop::collection::vec((0u32..3000, 0u8..8), 1500..3000), kept in 500usize..1900) {
        let mut cache = Cache::new();
        for (n, what) in steps {
            let piece = n.to_string();
            match what {
                0 => cache.bring_near(key(piece.as_bytes())),
                1 => if let Place::Taken(line, at) = cache.find(key(piece.as_bytes())) {
                    cache.remove(line, at);
                    prop_assert!(!matches!(cache.find(key(piece.as_bytes())), Place::Taken(..)));
                },
                _ => {
                    if cache.used >= kept {
                        cache.remove_one();
                    }
                    cache.put(Entry::with(key(piece.as_bytes()), &[n]).unwrap(), cache.find(key(piece.as_bytes())));
                    prop_assert_eq!(ids(&cache, piece.as_bytes()), Some(vec![n]));
                }
            }
        }
        prop_assert!(cache.lines.len() == FEWEST_LINES && cache.used <= kept);
        check(&cache);
    }
}

#[test]
fn a_full_cache_keeps_its_bounds_and_never_errs() {
    let mut cache = Cache::new();
    let piece = |n: u32| if n.is_multiple_of(7) { format!("{n:020}") } else { n.to_string() };
    for n in 0..1_700_000u32 {
        let many = if n % 30 == 0 { 6 } else { n as usize % 3 };
        insert(&mut cache, piece(n).as_bytes(), &vec![n; many]);
        assert_eq!(ids(&cache, piece(n).as_bytes()), Some(vec![n; many]));
        if n.is_multiple_of(3) {
            cache.bring_near(key(piece(n / 2).as_bytes()));
        }
    }
    assert!(cache.lines.len() == MOST_LINES && cache.used <= MOST_USED && cache.apart.is_within_bounds());
    // A run of full lines may be too long to be closed up.
    assert!(lost(&cache) < cache.used / 1000, "{}", lost(&cache));
    let there = (0..1_700_000u32).filter_map(|n| Some((n, ids(&cache, piece(n).as_bytes())?)));
    let there: Vec<_> = there.collect();
    assert!(there.iter().all(|(n, ids)| ids.iter().all(|id| id == n)));
    assert!(there.len() > MOST_USED / 2, "{}", there.len());
}

#[test]
fn ids_that_are_large_or_gone() {
    let mut cache = Cache::new();
    insert(&mut cache, b"large", &[u32::MAX, 1 << 28]);
    insert(&mut cache, b"most", &[(1 << 28) - 1; 4]);
    insert(&mut cache, b"none", &[]);
    assert_eq!(ids(&cache, b"large"), Some(vec![u32::MAX, 1 << 28]));
    assert_eq!(ids(&cache, b"most"), Some(vec![(1 << 28) - 1; 4]));
    assert_eq!(ids(&cache, b"none"), Some(vec![]));
    insert(&mut cache, b"very many", &vec![1; 1 << 20]);
    assert_eq!(ids(&cache, b"very many"), None);
    for n in 0..40_000u32 {
        insert(&mut cache, format!("{n:0200}").as_bytes(), &[n]);
    }
    assert_eq!(ids(&cache, b"large"), None, "the ring went round");
    assert_eq!(ids(&cache, format!("{:0200}", 39_999).as_bytes()), Some(vec![39_999]));
    insert(&mut cache, b"large", &[u32::MAX, 7]);
    assert_eq!(ids(&cache, b"large"), Some(vec![u32::MAX, 7]));
    check(&cache);
}

#[test]
fn pieces_of_one_hash_are_looked_for_in_few_lines() {
    // Longer pieces with the same length and hash have one key: the last of them is there.
    let mut cache = Cache::new();
    let one = key(b"a piece of twenty b.");
    cache.insert(one, b"a piece of twenty b.", &[1, 2]);
    cache.insert(one, b"another one, of 20 b", &[3]);
    assert_eq!(ids(&cache, b"a piece of twenty b."), None);
    cache.insert(one, b"a piece of twenty b.", &[1, 2]);
    assert_eq!(ids(&cache, b"a piece of twenty b."), Some(vec![1, 2]));
    // Keys with one line: no more of them are kept than its reach has room for.
    let line = |cache: &Cache, n: u32| cache.own_line(key(n.to_string().as_bytes()));
    let together: Vec<u32> = (0..200_000).filter(|&n| line(&cache, n) == FEWEST_LINES - 3).collect();
    assert!(together.len() > 2 * ENTRIES * REACH);
    for &n in &together {
        insert(&mut cache, n.to_string().as_bytes(), &[n]);
        assert_eq!(ids(&cache, n.to_string().as_bytes()), Some(vec![n]));
    }
    let there = together.iter().filter(|&&n| ids(&cache, n.to_string().as_bytes()) == Some(vec![n])).count();
    assert!((ENTRIES * REACH - 2..=ENTRIES * REACH).contains(&there), "{there}");
    check(&cache);
}

#[test]
fn lines_that_were_filled_on_purpose_are_of_use_again() {
    let mut cache = Cache::new();
    let line = |n: u32| cache.own_line(key(n.to_string().as_bytes()));
    let mut together = (0..400_000).filter(|&n| line(n) == 7).collect::<Vec<u32>>();
    assert!(together.len() > 8 * ENTRIES * REACH);
    let wanted = together.split_off(together.len() - ENTRIES * REACH / 2);
    for &n in together.iter().chain(&wanted) {
        insert(&mut cache, n.to_string().as_bytes(), &[n]);
    }
    assert!(wanted.iter().all(|&n| ids(&cache, n.to_string().as_bytes()) == Some(vec![n])));
    check(&cache);
}
