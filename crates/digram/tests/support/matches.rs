//! What a pattern's pieces are, by the regex crate's own iterator over matches. Included by path wherever that is the twin.

use fancy_regex::Regex;
use std::ops::Range;

/// The matches that are not empty, and the gaps between them; `None` where the engine gives up.
pub fn by_find_iter(regex: &Regex, text: &str) -> Option<Vec<Range<usize>>> {
    let (mut pieces, mut done) = (Vec::new(), 0);
    for found in regex.find_iter(text) {
        let found = found.ok()?.range();
        if found.is_empty() {
            continue;
        }
        if found.start > done {
            pieces.push(done..found.start);
        }
        done = found.end;
        pieces.push(found);
    }
    if done < text.len() {
        pieces.push(done..text.len());
    }
    Some(pieces)
}

/// A pattern without a limit of steps.
pub fn unlimited(pattern: &str) -> Regex {
    fancy_regex::RegexBuilder::new(pattern).backtrack_limit(usize::MAX).build().unwrap()
}
