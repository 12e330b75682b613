//! One request and what answers it, whatever it came on: which stub's answer it is, when, and what is noted of it.
//!
//! How an answer is fetched that is not here is `exchange/fetch.rs`, what a stub's behaviour changes `exchange/behave.rs`. How an answer is sent
//! is left to the connection.

mod behave;
mod call;
mod fetch;
mod pending;

pub(crate) use call::Call;
pub(crate) use pending::Pending;

use crate::admin::cors;
use crate::records::journal::{Answered, SeenRequest, sub_event};
use crate::records::metrics::Known;
use crate::serve::shard::Shard;
use crate::serve::static_files::{self, StaticFile};
use crate::serve::webhooks::Afterwards;
use pending::Source;
use plimsoll_base::counters::Counter;
use plimsoll_http::RequestHead;
use plimsoll_wiremock::clock;
use plimsoll_wiremock::request::misread::Misread;
use plimsoll_wiremock::request::{Channel, Request};
use plimsoll_wiremock::response::answer::{Answer, Coding};
use plimsoll_wiremock::response::delay::Delay;
use plimsoll_wiremock::response::delivery::Delivery;
use plimsoll_wiremock::stub::Stub;
use plimsoll_wiremock::stub::set::StubSet;
use plimsoll_wiremock::stub::templated::{Occasion, Rendered, model};
use plimsoll_wiremock::stub_id::StubId;
use plimsoll_wiremock::template::model::Model;
use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Why a request whose body does not come is refused.
pub(crate) const LATE_BODY: &str = "the request's body took too long";

/// A request that has arrived whole.
#[derive(Debug)]
pub(crate) struct Exchange<'a> {
    pub(crate) shard: &'a Rc<Shard>,
    pub(crate) head: &'a RequestHead,
    /// Its body as far as it was kept.
    pub(crate) body: &'a [u8],
    pub(crate) channel: Channel,
    /// When its head was complete.
    pub(crate) received: Instant,
    /// Where the stub that it matched is counted.
    pub(crate) place: Cell<Known>,
    /// Its id, once somebody has seen it.
    pub(crate) id: OnceCell<StubId>,
    /// Formats that patterns could not read its body as.
    pub(crate) misread: Cell<Misread>,
}

/// Decision about a request.
#[derive(Debug)]
pub(crate) enum Decision {
    /// Nothing more.
    Done,
    /// A stub's answer, later.
    Stub(Pending),
    /// An answer of our own, later.
    Own(Answer, Duration),
    /// A file, once it is read.
    File(StaticFile),
}

impl Exchange<'_> {
    /// Finds the answer: a stub's, a built-in's, or 404. A stub's that need not wait is offered to `at_once`, which says whether it has sent it.
    pub(crate) fn decide(&self, at_once: impl FnOnce(&Answer) -> bool) -> Decision {
        let Some(origin) = self.origin() else {
            return self.find(at_once);
        };
        if let Some(answer) = cors::preflight(self.head, origin) {
            return Decision::Own(answer, Duration::ZERO);
        }
        match self.find(|_| false) {
            Decision::Own(answer, delay) => Decision::Own(cors::shared(&answer, origin), delay),
            Decision::Stub(pending) => Decision::Stub(pending.shared_with(origin)),
            other => other,
        }
    }

    /// Whose page wants to read the answer, where any may.
    fn origin(&self) -> Option<&str> {
        if !self.shard.shared.stub_cors {
            return None;
        }
        cors::origin(self.head)
    }

    /// An answer that was fetched, for whose page wants to read it.
    fn readable(&self, answer: Answer) -> Answer {
        match self.origin() {
            Some(origin) => cors::shared(&answer, origin),
            None => answer,
        }
    }

    fn find(&self, at_once: impl FnOnce(&Answer) -> bool) -> Decision {
        let shared = &self.shard.shared;
        let request = Request::of(self.head, self.body, self.channel);
        let set = shared.stubs.current();
        let found = set.find(&request);
        self.misread.set(request.body.misread());
        let stub = match found {
            Ok(Some(stub)) => stub,
            Ok(None) => return self.decide_unmatched(&request, &set),
            Err(error) => {
                let answer = Answer::text(500, &error.to_string());
                self.note_unmatched(answer.status());
                return Decision::Own(answer, Duration::ZERO);
            }
        };
        self.place
            .set(shared.metrics.matched(self.shard.index, stub));
        let default_delay = set.default_delay();
        match &stub.behaviour {
            Some(behaviour) => self.decide_behaving(stub, behaviour, &request, default_delay),
            None => self.decide_stub(stub, &request, default_delay, at_once),
        }
    }

    /// An answer of our own.
    fn decide_own(&self, answer: Answer, delay: Duration) -> Decision {
        self.note(Answered::Own(answer.status()), delay, None);
        Decision::Own(answer, delay)
    }

    /// The answer to a request that no stub matches.
    fn decide_unmatched(&self, request: &Request<'_>, set: &StubSet) -> Decision {
        let shared = &self.shard.shared;
        if let Some(reply) = shared.endpoints.reply(request, || shared.draw()) {
            return self.decide_own(reply.answer, reply.delay);
        }
        if request.method == "GET"
            && let Some(file) = static_files::find(&shared.files, request.path)
        {
            self.note_unmatched(200);
            return Decision::File(file);
        }
        let noted = self.note_unmatched(404);
        let differences = &shared.differences;
        let report = differences.unmatched(request, set.stubs(), self.received);
        if let (Some(number), Cow::Owned(table)) = (noted, &report) {
            let event = sub_event::not_matched(table, Instant::now() - self.received);
            let journal = &shared.journal;
            journal.add_sub_event(self.shard.index, number, &event);
        }
        Decision::Own(Answer::text(404, &report), Duration::ZERO)
    }

    fn note_unmatched(&self, status: u16) -> Option<u64> {
        self.shard.counters.add(Counter::Unmatched, 1);
        self.note(Answered::Unmatched(status), Duration::ZERO, None)
    }

    /// The answer of a stub that has no behaviour of its own.
    fn decide_stub(
        &self,
        stub: &Arc<Stub>,
        request: &Request<'_>,
        default_delay: &Delay,
        at_once: impl FnOnce(&Answer) -> bool,
    ) -> Decision {
        let shared = &self.shard.shared;
        let delay = if stub.delay.is_none() && default_delay.is_none() {
            Duration::ZERO
        } else {
            let precision = shared.precision;
            stub.delay
                .sample(default_delay, precision, || shared.draw())
        };
        let source = self.source(stub, request);
        let noted = self.note_source(stub, &source, delay);
        let is_plain = stub.delivery == Delivery::Plain && stub.webhooks.is_empty();
        let need_not_wait = is_plain && delay.is_zero();
        if matches!(source, Source::Ready)
            && need_not_wait
            && at_once(stub.answer_in(self.coding()))
        {
            return Decision::Done;
        }
        match source {
            Source::Made(answer) if is_plain => Decision::Own(self.coded(answer, stub), delay),
            source => Decision::Stub(self.pending(stub, source, request, delay, noted)),
        }
    }

    /// Where a stub's answer comes from. A fault has none to be made.
    fn source(&self, stub: &Stub, request: &Request<'_>) -> Source {
        if stub.proxy.is_some() {
            return Source::Server;
        }
        let Some(templated) = &stub.templated else {
            return Source::Ready;
        };
        if matches!(stub.delivery, Delivery::Fault(_)) {
            return Source::Ready;
        }
        match templated.answer(request, &stub.request.url, self.occasion()) {
            Rendered::Answer(answer) => Source::Made(answer),
            Rendered::Unread(file) => Source::File(file),
        }
    }

    /// Facts of the request that templates see beside itself.
    fn occasion(&self) -> Occasion<'_> {
        Occasion {
            now: clock::now(),
            draw: self.shard.shared.draw(),
            id: &self.id,
        }
    }

    /// A stub's answer that is to be sent later. `noted` is the journal's number of the request.
    fn pending(
        &self,
        stub: &Arc<Stub>,
        source: Source,
        request: &Request<'_>,
        delay: Duration,
        noted: Option<u64>,
    ) -> Pending {
        Pending {
            stub: Arc::clone(stub),
            source: match source {
                Source::Made(answer) => Source::Made(self.coded(answer, stub)),
                source => source,
            },
            coding: self.coding(),
            delay,
            room: None,
            afterwards: self.afterwards(stub, request, noted),
            // After its webhooks, which may have drawn it.
            id: self.id.get().copied().map(Box::new),
            misread: self.misread.get(),
        }
    }

    /// Webhooks after a stub's answer. `noted` is the journal's number of the request.
    fn afterwards(&self, stub: &Stub, request: &Request<'_>, noted: Option<u64>) -> Afterwards {
        let shared = &self.shard.shared;
        if let Some(number) = noted.filter(|_| !stub.webhooks.is_empty()) {
            self.id.get_or_init(|| shared.journal.id_of(number));
        }
        let calls = stub.webhooks.iter().map(|webhook| {
            let model = Model {
                request_name: "originalRequest",
                ..model(
                    request,
                    &stub.request.url,
                    &webhook.parameters,
                    self.occasion(),
                )
            };
            webhook.call(&model, shared.precision, || shared.draw())
        });
        Afterwards {
            calls: calls.collect(),
            noted,
            held: None,
        }
    }

    /// An answer that was made for the request, as the client wants it.
    fn coded(&self, answer: Answer, stub: &Stub) -> Answer {
        let packed = match self.coding() {
            Coding::Gzip if stub.goes_out_whole() => answer.packed(),
            Coding::Gzip | Coding::Identity => None,
        };
        packed.unwrap_or(answer)
    }

    /// How the answer's body may be coded.
    fn coding(&self) -> Coding {
        if self.shard.shared.gzip {
            Coding::accepted(self.head.method(), self.head.fields())
        } else {
            Coding::Identity
        }
    }

    /// Notes a request that a stub answers, unless its answer has to be fetched first: that is noted when it is known.
    fn note_source(&self, stub: &Arc<Stub>, source: &Source, delay: Duration) -> Option<u64> {
        let made = match source {
            Source::Ready => None,
            Source::Made(answer) => Some(answer),
            Source::File(_) | Source::Server => return None,
        };
        self.note(Answered::Stub(stub), delay, made)
    }

    /// Notes the request in the journal, whose number of it this is; `answer` was made for it.
    fn note(&self, outcome: Answered<'_>, delay: Duration, answer: Option<&Answer>) -> Option<u64> {
        let seen = self.seen(outcome, delay, answer);
        self.shard.shared.journal.note(self.shard.index, &seen)
    }

    /// The record for the journal; `answer` was made for the request.
    fn seen<'a>(
        &'a self,
        outcome: Answered<'a>,
        delay: Duration,
        answer: Option<&'a Answer>,
    ) -> SeenRequest<'a> {
        SeenRequest {
            head: self.head,
            body: self.body,
            channel: self.channel,
            received: self.received,
            delay,
            outcome,
            answer,
            id: self.id.get().copied(),
            misread: self.misread.get(),
        }
    }
}
