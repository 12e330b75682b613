//! `base64(text)` and `base64url(text)`: RFC 4648, sections 4 and 5; the latter without padding, as JSON Web Tokens want it.

use super::{Arguments, Function};
use crate::scenario::feeder::Feeder;
use crate::scenario::memory::Memory;
use crate::scenario::value::Value;
use base64::Engine as _;
use base64::engine::general_purpose::{GeneralPurpose, STANDARD, URL_SAFE_NO_PAD};

#[derive(Debug, Clone)]
pub(in crate::scenario) struct Base64 {
    pub(super) text: Value,
    engine: &'static GeneralPurpose,
}

pub(super) fn compile(mut arguments: Arguments<'_>) -> Result<Function, String> {
    arguments.count(1, 1, "base64(text)")?;
    Ok(Function::Base64(Base64 {
        text: arguments.value(0)?,
        engine: &STANDARD,
    }))
}

pub(super) fn compile_for_urls(mut arguments: Arguments<'_>) -> Result<Function, String> {
    arguments.count(1, 1, "base64url(text)")?;
    Ok(Function::Base64(Base64 {
        text: arguments.value(0)?,
        engine: &URL_SAFE_NO_PAD,
    }))
}

impl Base64 {
    pub(super) fn render(&self, feeders: &[Feeder], memory: &mut Memory, out: &mut Vec<u8>) {
        let start = out.len();
        self.text.render(feeders, memory, out);
        encode_tail(self.engine, memory, out, start);
    }
}

/// Replaces what `out` has from `start` on by its base64.
pub(super) fn encode_tail(
    engine: &GeneralPurpose,
    memory: &mut Memory,
    out: &mut Vec<u8>,
    start: usize,
) {
    let mut text = memory.take_scratch();
    text.extend_from_slice(&out[start..]);
    let length = base64::encoded_len(text.len(), true).unwrap_or(0);
    out.resize(start + length, 0);
    let written = engine
        .encode_slice(&text, &mut out[start..])
        .expect("invariant: there is room for padded base64");
    out.truncate(start + written);
    memory.give_back(text);
}
