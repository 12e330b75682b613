//! Gets the answer of a stub that does not have it: from another server, or from a file that nobody has asked for yet.

use super::Exchange;
use super::pending::{Pending, Source};
use crate::kept_body::Held;
use crate::outgoing::{Failure, Sending};
use crate::records::journal::Answered;
use crate::serve::static_files::StaticFile;
use plimsoll_wiremock::request::Request;
use plimsoll_wiremock::response::answer::{Answer, AnswerBuilder, Coding};
use plimsoll_wiremock::stub::Stub;
use plimsoll_wiremock::stub::proxy::{Forwarding, Proxy};
use plimsoll_wiremock::stub::templated::{Unread, model};
use std::sync::Arc;

impl Exchange<'_> {
    /// Gets the answer, and notes the request with it.
    pub(crate) async fn fetch(&self, pending: &mut Pending) {
        if let Some(id) = &pending.id {
            self.id.get_or_init(|| **id);
        }
        self.misread.set(pending.misread);
        let stub = Arc::clone(&pending.stub);
        let journal = &self.shard.shared.journal;
        let mut fetch = None;
        let answer = match (&pending.source, &stub.proxy) {
            (Source::Server, Some(proxy)) => {
                fetch = journal.begin_fetch(self.shard.index, self.received);
                let mut held = Held::new(Arc::clone(&self.shard.shared.bodies));
                // Boxed, so that exchanges which are never sent on do not carry its memory.
                let answer = match Box::pin(self.forward(&stub, proxy, &mut held)).await {
                    Ok(answer) => {
                        self.record(&answer).await;
                        answer
                    }
                    Err(answer) => answer,
                };
                pending.afterwards.held = Some(held);
                if answer.body_len() == 0 {
                    pending.delay += stub.delivery.time_of_an_empty_proxied_body();
                }
                answer
            }
            (Source::File(unread), _) => {
                let answer = Box::pin(self.read(&stub, unread)).await;
                self.coded(answer, &stub)
            }
            _ => return,
        };
        let seen = self.seen(Answered::Stub(&stub), pending.delay, Some(&answer));
        pending.afterwards.noted = match fetch {
            Some(fetch) => Some(fetch.note(&seen)),
            None => journal.note(self.shard.index, &seen),
        };
        pending.source = Source::Made(self.readable(answer));
    }

    /// The answer with a file that no stub names, which is read on another thread.
    pub(crate) async fn read_static(&self, file: StaticFile) -> Answer {
        let shared = Arc::clone(&self.shard.shared);
        let turn = self.shard.shared.reading.acquire().await;
        let read = tokio::task::spawn_blocking(move || file.read(&shared.files)).await;
        drop(turn);
        let answer = read.unwrap_or_else(|error| Answer::text(500, &error.to_string()));
        self.readable(match self.coding() {
            Coding::Gzip => answer.packed().unwrap_or(answer),
            Coding::Identity => answer,
        })
    }

    /// The other server's answer; the error is WireMock's words about why there is none. `held` gets the room that it takes.
    async fn forward(&self, stub: &Stub, proxy: &Proxy, held: &mut Held) -> Result<Answer, Answer> {
        let (shared, outgoing) = (&self.shard.shared, &self.shard.outgoing);
        let request = Request::of(self.head, self.body, self.channel);
        let seen = || {
            let (url, parameters) = (&stub.request.url, &proxy.parameters);
            model(&request, url, parameters, self.occasion())
        };
        let config = &outgoing.shared().config;
        let forwarding = Forwarding {
            host: config.host,
            user_agent: config.user_agent,
            encodings: config.encodings.as_deref(),
        };
        let forwarded = match proxy.forward(&seen(), self.body, forwarding) {
            Ok(forwarded) => forwarded,
            Err(message) => return Err(Answer::text(500, &message)),
        };
        let sending = Sending {
            url: &forwarded.url,
            method: request.method,
            head: &forwarded.head,
            body: self.body,
        };
        let received = outgoing.exchange(&sending, |bytes| held.grow(bytes)).await;
        match received {
            Ok(received) => {
                if let Some(latency) = &shared.latency {
                    latency.record(received.time);
                }
                let answer = proxy.answer(&seen(), &received.head, &received.body);
                answer.map_err(|error| Answer::text(500, &error))
            }
            Err(failure) => Err(failed(&failure, &forwarded.shown)),
        }
    }

    /// Writes a mapping of the request and another server's answer, where they are recorded at once.
    async fn record(&self, answer: &Answer) {
        let Some(recorder) = &self.shard.shared.recorder else {
            return;
        };
        // What is written is a copy: there are so many at a time.
        let turn = self.shard.shared.reading.acquire().await;
        let request = Request::of(self.head, self.body, self.channel);
        if let Some(unwritten) = recorder.record(&request, answer) {
            let written = tokio::task::spawn_blocking(move || unwritten.write()).await;
            recorder.note(written.unwrap_or_else(|error| Err(error.to_string())));
        }
        drop(turn);
    }

    /// An answer made of a file, which is read on another thread: a long one, or a slow disk, holds up nobody else.
    async fn read(&self, stub: &Stub, unread: &Unread) -> Answer {
        let shared = &self.shard.shared;
        let turn = shared.reading.acquire().await;
        let file = unread.file.clone();
        let read = tokio::task::spawn_blocking(move || file.read()).await;
        drop(turn);
        let body = read.unwrap_or_else(|error| Err(error.to_string()));
        let Some(templated) = &stub.templated else {
            return Answer::text(500, "no template");
        };
        let request = Request::of(self.head, self.body, self.channel);
        let url = &stub.request.url;
        templated.answer_with(&request, url, unread.clone(), body, &self.id)
    }
}

/// WireMock's answer when the other server gave none.
fn failed(failure: &Failure, url: &str) -> Answer {
    let kind = match failure {
        Failure::Denied(_) => {
            let text = format!(
                "The target proxy address is denied in WireMock's configuration.\r\n{failure}"
            );
            return AnswerBuilder::new(500, None)
                .field("Content-Type", "text/plain")
                .body(text.as_bytes());
        }
        Failure::Tls(_) => "SSL",
        Failure::Network(_) => "Network",
    };
    let text = format!(
        "{kind} failure trying to make a proxied request from WireMock to {url}\r\n{failure}"
    );
    AnswerBuilder::new(500, None).body(text.as_bytes())
}
