//! Texts end to end in one buffer, as Arrow and numpy lay them out: text i is `data[offsets[i]..offsets[i + 1]]`.

use super::Text;
use crate::{Error, Result};

/// Appends the texts of a buffer to `texts`, where they are; the offsets are one more than they. With `utf8` each of them must be
/// UTF-8, else they are bytes of any kind.
///
/// # Errors
/// `Argument` where an offset is below the one before it, or beyond the data; `NotUtf8` inside `InDocument` with the index of
/// the first text that is not.
pub fn append_flat<'a>(
    data: &'a [u8],
    mut offsets: impl Iterator<Item = u64>,
    utf8: bool,
    texts: &mut Vec<Text<'a>>,
) -> Result<()> {
    let (before, first) = (texts.len(), offsets.next().unwrap_or(0));
    let mut start = first;
    for (i, end) in offsets.enumerate() {
        let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
        let Some(text) = range.and_then(|(start, end)| data.get(start..end)) else {
            return Err(Error::Argument(format!(
                "text {i} is said to be at bytes {start} to {end} of {}: the offsets are not those of the data",
                data.len()
            )));
        };
        texts.push(Text::Bytes(text));
        start = end;
    }
    if utf8 && texts.len() > before {
        known_as_utf8(&data[first as usize..start as usize], &mut texts[before..])?;
    }
    Ok(())
}

/// Texts that are `all` when they are joined, checked. All at once is many times faster than one by one, where they are short.
fn known_as_utf8<'a>(all: &'a [u8], texts: &mut [Text<'a>]) -> Result<()> {
    let (all, mut start) = (simdutf8::basic::from_utf8(all).ok(), 0);
    for (index, text) in texts.iter_mut().enumerate() {
        let Text::Bytes(bytes) = *text else { continue };
        let end = start + bytes.len();
        // None where a character is cut in two as well.
        *text = match all.and_then(|all| all.get(start..end)) {
            Some(text) => Text::Utf8(text),
            None => Text::Utf8(std::str::from_utf8(bytes).map_err(|error| {
                let offset = error.valid_up_to();
                Error::InDocument { index, source: Box::new(Error::NotUtf8 { offset, byte: bytes[offset] }) }
            })?),
        };
        start = end;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(data: &[u8], offsets: &[u64], utf8: bool) -> Result<Vec<Vec<u8>>> {
        let mut texts = vec![Text::Latin1(b"\xff")]; // of another buffer: it stays as it is
        append_flat(data, offsets.iter().copied(), utf8, &mut texts)?;
        assert!(matches!(texts[0], Text::Latin1(b"\xff")));
        assert!(texts[1..].iter().all(|text| matches!(text, Text::Utf8(_)) == utf8));
        Ok(texts[1..].iter().map(|text| text.utf8(&mut Vec::new()).bytes().to_vec()).collect())
    }

    fn not_utf8(index: usize, offset: usize, byte: u8) -> Error {
        Error::InDocument { index, source: Box::new(Error::NotUtf8 { offset, byte }) }
    }

    #[test]
    fn texts_are_where_the_offsets_say() {
        let data = "xaé世!".as_bytes();
        assert_eq!(read(data, &[1, 2, 2, 4, 7], true).unwrap(), [&b"a"[..], b"", "é".as_bytes(), "世".as_bytes()]);
        assert_eq!(read(data, &[8, 8], true).unwrap(), [b""]);
        for none in [&[][..], &[0], &[99]] {
            assert!(read(data, none, true).unwrap().is_empty());
        }
    }

    #[test]
    fn offsets_of_other_data_are_refused() {
        for wrong in [&[0, 9][..], &[3, 2], &[9, 9], &[0, 8, u64::MAX], &[u64::MAX, 0], &[u64::MAX, u64::MAX]] {
            for utf8 in [false, true] {
                assert!(matches!(read(b"12345678", wrong, utf8), Err(Error::Argument(_))), "{wrong:?}");
            }
        }
    }

    #[test]
    fn a_character_that_offsets_cut_is_no_utf8() {
        let data = "é".as_bytes();
        assert_eq!(read(data, &[0, 0, 1, 2], true), Err(not_utf8(1, 0, 0xC3)));
        assert_eq!(read(data, &[1, 2], true), Err(not_utf8(0, 0, 0xA9)));
        assert_eq!(read(data, &[0, 1, 2], false).unwrap(), [b"\xC3", b"\xA9"]);
    }

    proptest! {
        #[test]
        fn the_first_text_that_is_no_utf8_is_told(
            texts in prop::collection::vec(prop_oneof![
                4 => any::<String>().prop_map(String::into_bytes),
                1 => prop::collection::vec(any::<u8>(), 0..4),
            ], 0..8),
            before in prop::collection::vec(any::<u8>(), 0..4),
        ) {
            let (mut data, mut offsets) = (before.clone(), vec![before.len() as u64]);
            for text in &texts {
                data.extend(text);
                offsets.push(data.len() as u64);
            }
            data.push(0xFF);
            prop_assert_eq!(&read(&data, &offsets, false).unwrap(), &texts);
            let wrong = texts.iter().enumerate().find_map(|(i, text)| {
                let offset = std::str::from_utf8(text).err()?.valid_up_to();
                Some(not_utf8(i, offset, text[offset]))
            });
            prop_assert_eq!(read(&data, &offsets, true), wrong.map_or(Ok(texts), Err));
        }
    }
}
