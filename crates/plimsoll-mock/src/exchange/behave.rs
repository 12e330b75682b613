//! What a stub's behaviour makes of a request: a refusal, one of several answers, more delay, a wait for its turn.

use super::{Decision, Exchange, Pending};
use crate::behaviour::RateLimit;
use crate::delay::Delay;
use crate::journal::Answered;
use crate::request::Request;
use crate::stub::{Behaving, Stub};
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
            let refusal = RateLimit::refusal(wait);
            self.note(Answered::Own(refusal.status()), Duration::ZERO);
            return Decision::Own(refusal, Duration::ZERO);
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
        let answer = self.rendered(chosen, request);
        // What another server answers is noted when it is known.
        let noted = match chosen.proxy {
            Some(_) => None,
            None => self.note_answer(Answered::Stub(chosen), delay, answer.as_ref()),
        };
        let afterwards = self.afterwards(chosen, request, noted);
        Decision::Stub(Pending {
            answer: answer.map(|answer| self.coded(answer, chosen)),
            room: behaving.room.clone(),
            ..Pending::new(chosen, self.coding(), delay, afterwards)
        })
    }
}
