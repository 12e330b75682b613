//! `systemValue key=`: refused, always. A template may come from anybody who may call the admin API; the environment holds secrets.

use super::{Helper, Invocation, Outcome, error_text};
use crate::template::value::Value;

pub(super) const HELPERS: &[Helper] = &[Helper::new("systemValue", refuse)];

fn refuse<'a>(invocation: Invocation<'_, 'a>) -> Outcome<'a> {
    let key = invocation.option("key").map(Value::print);
    let key = key.unwrap_or_default();
    Ok(error_text(&format!("Access to {key} is denied")))
}
