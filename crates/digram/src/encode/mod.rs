//! Documents -> ids: special tokens that the caller trusts are cut out, the rest is split, each piece is merged.

mod added;
mod alone;
mod batch;
mod chunks;
mod decode;
mod decoder;
mod decoder_stream;
mod dropout;
mod encoder_stream;
mod fast;
mod parts;
mod prefix;
mod runs;
mod spans;
mod spelt;
mod truncate;
mod unstable;

pub use added::{AddedToken, Allowed};
pub use batch::{Batch, RUN, work_of_all};
pub use chunks::Chunk;
pub use decode::Decoded;
pub use decoder::{Decoder, Step as DecoderStep};
pub use decoder_stream::DecoderStream;
pub use encoder_stream::EncoderStream;
pub use parts::DocumentPart;
pub use spans::{Spanned, character_spans};

use crate::align::Origin;
use crate::error::{Error, Place, Result};
use crate::normalize::{Normalizer, byte_characters};
use crate::specials::SpecialMatcher;
use crate::split::{Splitter, for_each_stretch};
use crate::text::Document;
use crate::vocabulary::{Special, Vocabulary};
use added::Stretch;
use fast::{Appended, Counted, Ids, Listed, Pieces, Spare, Unsplit};
use hashbrown::HashMap;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

/// A frozen tokenizer: vocabulary, split pattern, special tokens. Share it between threads freely.
#[derive(Debug)]
pub struct Encoder {
    vocabulary: Vocabulary,
    splitter: Splitter,
    around: Around,
    /// Special tokens: marker -> place in `around.added`.
    specials: HashMap<String, usize>,
    /// The strings of added tokens by id, where they are not what the vocabulary spells.
    added_by_id: HashMap<u32, Vec<u8>>,
    /// What ids are spelt, once one was decoded.
    spelt: OnceLock<spelt::Spelt>,
    /// The same where the decoder has steps; none where they do not treat each token by itself.
    alone: OnceLock<Option<alone::Alone>>,
    /// Added tokens that always match.
    always: Allowed,
    /// All added tokens.
    all: Allowed,
    /// The most bytes that one token stands for, added tokens aside.
    longest: usize,
    /// Memory for calls.
    spare: Spare,
    /// What is done to a text that no pattern splits, where that is little.
    unsplit: Option<Unsplit>,
}

/// What surrounds splitting and merging, as far as a vocabulary has it.
#[derive(Clone, Debug, Default)]
pub struct Around {
    /// What is done to the text first.
    pub normalizer: Normalizer,
    /// Tokens that are cut out of the text, special ones among them.
    pub added: Vec<AddedToken>,
    /// Whether pieces end up as characters that stand for bytes, to be read before merging.
    pub byte_characters: bool,
    /// How ids become text.
    pub decoder: Decoder,
    /// Ids before and after a text, for calls that want them.
    pub template: (Vec<u32>, Vec<u32>),
}

/// What a call does with special tokens in the text. By default all text is ordinary.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'a> {
    /// Markers that become their ids; the longest wins.
    pub allowed: Option<&'a Allowed>,
    /// Markers that are an error.
    pub disallowed: Option<&'a SpecialMatcher>,
    /// Whether the ids of the template go around the text.
    pub template: bool,
}

impl Options<'_> {
    /// `DisallowedSpecial` where a marker that is an error is in the text.
    fn refuse(&self, document: &[u8]) -> Result<()> {
        self.disallowed.map_or(Ok(()), |markers| markers.refuse(document))
    }
}

/// How many bytes of pieces are encoded between two looks at whether to stop.
const BETWEEN_STOPS: usize = 1 << 20;

/// Texts of up to so many bytes have their ids appended one piece after the other.
const SHORT: usize = 512;

impl Encoder {
    /// Puts a tokenizer together. `specials` are the ones that the vocabulary was built with.
    ///
    /// # Errors
    /// `Vocabulary` where a marker is given two ids.
    pub fn new(vocabulary: Vocabulary, splitter: Splitter, specials: &[Special]) -> Result<Self> {
        Self::with(vocabulary, splitter, specials, Around::default())
    }

    /// As [`Self::new`], with what surrounds splitting and merging. Special tokens of `around.added` may be among
    /// `specials`; the others of `specials` have no flags.
    ///
    /// # Errors
    /// `Vocabulary` where a marker is given two ids, an added token has an id that is another token's, or the template
    /// names an id without a token.
    pub fn with(
        mut vocabulary: Vocabulary,
        splitter: Splitter,
        specials: &[Special],
        mut around: Around,
    ) -> Result<Self> {
        let mut by_marker = HashMap::new();
        for (i, token) in around.added.iter().enumerate().filter(|(_, token)| token.special) {
            by_marker.insert(token.text.clone(), i);
        }
        for (marker, id) in specials {
            let known = *by_marker.entry_ref(marker.as_str()).or_insert_with(|| {
                around.added.push(AddedToken { text: marker.clone(), id: *id, special: true, ..AddedToken::default() });
                around.added.len() - 1
            });
            if around.added[known].id != *id {
                return Err(Error::Vocabulary(format!("the special token {marker:?} is given two ids")));
            }
        }
        for token in &around.added {
            vocabulary.add_token(&token.text, token.id)?;
        }
        let tokens = vocabulary.tokens();
        if let Some(id) = around.template.0.iter().chain(&around.template.1).find(|&&id| !tokens.contains(id)) {
            return Err(Error::Vocabulary(format!("the template puts id {id} around a text, which no token has")));
        }
        let normalizer = &around.normalizer;
        let all = Allowed::of(around.added.iter(), normalizer)?;
        let always = Allowed::of(around.added.iter().filter(|token| !token.special), normalizer)?;
        // An added token that is looked for in normalised text is decoded to that; characters for bytes are read back.
        let mut added_by_id = HashMap::new();
        let flagged = |token: &&AddedToken| token.normalized || !token.special || around.decoder != Decoder::Bytes;
        for token in around.added.iter().filter(flagged) {
            let mut text = Cow::Borrowed(token.text.as_bytes());
            if token.normalized {
                let normal = normalizer.apply(&token.text)?;
                let bytes = normalizer.writes_bytes().then(|| byte_characters::read(&normal)).flatten();
                text = Cow::Owned(bytes.unwrap_or_else(|| normal.into_owned().into_bytes()));
            }
            let same = vocabulary.tokens().written(token.id) == Some(&*text);
            if !same || around.decoder != Decoder::Bytes {
                added_by_id.entry(token.id).or_insert_with(|| text.into_owned());
            }
        }
        let longest = usize::try_from(vocabulary.most_bytes()).unwrap_or(usize::MAX);
        let unsplit = match around.byte_characters {
            true => None,
            false => Unsplit::of(&around.normalizer, &splitter, &vocabulary),
        };
        Ok(Self {
            vocabulary,
            splitter,
            around,
            specials: by_marker,
            added_by_id,
            spelt: OnceLock::new(),
            alone: OnceLock::new(),
            always,
            all,
            longest,
            spare: Spare::default(),
            unsplit,
        })
    }

    /// The vocabulary.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// The splitter.
    pub fn splitter(&self) -> &Splitter {
        &self.splitter
    }

    /// All special tokens, to be allowed.
    pub fn all_specials(&self) -> &Allowed {
        &self.all
    }

    /// Some special tokens, to be allowed.
    ///
    /// # Errors
    /// `Argument`, naming a marker that is no special token of this vocabulary.
    pub fn some_specials(&self, markers: &[&str]) -> Result<Allowed> {
        let chosen: Result<Vec<_>> = markers
            .iter()
            .map(|&marker| match self.specials.get(marker) {
                Some(&i) => Ok(&self.around.added[i]),
                None => Err(Error::Argument(format!(
                    "{marker:?} is not a special token of this vocabulary, so it cannot be allowed"
                ))),
            })
            .collect();
        let always = self.around.added.iter().filter(|token| !token.special);
        Allowed::of(always.chain(chosen?), &self.around.normalizer)
    }

    /// Appends the ids of `document` to `out`.
    ///
    /// # Errors
    /// `UnknownCharacter`, `UnknownByte`, `DisallowedSpecial`, `Backtracking`, with the place in bytes of the document;
    /// `Interrupted` once `stop` returns true. `out` may then hold some ids.
    pub fn encode<'a>(
        &self,
        document: impl Into<Document<'a>>,
        options: Options,
        out: &mut Vec<u32>,
        stop: &dyn Fn() -> bool,
    ) -> Result<()> {
        if options.template {
            out.extend_from_slice(&self.around.template.0);
        }
        let document = document.into();
        if document.bytes().len() <= SHORT {
            self.encode_into(document, options, &mut Appended(out), stop)?;
        } else {
            self.encode_into(document, options, &mut Listed::new(out), stop)?;
        }
        if options.template {
            out.extend_from_slice(&self.around.template.1);
        }
        Ok(())
    }

    /// The number of ids of `document`, without a list of them.
    ///
    /// # Errors
    /// As [`Self::encode`].
    pub fn count<'a>(
        &self,
        document: impl Into<Document<'a>>,
        options: Options,
        stop: &dyn Fn() -> bool,
    ) -> Result<u64> {
        let mut ids = Counted::default();
        self.encode_into(document.into(), options, &mut ids, stop)?;
        Ok(ids.0 + self.template_length(options) as u64)
    }

    /// The ids of a document, to wherever they go; what surrounds a text aside.
    fn encode_into<I: Ids>(
        &self,
        document: Document,
        options: Options,
        ids: &mut I,
        stop: &dyn Fn() -> bool,
    ) -> Result<()> {
        let mut pieces = Pieces::new(self, stop);
        let allowed = options.allowed.unwrap_or(&self.always);
        let unsplit = self.unsplit.as_ref().filter(|_| allowed.is_plain());
        if unsplit.is_none() && !(self.keeps_normal_text(allowed) && self.splitter.has_ends()) {
            return self.for_each_part(document.bytes(), options, false, stop, &mut |part| {
                match part {
                    Part::Token(id, _) => ids.one(id),
                    Part::Piece(piece, origin) => pieces.append_piece(piece, origin.base, ids)?,
                }
                Ok(())
            });
        }
        let bytes = document.bytes();
        options.refuse(bytes)?;
        for_each_marked(bytes, allowed, &mut |stretch| {
            let (base, stretch) = match stretch {
                Stretch::Token(id, _) => {
                    ids.one(id);
                    return Ok(());
                }
                Stretch::Text(range) => (range.start, document.part(range)),
            };
            for_each_stretch(stretch, |part| match part {
                Ok((text, at)) => {
                    let at = base + at;
                    let result = match unsplit {
                        Some(unsplit) => pieces.append_unsplit(unsplit, text, at, ids),
                        None => match self.around.normalizer.apply(text)? {
                            Cow::Borrowed(text) => return pieces.append_text(text, at, ids),
                            Cow::Owned(normal) => pieces.append_text(&normal, at, ids),
                        },
                    };
                    result.map_err(|error| placed(error, text, at))
                }
                Err(range) => {
                    let start = base + range.start;
                    pieces.append_piece(&stretch.bytes()[range], start, ids)
                }
            })
        })
    }

    /// Cuts a document into added tokens and pieces. Where they come from is known only where it is `tracked`, or the text
    /// is not changed.
    fn for_each_part(
        &self,
        document: &[u8],
        options: Options,
        tracked: bool,
        stop: &dyn Fn() -> bool,
        each: &mut dyn FnMut(Part) -> Result<()>,
    ) -> Result<()> {
        options.refuse(document)?;
        let allowed = options.allowed.unwrap_or(&self.always);
        if !self.keeps_text(allowed) {
            return self.for_each_part_of_changed(document, allowed, tracked, stop, each);
        }
        for_each_marked(document, allowed, &mut |stretch| match stretch {
            Stretch::Token(id, place) => each(Part::Token(id, place)),
            Stretch::Text(range) => self.splitter.for_each_piece_within(document, range, stop, |piece| {
                each(Part::Piece(&document[piece.clone()], Origin::of_document(piece.start, false)))
            }),
        })
    }

    /// The number of ids that go around every text.
    fn template_length(&self, options: Options) -> usize {
        let (before, after) = &self.around.template;
        if options.template { before.len() + after.len() } else { 0 }
    }

    /// Whether pieces are stretches of the document once it is normalised, and markers are cut out of it before.
    fn keeps_normal_text(&self, allowed: &Allowed) -> bool {
        allowed.is_plain() && !self.splitter.changes_text() && !self.around.byte_characters
    }

    /// Whether pieces are stretches of the document, as it is.
    fn keeps_text(&self, allowed: &Allowed) -> bool {
        self.around.normalizer.is_empty() && allowed.is_plain() && !self.splitter.changes_text()
    }

    /// [`Self::for_each_part`] where text is not what it was: a document at a time, well-formed stretch by stretch.
    fn for_each_part_of_changed(
        &self,
        document: &[u8],
        allowed: &Allowed,
        tracked: bool,
        stop: &dyn Fn() -> bool,
        each: &mut dyn FnMut(Part) -> Result<()>,
    ) -> Result<()> {
        let origin = |at| Origin::of_document(at, tracked);
        for_each_stretch(document.into(), |stretch| match stretch {
            Ok((text, at)) => self.for_each_part_of_text(text, origin(at), allowed, stop, each),
            Err(range) => each(Part::Piece(&document[range.clone()], origin(range.start))),
        })
    }

    /// The parts of one well-formed text that begins at `origin`.
    fn for_each_part_of_text(
        &self,
        text: &str,
        origin: Origin,
        allowed: &Allowed,
        stop: &dyn Fn() -> bool,
        each: &mut dyn FnMut(Part) -> Result<()>,
    ) -> Result<()> {
        allowed.before.for_each_stretch(text, &mut |stretch| {
            let stretch = match stretch {
                Stretch::Token(id, range) => return each(Part::Token(id, origin.range(range))),
                Stretch::Text(range) => range,
            };
            let (original, origin) = (&text[stretch.clone()], origin.part(stretch.start));
            let start = origin.base;
            let (normal, changes) = match origin.tracked {
                true => self.around.normalizer.apply_aligned(original)?,
                false => (self.around.normalizer.apply(original)?, Vec::new()),
            };
            let changes = origin.changed(&changes);
            let origin = changes.origin();
            allowed.after.for_each_stretch(&normal, &mut |stretch| {
                let range = match stretch {
                    Stretch::Token(id, range) => return each(Part::Token(id, origin.range(range))),
                    Stretch::Text(range) => range,
                };
                let (first, origin) = (start == 0 && range.start == 0, origin.part(range.start));
                self.splitter.for_each_text(&normal[range], origin, first, stop, &mut |piece, origin| {
                    let result = match self.around.byte_characters {
                        true => {
                            let bytes = read_bytes(piece, origin.base)?;
                            let change = origin.tracked.then(|| byte_characters::reading(piece));
                            each(Part::Piece(&bytes, origin.changed(change.as_slice()).origin()))
                        }
                        false => each(Part::Piece(piece.as_bytes(), origin)),
                    };
                    result.map_err(|error| placed(error, original, start))
                })
            })
        })
    }
}

/// Calls `each` with the added tokens of a document that are plain, and with what stands between them.
fn for_each_marked(document: &[u8], allowed: &Allowed, each: &mut dyn FnMut(Stretch) -> Result<()>) -> Result<()> {
    let mut done = 0;
    while let Some((place, id)) = allowed.before.find(document, done) {
        each(Stretch::Text(done..place.start))?;
        done = place.end;
        each(Stretch::Token(id, place))?;
    }
    each(Stretch::Text(done..document.len()))
}

/// The bytes that the characters of a piece stand for.
fn read_bytes(piece: &str, at: usize) -> Result<Vec<u8>> {
    byte_characters::read(piece).ok_or_else(|| {
        let symbol = piece.chars().find(|&c| byte_characters::byte(c).is_none()).unwrap_or_default();
        Error::UnknownCharacter { symbol, place: Place::Byte(at) }
    })
}

/// An error about a changed text, told of the text as it was: an unknown character is where it first stands in it, and where it
/// does not, its text begins there.
fn placed(error: Error, original: &str, start: usize) -> Error {
    match error {
        Error::UnknownCharacter { symbol, .. } => {
            let place = Place::Byte(start + original.find(symbol).unwrap_or(0));
            Error::UnknownCharacter { symbol, place }
        }
        other => other,
    }
}

enum Part<'a> {
    /// An added token, and the bytes of the document that it stands for.
    Token(u32, Range<usize>),
    /// The bytes of a piece, and where it begins.
    Piece(&'a [u8], Origin<'a>),
}
