//! `json(text)`: the text as it stands between the quotes of JSON.

use super::{Arguments, Function};
use crate::scenario::feeder::Feeder;
use crate::scenario::memory::Memory;
use crate::scenario::value::Value;

#[derive(Debug, Clone)]
pub(in crate::scenario) struct Json {
    pub(super) text: Value,
}

pub(super) fn compile(mut arguments: Arguments<'_>) -> Result<Function, String> {
    arguments.count(1, 1, "json(text)")?;
    Ok(Function::Json(Json {
        text: arguments.value(0)?,
    }))
}

impl Json {
    pub(super) fn render(&self, feeders: &[Feeder], memory: &mut Memory, out: &mut Vec<u8>) {
        let start = out.len();
        self.text.render(feeders, memory, out);
        let special = |byte: &u8| *byte < b' ' || matches!(*byte, b'"' | b'\\');
        let Some(first) = out[start..].iter().position(special) else {
            return;
        };
        let mut text = memory.take_scratch();
        text.extend_from_slice(&out[start + first..]);
        out.truncate(start + first);
        for byte in &text {
            match byte {
                b'"' | b'\\' => out.extend([b'\\', *byte]),
                byte if special(byte) => {
                    out.extend_from_slice(format!("\\u{:04x}", u32::from(*byte)).as_bytes());
                }
                byte => out.push(*byte),
            }
        }
        memory.give_back(text);
    }
}
