//! Texts as programs hold them: UTF-8, or code points of a fixed width, which become UTF-8 here.
//!
//! CPython keeps a str as an array of the narrowest numbers that hold all of its code points (PEP 393): one, two or four
//! bytes each. Half surrogates may be among them: a pair is joined, a lone one becomes U+FFFD.

mod transcode;
mod vectors;

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
    pub fn utf8<'s>(&'s self, room: &'s mut Vec<u8>) -> &'s [u8] {
        room.clear();
        match *self {
            Self::Bytes(bytes) => return bytes,
            Self::Utf8(text) => return text.as_bytes(),
            Self::Latin1(units) => transcode::append(units, room),
            Self::Ucs2(units) => transcode::append(units, room),
            Self::Ucs4(units) => transcode::append(units, room),
        }
        room
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
