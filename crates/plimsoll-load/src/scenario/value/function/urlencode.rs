//! `urlencode(text)`: everything but the unreserved characters of RFC 3986, section 2.3, as `%XX`.

use super::{Arguments, Function};
use crate::scenario::feeder::Feeder;
use crate::scenario::memory::Memory;
use crate::scenario::target::encode_tail;
use crate::scenario::value::Value;

#[derive(Debug, Clone)]
pub(in crate::scenario) struct UrlEncode {
    pub(super) text: Value,
}

pub(super) fn compile(mut arguments: Arguments<'_>) -> Result<Function, String> {
    arguments.count(1, 1, "urlencode(text)")?;
    Ok(Function::UrlEncode(UrlEncode {
        text: arguments.value(0)?,
    }))
}

impl UrlEncode {
    pub(super) fn render(&self, feeders: &[Feeder], memory: &mut Memory, out: &mut Vec<u8>) {
        let start = out.len();
        self.text.render(feeders, memory, out);
        encode_tail(memory, out, start, |byte| {
            byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
        });
    }
}
