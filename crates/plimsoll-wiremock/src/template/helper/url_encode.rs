//! `urlEncode text decode=`: as in forms, where a space is `+`.

use super::{Failure, Helper, Invocation, Outcome};
use crate::request::parameters;
use crate::template::value::Value;
use std::fmt::Write as _;

pub(super) const HELPERS: &[Helper] = &[Helper::new("urlEncode", url_encode)];

fn url_encode<'a>(mut invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    let subject = invocation.subject()?;
    if subject.is_nothing() {
        return Err(Failure::Own("there is nothing to encode".to_owned()));
    }
    let text = subject.print();
    if invocation.option("decode").is_some_and(Value::is_truthy) {
        return Ok(Value::text(parameters::decode(&text)));
    }
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b' ' => out.push('+'),
            b'.' | b'-' | b'*' | b'_' => out.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => out.push(char::from(byte)),
            _ => write!(out, "%{byte:02X}").expect("invariant: text takes what is written"),
        }
    }
    Ok(Value::text(out))
}
