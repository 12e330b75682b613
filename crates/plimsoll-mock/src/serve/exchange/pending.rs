//! A stub's answer between the decision and the sending.

use crate::admin::cors;
use crate::serve::webhooks::Afterwards;
use plimsoll_wiremock::request::misread::Misread;
use plimsoll_wiremock::response::answer::{Answer, Coding};
use plimsoll_wiremock::stub::Stub;
use plimsoll_wiremock::stub::behaviour::Room;
use plimsoll_wiremock::stub::templated::Unread;
use plimsoll_wiremock::stub_id::StubId;
use std::sync::Arc;
use std::time::Duration;

/// A stub's answer that is to be sent later.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) stub: Arc<Stub>,
    pub(super) source: Source,
    /// How the client wants it.
    pub(super) coding: Coding,
    pub(crate) delay: Duration,
    /// Where it must have a place first.
    pub(crate) room: Option<Room>,
    /// Webhooks after the answer.
    pub(crate) afterwards: Afterwards,
    /// The request's id, if somebody has seen it, which is rare.
    pub(super) id: Option<Box<StubId>>,
    /// Formats that patterns could not read its body as.
    pub(super) misread: Misread,
}

/// Where a stub's answer comes from.
#[derive(Debug)]
pub(super) enum Source {
    /// The stub has it: it is the same for every request.
    Ready,
    /// It was made for this request.
    Made(Answer),
    /// It is made of a file that has to be read first.
    File(Box<Unread>),
    /// It is another server's.
    Server,
}

impl Pending {
    /// Whether the answer has to be fetched before it can be sent.
    pub(crate) fn is_elsewhere(&self) -> bool {
        matches!(self.source, Source::File(_) | Source::Server)
    }

    /// This answer, readable for pages of this origin, if it is here already.
    pub(super) fn shared_with(self, origin: &str) -> Self {
        if self.is_elsewhere() {
            return self;
        }
        let answer = cors::shared(self.answer(), origin);
        Self {
            source: Source::Made(answer),
            ..self
        }
    }

    /// The answer to be sent.
    pub(crate) fn answer(&self) -> &Answer {
        match &self.source {
            Source::Made(answer) => answer,
            Source::Ready | Source::File(_) | Source::Server => self.stub.answer_in(self.coding),
        }
    }
}
