//! The pieces of a document. Included by path where more than the tests of this crate need it.

use digram::Result;
use digram::split::Splitter;
use std::ops::Range;

/// The pieces of `document`, checked to be its bytes, none lost, none twice, none of them empty.
pub fn pieces(splitter: &Splitter, document: &[u8]) -> Result<Vec<Range<usize>>> {
    let (mut pieces, mut at) = (Vec::new(), 0);
    splitter.for_each_piece(document, |piece| {
        assert!(piece.start == at && piece.end > at, "{piece:?} after byte {at}");
        at = piece.end;
        pieces.push(piece);
        Ok(())
    })?;
    assert_eq!(at, document.len());
    Ok(pieces)
}
