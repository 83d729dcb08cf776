//! Any pattern: the general regex engine.

use crate::{Error, Result};
use std::ops::Range;

/// A compiled pattern of the user's own.
#[derive(Debug)]
pub(super) struct General {
    pattern: String,
    regex: fancy_regex::Regex,
}

impl General {
    pub(super) fn new(pattern: &str) -> Result<Self> {
        let regex = fancy_regex::Regex::new(pattern).map_err(|e| Error::Pattern {
            pattern: pattern.to_string(),
            position: 0,
            reason: e.to_string(),
        })?;
        Ok(General {
            pattern: pattern.to_string(),
            regex,
        })
    }

    pub(super) fn pattern(&self) -> &str {
        &self.pattern
    }

    pub(super) fn split(
        &self,
        text: &str,
        base: usize,
        each: &mut impl FnMut(Range<usize>) -> Result<()>,
    ) -> Result<()> {
        let mut done = 0;
        for found in self.regex.find_iter(text) {
            let found = found.map_err(|_| Error::Backtracking {
                pattern: self.pattern.clone(),
                offset: base + done,
            })?;
            if found.end() == found.start() {
                continue;
            }
            if found.start() > done {
                each(base + done..base + found.start())?;
            }
            each(base + found.start()..base + found.end())?;
            done = found.end();
        }
        if done < text.len() {
            each(base + done..base + text.len())?;
        }
        Ok(())
    }
}
