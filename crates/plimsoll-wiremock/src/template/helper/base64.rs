//! `base64 text decode= padding=`.

use super::{Failure, Helper, Invocation, Outcome};
use crate::template::value::Value;
use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::general_purpose::{NO_PAD, STANDARD as PADDED, STANDARD_NO_PAD};
use base64::engine::{DecodePaddingMode, GeneralPurpose};

pub(super) const HELPERS: &[Helper] = &[Helper::new("base64", base64)];

fn base64<'a>(mut invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    let subject = invocation.subject()?;
    if subject.is_nothing() {
        return Err(Failure::Own("there is nothing to encode".to_owned()));
    }
    let says = |name: &str| invocation.option(name).map(Value::is_truthy);
    if says("decode") == Some(true) {
        let lenient = NO_PAD.with_decode_padding_mode(DecodePaddingMode::Indifferent);
        let bytes = GeneralPurpose::new(&STANDARD, lenient).decode(&*subject.print());
        let bytes = bytes.map_err(|error| Failure::Own(error.to_string()))?;
        return Ok(Value::text(String::from_utf8_lossy(&bytes)));
    }
    let text = subject.print();
    let engine = if says("padding") == Some(false) {
        STANDARD_NO_PAD
    } else {
        PADDED
    };
    Ok(Value::text(engine.encode(&*text)))
}
