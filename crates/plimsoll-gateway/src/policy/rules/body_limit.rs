//! How long a request's body may be, by the length that it states: one that states none is refused before it is read.

use crate::answer::Answer;
use crate::cause::Cause;
use plimsoll_http::{Framing, RequestHead};

/// Refuses a request whose body is longer than `limit` bytes, or of unknown length.
pub(super) fn check(head: &RequestHead, limit: u64) -> Result<(), Answer> {
    match head.framing() {
        Framing::None => Ok(()),
        Framing::Length(bytes) if bytes <= limit => Ok(()),
        Framing::Length(_) => {
            let message = format!("this path takes bodies of at most {limit} bytes");
            Err(Answer::new(413, message).because(Cause::BodyTooLarge))
        }
        Framing::Chunked | Framing::UntilClose => {
            let message = "this path takes bodies of a stated length only";
            Err(Answer::new(411, message).because(Cause::LengthRequired))
        }
    }
}
