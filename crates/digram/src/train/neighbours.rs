//! The neighbours on one side of what a round replaces, each once, with what their pairs lose and gain.

/// No token, or a token that is not in the list.
pub(super) const NONE: u32 = u32::MAX;

/// A list of different tokens, found by an array over all tokens.
pub(super) struct Neighbours {
    /// Token -> its index in `list`, or `NONE`.
    index: Vec<u32>,
    pub(super) list: Vec<Neighbour>,
}

/// One token beside the pair that is replaced (or after one left token, while pairs are counted).
#[derive(Clone, Copy, Default)]
pub(super) struct Neighbour {
    pub(super) token: u32,
    /// The positions of its pair with the new token.
    pub(super) positions: u32,
    /// What its pair with the old token loses.
    pub(super) removed: u64,
    /// What its pair with the new token counts.
    pub(super) added: u64,
    /// Where the next position of its pair with the new token goes, if that enters the table.
    pub(super) place: Option<usize>,
}

impl Neighbours {
    pub(super) fn new(tokens: usize) -> Self {
        Neighbours { index: vec![NONE; tokens], list: Vec::new() }
    }

    /// Makes room for the next token.
    pub(super) fn add_token(&mut self) {
        self.index.push(NONE);
    }

    /// The index of `token` in the list, to which it is added if it is new.
    #[inline]
    pub(super) fn index(&mut self, token: u32) -> u32 {
        let index = &mut self.index[token as usize];
        if *index == NONE {
            *index = self.list.len() as u32;
            self.list.push(Neighbour { token, ..Neighbour::default() });
        }
        *index
    }

    /// Empties the list.
    pub(super) fn clear(&mut self) {
        for neighbour in self.list.drain(..) {
            self.index[neighbour.token as usize] = NONE;
        }
    }
}

impl Neighbour {
    /// Books a position where its pair with the new token stands.
    pub(super) fn gain(&mut self, weight: u64) {
        self.added += weight;
        self.positions += 1;
    }

    /// Takes back a position that was booked.
    pub(super) fn lose(&mut self, weight: u64) {
        self.added -= weight;
        self.positions -= 1;
    }

    /// The place for the next position, if the pair is kept.
    #[inline]
    pub(super) fn next_place(&mut self) -> Option<usize> {
        let place = self.place?;
        self.place = Some(place + 1);
        Some(place)
    }
}
