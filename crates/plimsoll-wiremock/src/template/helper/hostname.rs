//! `hostname`: this machine's name.

use super::{Helper, Invocation, Outcome};
use crate::template::value::Value;

pub(super) const HELPERS: &[Helper] = &[Helper::new("hostname", hostname)];

fn hostname<'a>(_: Invocation<'_, 'a>) -> Outcome<'a> {
    let uname = rustix::system::uname();
    Ok(Value::text(uname.nodename().to_string_lossy()))
}
