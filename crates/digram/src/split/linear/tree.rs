//! A pattern as a tree of what is regular in it, and of look-around.

/// The number of a set of characters in [`Pattern::sets`].
pub(super) type Set = usize;

/// A pattern that the automata can run.
#[derive(Debug)]
pub(super) struct Pattern {
    pub tree: Tree,
    /// The sets of characters that the tree names.
    pub sets: Vec<regex_syntax::hir::ClassUnicode>,
}

/// What may stand at a place of the text. Alternatives and repetitions are in order of preference.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tree {
    Empty,
    /// One character of a set.
    Class(Set),
    Concat(Vec<Tree>),
    Alternatives(Vec<Tree>),
    Repeat {
        child: Box<Tree>,
        min: usize,
        /// `None` for any number.
        max: Option<usize>,
        greedy: bool,
    },
    /// Nothing, where the character on that side is of a set; where the text ends on that side, `edge` says.
    Beside {
        side: Side,
        set: Set,
        edge: bool,
    },
    /// Nothing, where the body stands on that side of the place, or, with `negative`, where it does not.
    Look {
        side: Side,
        negative: bool,
        body: Box<Tree>,
    },
}

/// A side of a place in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Before,
    After,
}

impl Tree {
    /// How many characters each match has, where all have the same number.
    pub(super) fn width(&self) -> Option<usize> {
        match self {
            Self::Empty | Self::Beside { .. } | Self::Look { .. } => Some(0),
            Self::Class(_) => Some(1),
            Self::Concat(parts) => parts.iter().try_fold(0_usize, |sum, part| sum.checked_add(part.width()?)),
            Self::Alternatives(parts) => {
                let mut widths = parts.iter().map(Self::width);
                let first = widths.next()??;
                widths.all(|width| width == Some(first)).then_some(first)
            }
            Self::Repeat { child, min, max, .. } => match child.width()? {
                0 => Some(0),
                width if Some(*min) == *max => width.checked_mul(*min),
                _ => None,
            },
        }
    }

    /// Whether it may match without a character.
    pub(super) fn may_be_empty(&self) -> bool {
        match self {
            Self::Class(_) => false,
            Self::Empty | Self::Beside { .. } | Self::Look { .. } => true,
            Self::Concat(parts) => parts.iter().all(Self::may_be_empty),
            Self::Alternatives(parts) => parts.iter().any(Self::may_be_empty),
            Self::Repeat { child, min, .. } => *min == 0 || child.may_be_empty(),
        }
    }

    /// Whether it tries to match without a character only when nothing else is left: in order of preference, no match with a
    /// character comes after an empty one.
    ///
    /// Engines differ in what a repetition does after an empty turn: to end it at once is to leave out what the turn would
    /// have tried next. Where there is nothing, they agree.
    pub(super) fn is_empty_last(&self) -> bool {
        match self {
            Self::Empty | Self::Class(_) | Self::Beside { .. } | Self::Look { .. } => true,
            Self::Concat(parts) => !self.may_be_empty() || parts.iter().all(Self::is_empty_last),
            Self::Alternatives(parts) => {
                let empty = parts.iter().position(Self::may_be_empty).unwrap_or(parts.len());
                parts.iter().all(Self::is_empty_last) && parts.iter().skip(empty + 1).all(|p| p.width() == Some(0))
            }
            Self::Repeat { child, min, greedy, .. } => match child.width() {
                Some(0) => true,
                _ => child.is_empty_last() && (*greedy || *min > 0 && !child.may_be_empty()),
            },
        }
    }

    pub(super) fn repeat(self, min: usize, max: Option<usize>, greedy: bool) -> Self {
        Self::Repeat { child: Box::new(self), min, max, greedy }
    }
}
