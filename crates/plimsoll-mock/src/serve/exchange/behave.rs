//! A stub's behaviour towards a request: a refusal, one of several answers, more delay, a wait for its turn.

use super::{Decision, Exchange, Pending};
use plimsoll_wiremock::request::Request;
use plimsoll_wiremock::response::delay::Delay;
use plimsoll_wiremock::stub::behaviour::RateLimit;
use plimsoll_wiremock::stub::{Behaving, Stub};
use std::sync::Arc;
use std::time::Duration;

impl Exchange<'_> {
    /// Finds the answer of a stub that has a behaviour of its own.
    pub(super) fn decide_behaving(
        &self,
        stub: &Arc<Stub>,
        behaving: &Behaving,
        request: &Request<'_>,
        default_delay: &Delay,
    ) -> Decision {
        let shared = &self.shard.shared;
        if let Some(limit) = &behaving.rate_limit
            && let Err(wait) = limit.admit(self.received)
        {
            return self.decide_own(RateLimit::refusal(wait), Duration::ZERO);
        }
        let chosen = behaving.alternatives.as_ref();
        let chosen = chosen.and_then(|lots| lots.pick(&mut shared.draw())?.as_ref());
        let chosen = chosen.unwrap_or(stub);
        let mut delay = chosen
            .delay
            .sample(default_delay, shared.precision, || shared.draw());
        if let Some(slow_start) = &behaving.slow_start {
            delay += slow_start.delay(self.received);
        }
        if let Some(replay) = &behaving.replay {
            delay += replay.sample(&mut shared.draw());
        }
        let source = self.source(chosen, request);
        let noted = self.note_source(chosen, &source, delay);
        Decision::Stub(Pending {
            room: behaving.room.clone(),
            ..self.pending(chosen, source, request, delay, noted)
        })
    }
}
