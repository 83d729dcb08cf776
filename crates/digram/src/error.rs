//! Everything that can go wrong in the engine: one variant a kind, one sentence a variant.
//!
//! The sentence names the thing, the place and the way out. Places in text are byte offsets here; whoever holds the
//! original string turns them into character positions.

/// A place in a document. The engine counts bytes; whoever holds the original string may count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A byte offset.
    Byte(usize),
    /// A character offset.
    Character(usize),
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Byte(n) => write!(f, "byte {n}"),
            Self::Character(n) => write!(f, "position {n}"),
        }
    }
}

/// What the engine refuses, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A split pattern that is no regular expression of the supported syntax.
    #[error("the split pattern does not compile at character {position}: {reason} (pattern: {pattern})")]
    Pattern {
        /// The pattern as given.
        pattern: String,
        /// Where in the pattern, in characters.
        position: usize,
        /// What the regex engine says.
        reason: String,
    },
    /// A user's own pattern that needs more backtracking than the engine allows.
    #[error(
        "the split pattern backtracks without end at byte {offset} of the text: use shorter documents, or a pattern without \
         back-references, `\\G`, `\\K`, conditions and atomic groups, which takes linear time (pattern: {pattern})"
    )]
    Backtracking {
        /// The pattern as given.
        pattern: String,
        /// Where the search began, in bytes of the document.
        offset: usize,
    },
    /// A character that the vocabulary's alphabet lacks.
    #[error(
        "character {symbol:?} (U+{code:04X}) at {place} is not in the vocabulary's alphabet: train with \
         unknown=\"bytes\" or with an unknown token to encode any text",
        code = *symbol as u32
    )]
    UnknownCharacter {
        /// The character.
        symbol: char,
        /// Where it stands in the document.
        place: Place,
    },
    /// A byte that the vocabulary cannot represent.
    #[error("byte 0x{byte:02X} at {place} has no token in this vocabulary")]
    UnknownByte {
        /// The byte.
        byte: u8,
        /// Where it stands in the document.
        place: Place,
    },
    /// An id without a token.
    #[error("id {id} has no token in this vocabulary")]
    UnknownId {
        /// The id.
        id: u64,
    },
    /// A text that does not fit into memory.
    #[error("the text of these ids has {bytes} bytes, for which there is not enough memory: decode them in parts")]
    OutOfMemory {
        /// Its length.
        bytes: u64,
    },
    /// A temporary file that cannot be written or read.
    #[error(
        "piece counts beyond the memory limit go to temporary files in {folder}, where one cannot be written or read: {reason}; name a \
         folder with more room, or a higher limit"
    )]
    Temporary {
        /// Where it is.
        folder: std::path::PathBuf,
        /// The system's number for what went wrong.
        code: Option<i32>,
        /// What the system says.
        reason: String,
    },
    /// A special token stands in text where it is disallowed.
    #[error("the text contains the special token {marker:?} at {place}, which is disallowed here")]
    DisallowedSpecial {
        /// The marker.
        marker: String,
        /// Where it stands in the document.
        place: Place,
    },
    /// A character that has more tokens than a part of the text may have.
    #[error(
        "character {symbol:?} at {place} has more tokens than the limit of {limit}: a text is only cut between characters"
    )]
    Indivisible {
        /// The character, or the byte outside any.
        symbol: String,
        /// Where it stands in the document.
        place: Place,
        /// The most tokens of a part.
        limit: usize,
    },
    /// A vocabulary that contradicts itself.
    #[error("{0}")]
    Vocabulary(String),
    /// An argument outside its range.
    #[error("{0}")]
    Argument(String),
    /// Something in one document of several.
    #[error("document {index}: {source}")]
    InDocument {
        /// Which one, from 0.
        index: usize,
        /// What is wrong with it.
        source: Box<Error>,
    },
    /// Bytes that are not UTF-8 where characters are counted.
    #[error("byte {offset} of a text is not UTF-8: a character alphabet is trained on text, so decode the bytes first")]
    NotText {
        /// Where, in bytes of the document.
        offset: usize,
    },
    /// Bytes that are not UTF-8 where strings were promised.
    #[error("a string is not UTF-8 at byte {offset} (0x{byte:02x}): mend it, or cast the column to binary")]
    NotUtf8 {
        /// Where, in bytes of the document.
        offset: usize,
        /// What stands there.
        byte: u8,
    },
    /// A count above 2^64 - 1.
    #[error("the counts of one piece or pair add up to more than 2^64 - 1")]
    CountOverflow,
    /// More distinct text than 32-bit positions can address.
    #[error("the distinct pieces hold more than {limit} symbols: use a split pattern, or train on less text")]
    TooLarge {
        /// The most that fits.
        limit: u64,
    },
    /// A piece beyond 31-bit positions.
    #[error("a piece of the text has more than {limit} symbols: use a split pattern, or encode it in parts")]
    TooLong {
        /// The most that fits.
        limit: usize,
    },
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// The same error with its place in the document, if it has one, moved.
    #[must_use]
    pub fn map_place(self, to: impl Fn(Place) -> Place) -> Self {
        match self {
            Self::UnknownCharacter { symbol, place } => Self::UnknownCharacter { symbol, place: to(place) },
            Self::UnknownByte { byte, place } => Self::UnknownByte { byte, place: to(place) },
            Self::DisallowedSpecial { marker, place } => Self::DisallowedSpecial { marker, place: to(place) },
            Self::Indivisible { symbol, place, limit } => Self::Indivisible { symbol, place: to(place), limit },
            other => other,
        }
    }
}

/// A result of the engine.
pub type Result<T> = std::result::Result<T, Error>;
