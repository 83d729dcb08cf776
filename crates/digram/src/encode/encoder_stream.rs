//! Text -> ids, part by part: the ids that no later text can change come at once, the others when it can no more.
//!
//! A part of the text is settled up to a safe cut of the split pattern (see `split::cuts`) or the end of an added token,
//! unless a marker may begin before it that is not whole yet. Where characters are composed (NFC), the two around a cut must
//! be such that nothing on one side changes the other. Where the pattern has no known safe cut, where there is
//! none, and where the vocabulary changes the text otherwise, all is held back until the end.

use super::{Allowed, Encoder, Options};
use crate::error::Place;
use crate::specials::disallowed;
use crate::{Error, Result};

/// Encodes a text as it comes. It belongs to the encoder that made it.
#[derive(Clone, Debug, Default)]
pub struct EncoderStream {
    /// What is not settled.
    held: Vec<u8>,
    /// How much of `held` was looked at: no marker begins before, nor is there a cut.
    looked: usize,
    /// The bytes and characters of the text before `held`.
    bytes: usize,
    characters: usize,
    /// Whether the ids that come before a text were given.
    begun: bool,
}

/// How much of the held text is settled, and how much was looked at.
struct Settled {
    end: usize,
    looked: usize,
}

impl EncoderStream {
    /// The text that is held back.
    pub fn held(&self) -> &[u8] {
        &self.held
    }

    fn placed(&self, error: Error, characters: bool) -> Error {
        error.map_place(|place| match place {
            Place::Byte(at) if characters => Place::Character(self.characters + character_count(&self.held[..at])),
            Place::Byte(at) => Place::Byte(self.bytes + at),
            other => other,
        })
    }
}

fn character_count(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte & 0xC0 != 0x80).count()
}

impl Encoder {
    /// Appends the ids that are certain when `text`, UTF-8 or not, has come after what came before; `options` and
    /// `characters` (whether places in errors are counted in characters) are to be the same for all of a text.
    ///
    /// # Errors
    /// As [`Self::encode`], with places in the whole text; then `text` was not taken, and some ids may be in `out`.
    pub fn encode_next(
        &self,
        stream: &mut EncoderStream,
        text: &[u8],
        options: Options,
        characters: bool,
        out: &mut Vec<u32>,
        stop: &dyn Fn() -> bool,
    ) -> Result<()> {
        let before = stream.held.len();
        stream.held.extend_from_slice(text);
        if options.template && !stream.begun {
            out.extend_from_slice(&self.around.template.0);
        }
        let result = self.settled(stream, options).and_then(|settled| {
            self.encode(&stream.held[..settled.end], self.of_part(options), out, stop).map(|()| settled)
        });
        match result {
            Ok(Settled { end, looked }) => {
                stream.begun = true;
                stream.bytes += end;
                stream.characters += character_count(&stream.held[..end]);
                stream.held.drain(..end);
                stream.looked = looked - end;
                Ok(())
            }
            Err(error) => {
                let error = stream.placed(error, characters);
                stream.held.truncate(before);
                Err(error)
            }
        }
    }

    /// Whether no part of a text is settled before its end, so that [`Self::encode_next`] only keeps what it is given.
    pub fn settles_nothing(&self, options: Options) -> bool {
        let allowed = options.allowed.unwrap_or(&self.always);
        !self.settles(allowed) || (!self.splitter.has_cuts() && allowed.before.is_empty())
    }

    /// Appends the ids of what was held back: no text follows. The stream begins anew.
    ///
    /// # Errors
    /// As [`Self::encode_next`]; the stream is then as it was.
    pub fn encode_last(
        &self,
        stream: &mut EncoderStream,
        options: Options,
        characters: bool,
        out: &mut Vec<u32>,
        stop: &dyn Fn() -> bool,
    ) -> Result<()> {
        let (before, after) = &self.around.template;
        if options.template && !stream.begun {
            out.extend_from_slice(before);
        }
        self.encode(&stream.held, self.of_part(options), out, stop)
            .map_err(|error| stream.placed(error, characters))?;
        if options.template {
            out.extend_from_slice(after);
        }
        *stream = EncoderStream::default();
        Ok(())
    }

    /// Whether a text may be settled before its end.
    fn settles(&self, allowed: &Allowed) -> bool {
        self.keeps_normal_text(allowed) && self.around.normalizer.composes_only()
    }

    /// Options for a part of a text: the template goes around the whole.
    fn of_part<'a>(&self, options: Options<'a>) -> Options<'a> {
        Options { template: false, ..options }
    }

    fn settled(&self, stream: &EncoderStream, options: Options) -> Result<Settled> {
        let (held, looked) = (&stream.held[..], stream.looked);
        let allowed: &Allowed = options.allowed.unwrap_or(&self.always);
        // The place from which on a refused marker may begin that is not whole.
        let mut refused_from = held.len();
        if let Some(markers) = options.disallowed {
            refused_from = markers.may_begin(held, looked);
            if let Some((place, _)) = markers.find(held, looked).filter(|found| found.0.start < refused_from) {
                return Err(disallowed(held, place));
            }
        }
        if !self.settles(allowed) {
            return Ok(Settled { end: 0, looked: refused_from });
        }
        let (mut done, mut from) = (0, looked);
        let open = loop {
            let open = allowed.before.may_begin(held, from);
            match allowed.before.find(held, from) {
                // Later text may make another marker of one that begins at `open` or after it.
                Some((place, _)) if place.start < open => (done, from) = (place.end, place.end),
                _ => break open,
            }
        };
        if done > refused_from {
            return Ok(Settled { end: 0, looked });
        }
        let to = open.min(refused_from);
        let stays = |before, after| self.around.normalizer.is_boundary(before, after);
        let end = self.splitter.last_cut(held, looked.max(done + 1), to, stays).unwrap_or(done);
        Ok(Settled { end, looked: to.max(end) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::AddedToken;
    use crate::encode::Around;
    use crate::normalize::{Normalizer, Step};
    use crate::split::{CL100K, GPT2, O200K, QWEN2, Splitter};
    use crate::vocabulary::{Base, Vocabulary};
    use proptest::prelude::*;

    fn encoder(pattern: Option<&str>) -> Encoder {
        encoder_that(Vec::new(), pattern)
    }

    fn encoder_that(normalizes: Vec<Step>, pattern: Option<&str>) -> Encoder {
        let merges = [(97, 98, 256), (256, 99, 257), (32, 97, 258), (32, 258, 259)];
        let specials = [("<a".to_string(), 300), ("<ab c>".into(), 301), ("c>d".into(), 302)];
        let vocabulary = Vocabulary::from_merges(&Base::bytes(), merges.to_vec(), &specials, None).unwrap();
        let splitter = pattern.map_or_else(Splitter::none, |pattern| Splitter::new(pattern).unwrap());
        let (template, normalizer) = ((vec![1, 2], vec![3]), Normalizer(normalizes));
        let around = Around { template, normalizer, ..Around::default() };
        Encoder::with(vocabulary, splitter, &specials, around).unwrap()
    }

    /// The ids of the parts, or the error: what came before it does not count.
    fn in_parts(encoder: &Encoder, parts: &[&[u8]], options: Options) -> Result<Vec<u32>> {
        let (mut stream, mut ids) = (EncoderStream::default(), Vec::new());
        for part in parts {
            let mut some = Vec::new();
            encoder.encode_next(&mut stream, part, options, false, &mut some, &|| false)?;
            ids.extend(some);
        }
        encoder.encode_last(&mut stream, options, false, &mut ids, &|| false)?;
        assert!(stream.held().is_empty() && stream.bytes == 0);
        Ok(ids)
    }

    fn texts() -> impl Strategy<Value = Vec<u8>> {
        let one = prop_oneof![
            8 => prop::sample::select(vec!["a", "b", "c", " ", "<", ">", "d", "<a", "<ab c>", "c>d", "1", "'s", "\n", "é", "中",
                "e", "\u{301}", "\u{323}", "\u{1100}", "\u{1161}", "\u{11a8}", "가", "\u{212b}", "\u{37e}", "\u{2001}", "\u{9c7}", "\u{9be}"])
                .prop_map(|s| s.as_bytes().to_vec()),
            1 => any::<u8>().prop_map(|b| vec![b]),
        ];
        prop::collection::vec(one, 0..24).prop_map(|all| all.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

        #[test]
        fn parts_give_the_ids_of_the_whole(
            text in texts(),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
            pattern in prop::sample::select(vec![Some(GPT2), Some(CL100K), Some(QWEN2), Some(O200K), None, Some(r"\S+|\s+")]),
            (allow, refuse, template, composed) in any::<(bool, u8, bool, bool)>(),
        ) {
            let encoder = encoder_that(if composed { vec![Step::Nfc] } else { vec![] }, pattern);
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let parts: Vec<&[u8]> = cuts.windows(2).map(|w| &text[w[0]..w[1]]).collect();
            let refused = match refuse % 4 {
                0 => Some(crate::specials::SpecialMatcher::new(&["<ab c>"]).unwrap()),
                1 => Some(crate::specials::SpecialMatcher::new(&["c>d", "b ", "b c"]).unwrap()),
                _ => None,
            };
            let allowed = allow.then(|| encoder.all_specials());
            let options = Options { allowed, disallowed: refused.as_ref(), template };
            let mut whole = Vec::new();
            let whole = encoder.encode(&text, options, &mut whole, &|| false).map(|()| whole);
            prop_assert_eq!(in_parts(&encoder, &parts, options), whole);
        }
    }

    #[test]
    fn what_never_settles_is_known_before() {
        let all = encoder(None);
        for (pattern, nothing) in [(Some(GPT2), false), (None, true), (Some(r"\S+|\s+"), true)] {
            let encoder = encoder(pattern);
            assert_eq!(encoder.settles_nothing(Options::default()), nothing);
            let options = Options { allowed: Some(all.all_specials()), ..Options::default() };
            assert!(!encoder.settles_nothing(options));
        }
    }

    #[test]
    fn composed_text_is_settled_but_for_what_may_compose() {
        let encoder = encoder_that(vec![Step::Nfc], Some(QWEN2));
        let (mut stream, mut ids) = (EncoderStream::default(), Vec::new());
        let options = Options::default();
        encoder.encode_next(&mut stream, "ab ab e".as_bytes(), options, true, &mut ids, &|| false).unwrap();
        assert_eq!((ids, stream.held()), (vec![256, 32, 256], " e".as_bytes()));
    }

    #[test]
    fn what_is_settled_comes_at_once() {
        let encoder = encoder(Some(GPT2));
        let mut stream = EncoderStream::default();
        let options = Options { allowed: Some(encoder.all_specials()), ..Options::default() };
        let mut parts = Vec::new();
        for part in ["ab", " ab", " a<", "a", "b", " c", ">", "x"] {
            let mut ids = Vec::new();
            encoder.encode_next(&mut stream, part.as_bytes(), options, true, &mut ids, &|| false).unwrap();
            parts.push(ids);
        }
        let none = Vec::new;
        assert_eq!(parts, [none(), vec![256], vec![32, 256, 258], none(), none(), none(), vec![301], none()]);
    }

    #[test]
    fn places_are_those_of_the_whole_text() {
        let encoder = encoder(Some(GPT2));
        let refused = crate::specials::SpecialMatcher::new(&["<a"]).unwrap();
        let options = Options { disallowed: Some(&refused), ..Options::default() };
        for (characters, place) in [(true, Place::Character(6)), (false, Place::Byte(9))] {
            let (mut stream, mut ids) = (EncoderStream::default(), Vec::new());
            for part in ["é é é", " <"] {
                encoder.encode_next(&mut stream, part.as_bytes(), options, characters, &mut ids, &|| false).unwrap();
            }
            let result = encoder.encode_next(&mut stream, b"a", options, characters, &mut ids, &|| false);
            assert_eq!(result, Err(Error::DisallowedSpecial { marker: "<a".into(), place }));
            encoder.encode_next(&mut stream, b"b", options, characters, &mut ids, &|| false).unwrap();
        }
    }

    #[test]
    fn added_tokens_that_look_around_hold_all_back() {
        let specials = [("<s>".to_string(), 300)];
        let vocabulary = Vocabulary::from_merges(&Base::bytes(), Vec::new(), &specials, None).unwrap();
        let token = AddedToken { text: "<s>".into(), id: 300, special: true, rstrip: true, ..AddedToken::default() };
        let around = Around { added: vec![token], ..Around::default() };
        let encoder = Encoder::with(vocabulary, Splitter::new(GPT2).unwrap(), &specials, around).unwrap();
        let options = Options { allowed: Some(encoder.all_specials()), ..Options::default() };
        assert_eq!(in_parts(&encoder, &[b"<s>", b" ", b" a"], options), Ok(vec![300, 97]));
    }
}
