//! From bytes to the parts of a case: choices come first, the document is what is left.

use arbitrary::Unstructured;

/// Characters and strings that patterns, alphabets and encoders treat in a way of their own.
const UNITS: [&[u8]; 64] = [
    b"a",
    b"b",
    b"c",
    b"A",
    b"B",
    b"s",
    b"S",
    b" ",
    b"  ",
    b"\n",
    b"\r",
    b"\t",
    b"'",
    b"'s",
    b"'LL",
    b"'ve",
    b"'re",
    b"1",
    b"23",
    b"0000",
    b"/",
    b"!",
    b"?!",
    b"_",
    b"-",
    b"<",
    b">",
    b"<|",
    b"|>",
    b"<s>",
    b"<|e|>",
    b"<0xE4>",
    b"ab",
    b"abc",
    b"aaaa",
    b"\0",
    b"\x1c",
    b"\x7f",
    "é".as_bytes(),
    "É".as_bytes(),
    "ſ".as_bytes(),
    "İ".as_bytes(),
    "ß".as_bytes(),
    "\u{301}".as_bytes(),
    "\u{323}".as_bytes(),
    "ʰ".as_bytes(),
    "ǅ".as_bytes(),
    "中".as_bytes(),
    "文".as_bytes(),
    "²".as_bytes(),
    "Ⅷ".as_bytes(),
    "▁".as_bytes(),
    "\u{a0}".as_bytes(),
    "\u{2028}".as_bytes(),
    "\u{3000}".as_bytes(),
    "\u{200d}".as_bytes(),
    "ﬁ".as_bytes(),
    "가".as_bytes(),
    "👍🏽".as_bytes(),
    "\u{10ffff}".as_bytes(),
    b"\xff",
    b"\xe4\xb8",
    b"\xf0\x9f\x98",
    b"\xed\xa0\x80",
];

/// A choice. Where the bytes are used up, it is the first one.
pub fn one_of<T: Clone>(u: &mut Unstructured, items: &[T]) -> T {
    u.choose(items).unwrap_or(&items[0]).clone()
}

/// A number of `0..=most`; where the bytes are used up, 0.
pub fn up_to(u: &mut Unstructured, most: usize) -> usize {
    u.int_in_range(0..=most).unwrap_or(0)
}

/// True once in `n` times, and not where the bytes are used up.
pub fn once_in(u: &mut Unstructured, n: usize) -> bool {
    up_to(u, n - 1) == n - 1
}

/// A short text of a few units.
pub fn text(u: &mut Unstructured, most: usize) -> String {
    let units: Vec<&[u8]> = (0..up_to(u, most)).map(|_| one_of(u, &UNITS[..60])).collect();
    String::from_utf8(units.concat()).expect("the units before the last four are text")
}

/// All that is left, as a document of at most `limit` bytes: as it is; a unit for each byte; or runs, a unit and a number
/// for each two bytes.
pub fn document(mut u: Unstructured, limit: usize) -> Vec<u8> {
    let kind = up_to(&mut u, 3);
    let rest = u.take_rest();
    let unit = |byte: u8| UNITS[usize::from(byte) % UNITS.len()];
    let mut document: Vec<u8> = match kind {
        0 | 1 => rest.to_vec(),
        2 => rest.iter().take(limit).flat_map(|&byte| unit(byte).iter().copied()).collect(),
        _ => {
            let runs = rest.chunks(2).take(limit);
            runs.flat_map(|two| unit(two[0]).repeat(usize::from(*two.last().expect("chunks hold something")))).collect()
        }
    };
    document.truncate(limit);
    document
}
