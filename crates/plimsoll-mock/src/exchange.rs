//! One request and what answers it, whatever it came on. How an answer is sent is left to the connection.

mod behave;
mod forward;

use crate::admin::AdminRequest;
use crate::answer::{Answer, Coding};
use crate::behaviour::Room;
use crate::builtins;
use crate::clock;
use crate::delivery::Delivery;
use crate::journal::{Answered, Seen};
use crate::kept_body::Held;
use crate::metrics::Known;
use crate::request::{Channel, Request, Scheme};
use crate::shard::Shard;
use crate::stub::Stub;
use crate::stub::templated::model;
use crate::template::model::Model;
use crate::webhook::firing::Afterwards;
use plimsoll_base::counters::Counter;
use plimsoll_http::RequestHead;
use std::cell::Cell;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// A request that has arrived whole.
#[derive(Debug)]
pub(crate) struct Exchange<'a> {
    pub(crate) shard: &'a Rc<Shard>,
    pub(crate) head: &'a RequestHead,
    /// What was kept of its body.
    pub(crate) body: &'a [u8],
    pub(crate) channel: Channel,
    /// When its head was complete.
    pub(crate) received: Instant,
    /// Where the stub that it matched is counted.
    pub(crate) place: Cell<Known>,
}

/// What to do about a request.
#[derive(Debug)]
pub(crate) enum Decision {
    /// Nothing more.
    Done,
    /// A stub's answer, later.
    Stub(Pending),
    /// An answer of our own, later.
    Own(Answer, Duration),
}

/// A stub's answer that is to be sent later.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) stub: Arc<Stub>,
    /// What it answers, where that was made for the request.
    pub(crate) answer: Option<Answer>,
    /// How the client wants it otherwise.
    pub(crate) coding: Coding,
    pub(crate) delay: Duration,
    /// Where it must have a place first.
    pub(crate) room: Option<Room>,
    /// What follows the answer.
    pub(crate) afterwards: Afterwards,
}

/// A call of the admin API, judged by its head; it is answered when its body is there.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    shard: &'a Shard,
    /// The answer, if it may not be made.
    refusal: Option<Answer>,
    request: AdminRequest,
}

impl Exchange<'_> {
    /// Finds the answer: a stub's, a built-in's, or 404. A stub's that need not wait is offered to `at_once`, which says whether it has sent it.
    pub(crate) fn decide(&self, at_once: impl FnOnce(&Answer) -> bool) -> Decision {
        let shared = &self.shard.shared;
        let request = Request::of(self.head, self.body, self.channel);
        let set = shared.stubs.current();
        let found = set.find(&request);
        let stub = match found {
            Ok(Some(stub)) => stub,
            Ok(None) => {
                if let Some(reply) = builtins::reply(&request, || shared.draw()) {
                    self.note(Answered::Own(reply.answer.status()), reply.delay);
                    return Decision::Own(reply.answer, reply.delay);
                }
                self.shard.counters.add(Counter::Unmatched, 1);
                self.note(Answered::Unmatched, Duration::ZERO);
                let differences = &shared.differences;
                let answer = differences.unmatched(&request, set.stubs(), self.received);
                return Decision::Own(answer, Duration::ZERO);
            }
            Err(error) => {
                self.note(Answered::Own(500), Duration::ZERO);
                return Decision::Own(Answer::text(500, &error.to_string()), Duration::ZERO);
            }
        };
        self.place
            .set(shared.metrics.matched(self.shard.index, stub));
        let coding = self.coding();
        let default_delay = set.default_delay();
        if let Some(behaviour) = &stub.behaviour {
            return self.decide_behaving(stub, behaviour, &request, default_delay);
        }
        let delay = if stub.delay.is_none() && default_delay.is_none() {
            Duration::ZERO
        } else {
            let precision = shared.precision;
            stub.delay
                .sample(default_delay, precision, || shared.draw())
        };
        if let Some(answer) = self.rendered(stub, &request) {
            let noted = self.note_answer(Answered::Stub(stub), delay, Some(&answer));
            if stub.delivery == Delivery::Plain && stub.webhooks.is_empty() {
                return Decision::Own(self.coded(answer, stub), delay);
            }
            let pending = Pending::new(stub, coding, delay, self.afterwards(stub, &request, noted));
            return Decision::Stub(Pending {
                answer: Some(self.coded(answer, stub)),
                ..pending
            });
        }
        let is_plain = stub.delivery == Delivery::Plain && stub.webhooks.is_empty();
        // What another server answers is noted when it is known.
        let noted = match stub.proxy {
            Some(_) => None,
            None => self.note(Answered::Stub(stub), delay),
        };
        let is_own = is_plain && stub.proxy.is_none();
        if delay.is_zero() && is_own && at_once(stub.answer_in(coding)) {
            return Decision::Done;
        }
        let afterwards = self.afterwards(stub, &request, noted);
        Decision::Stub(Pending::new(stub, coding, delay, afterwards))
    }

    /// What follows a stub's answer: its webhooks. `noted` is the journal's number of the request.
    fn afterwards(&self, stub: &Stub, request: &Request<'_>, noted: Option<u64>) -> Afterwards {
        let shared = &self.shard.shared;
        let calls = stub.webhooks.iter().map(|webhook| {
            let model = Model {
                request_name: "originalRequest",
                ..model(
                    request,
                    &stub.request.url,
                    &webhook.parameters,
                    clock::now(),
                    shared.draw(),
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

    /// Gets the answer of a stub whose answer is another server's.
    pub(crate) async fn fetch(&self, pending: &mut Pending) {
        let stub = Arc::clone(&pending.stub);
        if let Some(proxy) = &stub.proxy {
            let mut held = Held::new(Arc::clone(&self.shard.shared));
            // Boxed, so that exchanges which are never sent on do not carry its memory.
            let answer = Box::pin(self.forward(&stub, proxy, &mut held)).await;
            let noted = self.note_answer(Answered::Stub(&stub), pending.delay, Some(&answer));
            pending.afterwards.noted = noted;
            pending.answer = Some(answer);
            pending.afterwards.held = Some(held);
        }
    }

    /// A stub's answer where it depends on the request; a fault has none.
    fn rendered(&self, stub: &Stub, request: &Request<'_>) -> Option<Answer> {
        let templated = stub.templated.as_ref()?;
        if matches!(stub.delivery, Delivery::Fault(_)) {
            return None;
        }
        let url = &stub.request.url;
        Some(templated.answer(request, url, clock::now(), self.shard.shared.draw()))
    }

    /// A rendered answer as the client wants it.
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

    /// Notes the request in the journal, with an answer that is the same for every request.
    fn note(&self, outcome: Answered<'_>, delay: Duration) -> Option<u64> {
        self.note_answer(outcome, delay, None)
    }

    /// Notes the request in the journal, whose number of it this is; `answer` was made for it.
    fn note_answer(
        &self,
        outcome: Answered<'_>,
        delay: Duration,
        answer: Option<&Answer>,
    ) -> Option<u64> {
        let seen = Seen {
            head: self.head,
            body: self.body,
            channel: self.channel,
            received: self.received,
            delay,
            outcome,
            answer,
        };
        self.shard.shared.journal.note(self.shard.index, &seen)
    }
}

impl Pending {
    /// A stub's own answer, which needs no place.
    fn new(stub: &Arc<Stub>, coding: Coding, delay: Duration, afterwards: Afterwards) -> Self {
        Self {
            stub: Arc::clone(stub),
            answer: None,
            coding,
            delay,
            room: None,
            afterwards,
        }
    }

    /// What is to be sent.
    pub(crate) fn answer(&self) -> &Answer {
        let own = || self.stub.answer_in(self.coding);
        self.answer.as_ref().unwrap_or_else(own)
    }
}

impl<'a> Call<'a> {
    /// A call with this head.
    pub(crate) fn of(shard: &'a Shard, head: &RequestHead, scheme: Scheme) -> Self {
        let allowed = shard.shared.guard.check(head, scheme);
        Self {
            shard,
            refusal: allowed.err().map(|error| error.answer()),
            request: AdminRequest {
                method: head.method().to_owned(),
                path: head.path().to_owned(),
                query: head.query().unwrap_or_default().to_owned(),
                accept: head.fields().get("Accept").unwrap_or_default().to_vec(),
                body: Vec::new(),
            },
        }
    }

    /// Its answer. It is made on another thread, so that a large change of the stubs holds up nobody.
    pub(crate) async fn answer(self, body: Vec<u8>) -> io::Result<Answer> {
        if let Some(refusal) = self.refusal {
            return Ok(refusal);
        }
        let request = AdminRequest {
            body,
            ..self.request
        };
        let admin = Arc::clone(&self.shard.shared.admin);
        tokio::task::spawn_blocking(move || admin.answer(&request))
            .await
            .map_err(io::Error::other)
    }
}
