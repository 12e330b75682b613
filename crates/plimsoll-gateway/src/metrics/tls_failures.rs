//! Failures of TLS to upstreams, counted by reason.

use plimsoll_base::outcome_class::OutcomeClass;
use plimsoll_base::reason::Reason;
use plimsoll_http::meters::Counter;

/// How often TLS to an upstream failed, by why.
#[derive(Debug)]
pub(crate) struct TlsFailures(Box<[Counter]>);

impl TlsFailures {
    /// Every reason, in the order of the counters.
    pub(crate) fn reasons() -> impl Iterator<Item = Reason> {
        let all = Reason::ALL.iter().copied();
        all.filter(|reason| reason.class() == OutcomeClass::TlsFailed)
    }

    /// Counts one.
    pub(crate) fn failed(&self, reason: Reason) {
        self.get(reason).add(1);
    }

    /// How many there were for this reason; what is no reason of TLS counts as another of it.
    pub(crate) fn get(&self, reason: Reason) -> &Counter {
        let place = |reason| Self::reasons().position(|known| known == reason);
        let at = place(reason).or_else(|| place(Reason::TlsOther));
        &self.0[at.expect("invariant: every reason of TLS is listed")]
    }
}

impl Default for TlsFailures {
    fn default() -> Self {
        Self(Self::reasons().map(|_| Counter::default()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_a_counter_of_its_own() {
        let failures = TlsFailures::default();
        for (count, reason) in (1..).zip(TlsFailures::reasons()) {
            (0..count).for_each(|_| failures.failed(reason));
        }
        for (count, reason) in (1..).zip(TlsFailures::reasons()) {
            assert_eq!(failures.get(reason).get(), count, "{reason:?}");
        }
        let before = failures.get(Reason::TlsOther).get();
        failures.failed(Reason::Ports);
        assert_eq!(failures.get(Reason::TlsOther).get(), before + 1);
    }
}
