//! The canonical check: does every token, encoded with lower ranks only, end in exactly its two parts?
//!
//! Where it holds, each token encodes to itself, and pair, ranked and ordered readings agree (research: Berglund and van der
//! Merwe 2023; the neighbour test is that of the `bpe` crate's README, restated here on ranks).

use crate::merge::Rules;

/// The two parts of a merged token, and its rank + 1. A rank of 0 says: a base symbol, no parts.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub(crate) struct Parts {
    pub left: u32,
    pub right: u32,
    pub rank: u32,
}

/// Whether `left` and `right` stay two tokens when their symbols are merged by rules of rank below `limit`, given
/// that each of them encodes to itself.
///
/// Time runs backwards: of the two tokens the one formed later is taken apart again. Had the neighbours at the
/// boundary a rule that came before that moment, they would have merged across the boundary. Of two tokens formed at the same rank,
/// the left one was formed first, so the right one is taken apart first, and a rule of that very rank across the boundary,
/// being further left, would have come before it. Takes as many steps as there are tokens along the boundary.
pub(crate) fn stay_apart<R: Rules>(rules: &R, parts: &[Parts], left: u32, right: u32, limit: u32) -> bool {
    // In rank + 1, as in `Parts`; "rank < bound" is "rank + 1 <= bound".
    let (mut left, mut right, mut bound) = (left, right, limit);
    loop {
        if rules.merge(left, right, 0).is_some_and(|merge| merge.rank < bound) {
            return false;
        }
        let (l, r) = (parts[left as usize], parts[right as usize]);
        if l.rank > r.rank {
            bound = l.rank - 1;
            left = l.right;
        } else if r.rank > 0 {
            bound = r.rank;
            right = r.left;
        } else {
            return true;
        }
    }
}
