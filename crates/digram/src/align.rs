//! Where text came from: after each change of a text, which bytes of the text before it each byte stands for.
//!
//! A [`Change`] is what one step did: stretches that were copied, and stretches that as a whole stand for a range of the
//! text before, which may be longer, shorter or empty. Copied stretches cost nothing but their ends, however long they
//! are. An [`Origin`] is the place of a piece, behind any number of changes; it is as cheap as a number where nobody
//! asks for spans.

use std::ops::Range;

/// What one step did to a text, as stretches of the text after it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Change {
    stretches: Vec<Stretch>,
    length: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Stretch {
    /// Where it begins.
    at: usize,
    /// What it stands for in the text before; of a copied stretch only the start counts.
    from: Range<usize>,
    /// Whether it is that text byte by byte; else each of its bytes stands for the whole of it.
    copied: bool,
}

impl Change {
    /// The next `length` bytes are those from `start` on; they may be other bytes if as many stand for each character.
    pub(crate) fn copy(&mut self, start: usize, length: usize) {
        #[cfg(test)]
        count_work();
        if length == 0 {
            return;
        }
        let goes_on = |last: &Stretch| last.copied && last.from.start + (self.length - last.at) == start;
        if !self.stretches.last().is_some_and(goes_on) {
            self.stretches.push(Stretch { at: self.length, from: start..start, copied: true });
        }
        self.length += length;
    }

    /// The next `length` bytes stand for `from`, as a whole.
    pub(crate) fn replace(&mut self, from: Range<usize>, length: usize) {
        #[cfg(test)]
        count_work();
        if length == 0 {
            return;
        }
        if self.stretches.last().is_none_or(|last| last.copied || last.from != from) {
            self.stretches.push(Stretch { at: self.length, from, copied: false });
        }
        self.length += length;
    }

    /// A text of `length` bytes that had `prefix` bytes put in front: they stand for its first byte, and so, where whole
    /// characters are asked for, for its first character.
    pub(crate) fn prefixed(prefix: usize, length: usize) -> Self {
        let mut change = Self::default();
        change.replace(0..length.min(1), prefix);
        change.copy(0, length);
        change
    }

    /// A text whose characters were each written as another text, of the length that `length` says; nothing where that is 0.
    pub(crate) fn by_character(text: &str, mut length: impl FnMut(char) -> usize) -> Self {
        let mut change = Self::default();
        for (at, character) in text.char_indices() {
            let before = character.len_utf8();
            match length(character) {
                after if after == before => change.copy(at, before),
                after => change.replace(at..at + before, after),
            }
        }
        change
    }

    /// A text whose bytes were each written as a character, of the length that `length` says.
    pub(crate) fn by_byte(bytes: &[u8], length: impl Fn(u8) -> usize) -> Self {
        let mut change = Self::default();
        for (at, &byte) in bytes.iter().enumerate() {
            match length(byte) {
                1 => change.copy(at, 1),
                after => change.replace(at..at + 1, after),
            }
        }
        change
    }

    /// The length of the text after the change, in bytes.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// What a range of the text after stands for in the text before. An empty range is a place, and stays empty.
    pub(crate) fn range(&self, range: Range<usize>) -> Range<usize> {
        if range.is_empty() {
            let place = match range.start {
                at if at < self.length => self.byte(at).start,
                0 => 0,
                at => self.byte(at - 1).end,
            };
            return place..place;
        }
        self.byte(range.start).start..self.byte(range.end - 1).end
    }

    /// What one byte stands for.
    fn byte(&self, at: usize) -> Range<usize> {
        debug_assert!(at < self.length, "no such byte");
        #[cfg(test)]
        count_work();
        let which = self.stretches.partition_point(|stretch| stretch.at <= at) - 1;
        let stretch = &self.stretches[which];
        match stretch.copied {
            true => {
                let from = stretch.from.start + (at - stretch.at);
                from..from + 1
            }
            false => stretch.from.clone(),
        }
    }
}

/// The place where a piece of text begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin<'a> {
    /// Where it begins in the document, in bytes; of a changed text, where the text did that it was made from.
    pub(crate) base: usize,
    /// The same, told in the text after the last of `changes`.
    start: usize,
    changes: Option<&'a Changes<'a>>,
    /// Whether changes are noted.
    pub(crate) tracked: bool,
}

/// Some changes of a text, in order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Changes<'a> {
    /// Where the text began that was changed first.
    before: Origin<'a>,
    list: &'a [Change],
}

impl<'a> Origin<'a> {
    /// Byte `base` of a document.
    pub(crate) fn of_document(base: usize, tracked: bool) -> Self {
        Self { base, start: base, changes: None, tracked }
    }

    /// The place `at` bytes after this one.
    pub(crate) fn part(self, at: usize) -> Self {
        Self { base: self.base + at, start: self.start + at, ..self }
    }

    /// The place `at` bytes after this one, in a text whose pieces are all said to begin in the document where it does.
    pub(crate) fn piece(self, at: usize) -> Self {
        Self { start: self.start + at, ..self }
    }

    /// The text that begins here, to be changed.
    pub(crate) fn changed(self, list: &'a [Change]) -> Changes<'a> {
        Changes { before: self, list }
    }

    /// The bytes of the document that `range` of the text that begins here stands for.
    pub(crate) fn range(&self, range: Range<usize>) -> Range<usize> {
        let mut range = self.start + range.start..self.start + range.end;
        let mut changes = self.changes;
        while let Some(&Changes { before, list }) = changes {
            range = list.iter().rev().fold(range, |range, change| change.range(range));
            range = before.start + range.start..before.start + range.end;
            changes = before.changes;
        }
        range
    }
}

impl Changes<'_> {
    /// The beginning of the text after all changes.
    pub(crate) fn origin(&self) -> Origin<'_> {
        match self.before.tracked {
            true => Origin { start: 0, changes: Some(self), ..self.before },
            false => self.before,
        }
    }
}

#[cfg(test)]
thread_local! {
    static WORK: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

#[cfg(test)]
fn count_work() {
    WORK.set(WORK.get() + 1);
}

/// How many stretches were noted and bytes looked up on this thread, for tests of how the work grows.
#[cfg(test)]
pub(crate) fn work() -> u64 {
    WORK.get()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A change as anyone would note it: of each byte its range.
    type Naive = Vec<Range<usize>>;

    #[derive(Clone, Debug)]
    enum Edit {
        Copy(usize),
        Replace(usize, usize),
    }

    fn edits() -> impl Strategy<Value = Vec<Edit>> {
        let copy = (0usize..5).prop_map(Edit::Copy);
        let replace = (0usize..4, 0usize..4).prop_map(|(from, to)| Edit::Replace(from, to));
        prop::collection::vec(prop_oneof![copy, replace], 0..12)
    }

    fn made(edits: &[Edit]) -> (Change, Naive) {
        let (mut change, mut naive, mut at) = (Change::default(), Vec::new(), 0);
        for edit in edits {
            match *edit {
                Edit::Copy(n) => {
                    change.copy(at, n);
                    naive.extend((at..at + n).map(|i| i..i + 1));
                    at += n;
                }
                Edit::Replace(from, to) => {
                    change.replace(at..at + from, to);
                    naive.extend(std::iter::repeat_n(at..at + from, to));
                    at += from;
                }
            }
        }
        (change, naive)
    }

    proptest! {
        #[test]
        fn ranges_are_those_of_a_list_of_bytes(edits in edits()) {
            let (change, naive) = made(&edits);
            prop_assert_eq!(change.length(), naive.len());
            for start in 0..naive.len() {
                for end in start + 1..=naive.len() {
                    prop_assert_eq!(change.range(start..end), naive[start].start..naive[end - 1].end);
                }
                prop_assert_eq!(change.range(start..start), naive[start].start..naive[start].start);
            }
        }

        /// Two changes, the second of the text after the first, with a part of it taken in between.
        #[test]
        fn changes_of_changes((first, second) in (edits(), edits()), cut in 0usize..6) {
            let (first, naive) = made(&first);
            let (second, after) = made(&second);
            let furthest = after.iter().map(|range| range.end).max().unwrap_or(0);
            prop_assume!(cut + furthest <= naive.len());
            let document = Origin::of_document(7, true);
            let changes = document.changed(std::slice::from_ref(&first));
            let part = changes.origin().part(cut);
            let changes = part.changed(std::slice::from_ref(&second));
            let origin = changes.origin();
            for (at, range) in after.iter().enumerate().filter(|(_, range)| !range.is_empty()) {
                let want = 7 + naive[cut + range.start].start..7 + naive[cut + range.end - 1].end;
                prop_assert_eq!(origin.range(at..at + 1), want);
            }
        }
    }

    #[test]
    fn what_is_not_changed_costs_nothing() {
        let change = Change::by_character(&"a é 中".repeat(1000), char::len_utf8);
        assert_eq!(change.stretches.len(), 1);
        let spaces = Change::by_character(&"a b".repeat(1000), |c| if c == ' ' { 3 } else { 1 });
        assert_eq!(spaces.stretches.len(), 2001);
    }

    #[test]
    fn without_tracking_a_place_is_a_number() {
        let document = Origin::of_document(3, false);
        let change = [Change::prefixed(1, 5)];
        let changes = document.changed(&change);
        assert_eq!(changes.origin().range(0..2), 3..5);
        assert_eq!(changes.origin().part(2).base, 5);
    }
}
