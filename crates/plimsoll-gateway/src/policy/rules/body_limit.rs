//! How long a request's body may be, by the length that it states: one that states none is refused before it is read.

use crate::answering::answer::Answer;
use crate::answering::error_kind::ErrorKind;
use plimsoll_http::{Framing, RequestHead};

/// A limit of bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BodyLimit {
    pub(crate) bytes: u64,
    /// Of several such limits that match, the first alone counts.
    pub(crate) is_one_of_several: bool,
    /// Methods that are not limited.
    pub(crate) spared: &'static [&'static str],
}

impl BodyLimit {
    /// For every method, whatever other limits there are.
    pub(crate) fn of(bytes: u64) -> Self {
        Self {
            bytes,
            is_one_of_several: false,
            spared: &[],
        }
    }

    /// Refuses a request whose body is longer, or of unknown length.
    pub(super) fn check(self, head: &RequestHead) -> Result<(), Answer> {
        match self.spared.contains(&head.method()) {
            true => Ok(()),
            false => check(head, self.bytes),
        }
    }
}

fn check(head: &RequestHead, limit: u64) -> Result<(), Answer> {
    match head.framing() {
        Framing::None => Ok(()),
        Framing::Length(bytes) if bytes <= limit => Ok(()),
        Framing::Length(_) => {
            let message = format!("this path takes bodies of at most {limit} bytes");
            Err(Answer::new(413, message).because(ErrorKind::BodyTooLarge))
        }
        Framing::Chunked | Framing::UntilClose => {
            let message = "this path takes bodies of a stated length only";
            Err(Answer::new(411, message).because(ErrorKind::LengthRequired))
        }
    }
}
