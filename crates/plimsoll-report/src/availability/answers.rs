//! Exchanges of a trial by how they count: good, slow or failed, in seconds of the load.

use crate::record::{AvailabilitySettings, SingleExchange};
use plimsoll_base::outcome_class::OutcomeClass;

/// How an exchange counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quality {
    /// Answered well and soon.
    Good,
    /// Answered well and within the deadline, but late.
    Slow,
    /// Not answered well within the deadline.
    Failed,
}

/// An exchange that counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Answer {
    /// Its intended start.
    pub(super) at: f64,
    /// Its release: it met its target no earlier.
    pub(super) released: f64,
    /// When it had met its target: it was answered or refused, or should have been.
    pub(super) met_by: f64,
    /// When it was over for its caller: when it ended, or at its deadline.
    pub(super) end: f64,
    /// From its intended start to its end.
    pub(super) response: f64,
    /// How it counts.
    pub(super) quality: Quality,
}

impl Answer {
    pub(super) fn is_failed(&self) -> bool {
        self.quality == Quality::Failed
    }
}

/// How long after its first byte an exchange may have met its target, in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Meeting {
    /// One that was not answered in time: as long as answers usually took.
    pub(super) usual: f64,
    /// At most: a slow answer does not make a trial less sharp than its resolution.
    pub(super) most: f64,
}

impl Meeting {
    /// The latest moment of an exchange that was released and over then.
    fn of(self, exchange: &SingleExchange, in_time: bool, (released, end): (f64, f64)) -> f64 {
        let Some(sent) = exchange.sent_s() else {
            return match exchange.class {
                OutcomeClass::Refused | OutcomeClass::Reset => end.min(released + self.most),
                // Whoever waits for a connection in vain meets silence from its release on.
                _ => released,
            };
        };
        let sent = exchange.intended_s() + sent;
        let is_answered = !matches!(
            exchange.class,
            OutcomeClass::TimedOut | OutcomeClass::Unfinished | OutcomeClass::Aborted
        );
        match in_time && is_answered {
            true => end.min(sent + self.most),
            false => sent + self.usual.min(self.most),
        }
    }
}

/// The exchanges that count, in their order. One that we ended ourselves counts for nothing unless its deadline had passed.
pub(super) fn answers(
    settings: &AvailabilitySettings,
    meeting: Meeting,
    exchanges: &[SingleExchange],
) -> Vec<Answer> {
    let counted = exchanges.iter();
    counted
        .filter_map(|one| answer(settings, meeting, one))
        .collect()
}

fn answer(
    settings: &AvailabilitySettings,
    meeting: Meeting,
    exchange: &SingleExchange,
) -> Option<Answer> {
    let (at, response) = (exchange.intended_s(), exchange.response_s());
    let in_time = response <= settings.deadline_s;
    let quality = match exchange.class {
        OutcomeClass::Aborted if in_time => return None,
        OutcomeClass::Passed if in_time && response > settings.slow_s => Quality::Slow,
        OutcomeClass::Passed if in_time => Quality::Good,
        _ => Quality::Failed,
    };
    let released = at + exchange.late_s();
    let met_by = meeting.of(exchange, in_time, (released, at + response));
    Some(Answer {
        at,
        released,
        met_by: met_by.max(released),
        end: at + response.min(settings.deadline_s),
        response,
        quality,
    })
}
