//! GPT-2's characters for bytes: each byte value has a printable character that stands for it.

use crate::align::Change;

/// The character of each byte: printable ASCII and Latin-1 stand for themselves, the others get U+0100 and up.
/// Source: `bytes_to_unicode` in openai/gpt-2, encoder.py.
pub const CHARACTERS: [char; 256] = table();

const fn is_itself(byte: u8) -> bool {
    matches!(byte, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF)
}

const fn table() -> [char; 256] {
    let mut characters = ['\0'; 256];
    let (mut byte, mut others) = (0, 0);
    while byte < 256 {
        characters[byte] = if is_itself(byte as u8) {
            byte as u8 as char
        } else {
            others += 1;
            char::from_u32(255 + others).expect("at most U+0143")
        };
        byte += 1;
    }
    characters
}

/// The byte that a character stands for.
pub fn byte(character: char) -> Option<u8> {
    // The 68 bytes without a character of their own, in ascending order: 0 to 32, 127 to 160, 173.
    match character as u32 {
        code @ ..0x100 if is_itself(code as u8) => Some(code as u8),
        code @ 0x100..0x121 => Some((code - 0x100) as u8),
        code @ 0x121..0x143 => Some((code - 0x121 + 127) as u8),
        0x143 => Some(173),
        _ => None,
    }
}

/// Text with each byte written as its character.
pub fn written(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| CHARACTERS[usize::from(byte)]).collect()
}

/// The change that writing bytes as characters makes.
pub(crate) fn writing(bytes: &[u8]) -> Change {
    Change::by_byte(bytes, |byte| CHARACTERS[usize::from(byte)].len_utf8())
}

/// The change that reading them back makes.
pub(crate) fn reading(text: &str) -> Change {
    Change::by_character(text, |_| 1)
}

/// The bytes of a text that was written so; none where a character stands for no byte.
pub fn read(text: &str) -> Option<Vec<u8>> {
    text.chars().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_comes_back() {
        for i in 0..=255 {
            assert_eq!(byte(CHARACTERS[usize::from(i)]), Some(i));
        }
        assert_eq!(CHARACTERS[usize::from(b' ')], 'Ġ');
        assert_eq!(CHARACTERS[usize::from(b'\n')], 'Ċ');
        assert_eq!((0..0x11_0000).filter_map(char::from_u32).filter_map(byte).count(), 256);
        assert_eq!(read("aĠ中"), None);
    }
}
