//! Texts that no pattern splits, of vocabularies such as Llama 2's and Gemma's: the whole text is one piece.
//!
//! It is cut where no rule joins two characters (see [`Joints`]) into parts that go through the cache as pieces do. These
//! vocabularies write a space as another character, and mostly put one in front. No text is copied for that: the parts are
//! those of the text as it came, spaces stand for what they become, and only a part that is not in the cache is
//! written as it is merged.

use super::blocks::Pieces;
use super::ids::Ids;
use super::misses::Kind;
use super::parts::next_ends;
use crate::Result;
use crate::normalize::{self, Normalizer};
use crate::split::{Prefix, Splitter, Step};
use crate::vocabulary::{Joints, Vocabulary};
use std::sync::OnceLock;

/// What is done to a text that no pattern splits.
#[derive(Debug)]
pub(in crate::encode) struct Unsplit {
    /// What a space becomes.
    space: Option<char>,
    /// What is put in front: as it is, or, of what a space becomes, a space.
    prefix: String,
    wanted: Prefix,
    /// Whether nothing is put in front of a text that begins with it already.
    unless_there: bool,
    joints: OnceLock<Joints>,
}

impl Unsplit {
    /// The steps of a normalizer and a splitter that come to no more than this; none where they do.
    pub(in crate::encode) fn of(normalizer: &Normalizer, splitter: &Splitter, vocabulary: &Vocabulary) -> Option<Self> {
        let (mut space, mut prefix, mut wanted, mut unless_there) = (None, String::new(), Prefix::Never, false);
        let one = |text: &str| {
            let mut characters = text.chars();
            characters.next().filter(|_| characters.next().is_none())
        };
        for step in &normalizer.0 {
            match step {
                normalize::Step::Replace(find, content) if find.is_text(" ") && space.is_none() => {
                    space = Some(one(content)?);
                    prefix = prefix.replace(' ', content);
                }
                normalize::Step::Prepend(text) => (prefix, wanted) = (format!("{text}{prefix}"), Prefix::Always),
                _ => return None,
            }
        }
        for step in splitter.steps()? {
            match step {
                Step::Metaspace { replacement, prefix: place, split: false }
                    if space.is_none() && prefix.is_empty() =>
                {
                    (space, wanted, unless_there) = (Some(*replacement), *place, true);
                    prefix = replacement.to_string();
                }
                // No space is left that it could find.
                Step::Cut { find, invert: false, .. } if find.is_text(" ") && space.is_some() => {}
                _ => return None,
            }
        }
        // A space in front would be a space, and a place that is told of a changed text is another one.
        let changes = space.is_some() || !prefix.is_empty();
        if changes && ((space.is_some() && prefix.contains(' ')) || !vocabulary.missing_bytes().is_empty()) {
            return None;
        }
        if prefix.is_empty() {
            wanted = Prefix::Never;
        }
        if space.is_some_and(|space| one(&prefix) == Some(space)) {
            prefix = " ".into();
        }
        Some(Self { space, prefix, wanted, unless_there, joints: OnceLock::new() })
    }

    fn joints<'a>(&'a self, vocabulary: &'a Vocabulary) -> &'a Joints {
        match self.space {
            None => vocabulary.joints(),
            Some(space) => self.joints.get_or_init(|| vocabulary.joints().clone().with_spaces_for(space)),
        }
    }

    /// What is put in front of a text.
    fn prefix(&self, text: &str, first: bool) -> &str {
        let there = |space| text.starts_with([' ', space]);
        match self.wanted {
            Prefix::Never => "",
            Prefix::First if !first => "",
            _ if self.unless_there && self.space.is_some_and(there) => "",
            _ => &self.prefix,
        }
    }

    /// Writes a part as it is merged.
    pub(super) fn write(&self, part: &[u8], out: &mut Vec<u8>) {
        out.clear();
        let space = self.space.unwrap_or(' ');
        let mut bytes = [0; 4];
        let space = space.encode_utf8(&mut bytes).as_bytes();
        for &byte in part {
            match byte {
                b' ' => out.extend_from_slice(space),
                other => out.push(other),
            }
        }
    }
}

impl Pieces<'_> {
    /// The ids of a text, one piece, that begins at byte `base` of its document. An error about a character may have the place
    /// of the text in which it is written otherwise.
    pub(in crate::encode) fn append_unsplit(
        &mut self,
        unsplit: &Unsplit,
        text: &str,
        base: usize,
        ids: &mut impl Ids,
    ) -> Result<()> {
        ids.expect(text.len());
        let prefix = unsplit.prefix(text, base == 0);
        if let Some(id) = self.whole_text(unsplit, prefix, text) {
            ids.one(id);
            return Ok(());
        }
        let text = text.as_bytes();
        let joints = unsplit.joints(self.vocabulary);
        let mut ends = std::mem::take(&mut self.room.get().ends);
        let mut at = 0;
        while at < text.len() {
            ends.clear();
            next_ends(joints, text, at, &mut ends);
            let mut ends = &ends[..];
            if at == 0 && !prefix.is_empty() {
                let (first, rest) = ends.split_first().expect("at least one");
                let part = [prefix.as_bytes(), &text[..*first]].concat();
                self.append_ends(&part, 0, &[part.len()], base, Kind::Unsplit(unsplit), ids)?;
                self.settle(&part, base, Kind::Unsplit(unsplit), ids)?;
                (at, ends) = (*first, rest);
            }
            self.append_ends(text, at, ends, base, Kind::Unsplit(unsplit), ids)?;
            at = ends.last().copied().unwrap_or(at);
        }
        self.room.get().ends = ends;
        self.settle(text, base, Kind::Unsplit(unsplit), ids)
    }

    /// The id of a text that is taken whole where merging may give others.
    fn whole_text(&mut self, unsplit: &Unsplit, prefix: &str, text: &str) -> Option<u32> {
        if !self.vocabulary.takes_whole() || text.len() > self.vocabulary.longest_whole() {
            return None;
        }
        let mut written = Vec::new();
        unsplit.write(&[prefix, text].concat().into_bytes(), &mut written);
        self.vocabulary.whole_piece(&written)
    }
}

#[cfg(test)]
mod tests;
