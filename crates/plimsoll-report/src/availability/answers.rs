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
    /// When it met its target at the latest, but for the time in which its request lay unread: it began to be sent, or a connection was refused.
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

/// The exchanges that count, in their order. One that we ended ourselves counts for nothing unless its deadline had passed.
pub(super) fn answers(
    settings: &AvailabilitySettings,
    exchanges: &[SingleExchange],
) -> Vec<Answer> {
    let counted = exchanges.iter();
    counted.filter_map(|one| answer(settings, one)).collect()
}

fn answer(settings: &AvailabilitySettings, exchange: &SingleExchange) -> Option<Answer> {
    let (at, response) = (exchange.intended_s(), exchange.response_s());
    let in_time = response <= settings.deadline_s;
    let quality = match exchange.class {
        OutcomeClass::Aborted if in_time => return None,
        OutcomeClass::Passed if in_time && response > settings.slow_s => Quality::Slow,
        OutcomeClass::Passed if in_time => Quality::Good,
        _ => Quality::Failed,
    };
    let released = at + exchange.late_s();
    let met_by = match (exchange.sent_s(), exchange.class) {
        (Some(sent), _) => at + sent,
        (
            None,
            OutcomeClass::Refused
            | OutcomeClass::Reset
            | OutcomeClass::Closed
            | OutcomeClass::TlsFailed,
        ) => at + response,
        // Whoever waits for a connection in vain meets silence from its release on.
        (None, _) => released,
    };
    Some(Answer {
        at,
        released,
        met_by: met_by.max(released),
        end: at + response.min(settings.deadline_s),
        response,
        quality,
    })
}
