//! Gets the answer of a stub that proxies: sends the request on and takes what comes back.

use super::Exchange;
use crate::answer::Answer;
use crate::clock;
use crate::kept_body::Held;
use crate::outgoing::Sending;
use crate::proxy::{Proxy, failed};
use crate::request::Request;
use crate::stub::Stub;
use crate::stub::templated::model;

impl Exchange<'_> {
    /// The other server's answer, or WireMock's words about why there is none. `held` gets the room that it takes.
    pub(super) async fn forward(&self, stub: &Stub, proxy: &Proxy, held: &mut Held) -> Answer {
        let (shared, outgoing) = (&self.shard.shared, &self.shard.outgoing);
        let request = Request::of(self.head, self.body, self.channel);
        let seen = || {
            let (url, parameters) = (&stub.request.url, &proxy.parameters);
            model(&request, url, parameters, clock::now(), shared.draw())
        };
        let config = &outgoing.shared().config;
        let forwarded = match proxy.forward(&seen(), self.body, config) {
            Ok(forwarded) => forwarded,
            Err(message) => return Answer::text(500, &message),
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
                let answer = proxy.answer(&seen(), &received);
                answer.unwrap_or_else(|error| Answer::text(500, &error))
            }
            Err(failure) => failed(&failure, &forwarded.shown),
        }
    }
}
