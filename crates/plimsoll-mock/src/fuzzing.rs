//! The fuzz target's view: one stub, and a mock's answer to a request. The law that must hold is in `fuzz/`.

use jiff::Timestamp;
use plimsoll_base::random::{Draw, Stream};
use plimsoll_http::decode::{Event, RequestDecoder};
use plimsoll_http::{Limits, RequestHead};
use plimsoll_wiremock::reader::surroundings::Surroundings;
use plimsoll_wiremock::request::{Channel, Request};
use plimsoll_wiremock::response::delay::Delay;
use plimsoll_wiremock::stub::differences;
use plimsoll_wiremock::stub::read_mapping;
use plimsoll_wiremock::stub::set::StubSet;
use plimsoll_wiremock::stub::state::StateMachines;
use plimsoll_wiremock::stub::templated::{Occasion, Rendered};
use plimsoll_wiremock::stub_id::StubId;
use std::cell::OnceCell;
use std::sync::Arc;

/// A mock with one stub.
#[derive(Debug)]
pub struct Mock(StubSet);

/// Outcome of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The stub answers it, with this status.
    Answered(u16),
    /// It does not match, and the table of differences has so many bytes; 0 where making it was given up.
    Unmatched(usize),
    /// Whether it matches was given up.
    TooCostly,
}

impl Mock {
    /// The mock with this stub mapping.
    ///
    /// # Errors
    /// Every problem of the mapping.
    pub fn of(mapping: &str) -> Result<Self, String> {
        let mapping = read_mapping(mapping, &Surroundings::default());
        let mapping = mapping.map_err(|problems| {
            let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
            problems.join("\n")
        })?;
        let stub = mapping.place(StubId::minted(0, 0), 0, &mut StateMachines::default());
        Ok(Self(StubSet::new(vec![Arc::new(stub)], Delay::default())))
    }

    /// Outcome of a request.
    ///
    /// # Errors
    /// Why the head is none.
    pub fn ask(&self, head: &[u8], body: &[u8]) -> Result<Outcome, String> {
        let head = decode(head)?;
        let request = Request::of(&head, body, Channel::default());
        let Ok(found) = self.0.find(&request) else {
            return Ok(Outcome::TooCostly);
        };
        let Some(stub) = found else {
            let table = differences::table_of(&request, self.0.stubs());
            let table = table.ok().flatten().unwrap_or_default();
            return Ok(Outcome::Unmatched(table.len()));
        };
        let id = OnceCell::new();
        let occasion = Occasion {
            now: Timestamp::UNIX_EPOCH,
            draw: Draw::new(0, Stream::Data, 0),
            id: &id,
        };
        let templated = stub.templated.as_ref();
        let rendered = templated.map(|own| own.answer(&request, &stub.request.url, occasion));
        Ok(Outcome::Answered(match rendered {
            Some(Rendered::Answer(answer)) => answer.status(),
            Some(Rendered::Unread(_)) | None => stub.answer.status(),
        }))
    }
}

fn decode(head: &[u8]) -> Result<RequestHead, String> {
    let mut decoder = RequestDecoder::new(Limits::default());
    match decoder.decode(head) {
        Ok(step) if step.event == Event::Head && step.consumed == head.len() => {
            Ok(decoder.head().clone())
        }
        Ok(_) => Err("not one head".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}
