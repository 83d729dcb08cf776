//! Texts as programs hold them: UTF-8, or code points of a fixed width, which become UTF-8 here.
//!
//! CPython keeps a str as an array of the narrowest numbers that hold all of its code points (PEP 393): one, two or four
//! bytes each. Half surrogates may be among them: a pair is joined, a lone one becomes U+FFFD.

mod flat;
mod transcode;
mod vectors;

pub use flat::append_flat;

use std::ops::Range;

/// A text in memory.
#[derive(Clone, Copy, Debug)]
pub enum Text<'a> {
    /// Bytes, which need not be UTF-8.
    Bytes(&'a [u8]),
    /// UTF-8.
    Utf8(&'a str),
    /// Code points below 256.
    Latin1(&'a [u8]),
    /// Code points below 65,536.
    Ucs2(&'a [u16]),
    /// Code points; what is none becomes U+FFFD.
    Ucs4(&'a [u32]),
}

impl Text<'_> {
    /// The bytes, or the text in UTF-8: where it is, or written over `room`.
    pub fn utf8<'s>(&'s self, room: &'s mut Vec<u8>) -> Document<'s> {
        room.clear();
        match *self {
            Self::Bytes(bytes) => return Document::Bytes(bytes),
            Self::Utf8(text) => return Document::Text(text),
            Self::Latin1(units) => transcode::append(units, room),
            Self::Ucs2(units) => transcode::append(units, room),
            Self::Ucs4(units) => transcode::append(units, room),
        }
        // SAFETY: the room was empty, and what is appended to it is UTF-8.
        #[allow(
            unsafe_code,
            reason = "to look at all of the text again would take longer than some of what is done with it"
        )]
        Document::Text(unsafe { std::str::from_utf8_unchecked(room) })
    }

    /// The bytes that it has in memory: a measure of the work that it makes.
    pub fn size(&self) -> usize {
        match *self {
            Self::Bytes(units) | Self::Latin1(units) => units.len(),
            Self::Utf8(text) => text.len(),
            Self::Ucs2(units) => size_of_val(units),
            Self::Ucs4(units) => size_of_val(units),
        }
    }
}

/// What is encoded: bytes, which may be known to be UTF-8.
#[derive(Clone, Copy, Debug)]
pub enum Document<'a> {
    /// Bytes, which need not be UTF-8.
    Bytes(&'a [u8]),
    /// UTF-8.
    Text(&'a str),
}

impl<'a> Document<'a> {
    /// Its bytes.
    pub fn bytes(self) -> &'a [u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Text(text) => text.as_bytes(),
        }
    }

    /// Some of them. Panics where the range is not within it, or cuts a character of what is known to be UTF-8.
    pub fn part(self, range: Range<usize>) -> Self {
        match self {
            Self::Bytes(bytes) => Self::Bytes(&bytes[range]),
            Self::Text(text) => Self::Text(&text[range]),
        }
    }
}

impl<'a> From<&'a [u8]> for Document<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Bytes(bytes)
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Document<'a> {
    fn from(bytes: &'a [u8; N]) -> Self {
        Self::Bytes(bytes)
    }
}

impl<'a> From<&'a Vec<u8>> for Document<'a> {
    fn from(bytes: &'a Vec<u8>) -> Self {
        Self::Bytes(bytes)
    }
}

impl<'a> From<&'a str> for Document<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}
