//! Outcomes of copies of requests, counted.

use plimsoll_http::meters::Counter;

/// How copies of requests ended, by upstream that got them.
#[derive(Debug, Default)]
pub(crate) struct MirrorMetrics {
    results: [Counter; Outcome::ALL.len()],
}

/// Outcome of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It was answered with the owner's status.
    Same,
    /// With another.
    Other,
    /// It was not answered, or not in time.
    Failed,
    /// Too many others were waiting.
    Dropped,
    /// The request's body is larger than is copied.
    TooLarge,
    /// The owner had not answered the request, so that nobody knows whether it did what it says.
    Unanswered,
}

impl Outcome {
    /// Each with its name in the metrics, in the order of the counters.
    pub(crate) const ALL: [(Self, &str); 6] = [
        (Self::Same, "same"),
        (Self::Other, "other"),
        (Self::Failed, "failed"),
        (Self::Dropped, "dropped"),
        (Self::TooLarge, "too_large"),
        (Self::Unanswered, "unanswered"),
    ];
}

impl MirrorMetrics {
    /// The counter of one outcome.
    pub(crate) fn of(&self, outcome: Outcome) -> &Counter {
        &self.results[outcome as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_has_its_place() {
        for (index, (outcome, name)) in Outcome::ALL.into_iter().enumerate() {
            assert_eq!(outcome as usize, index, "{name}");
        }
    }
}
