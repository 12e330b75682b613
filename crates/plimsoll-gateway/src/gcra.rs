//! The generic cell rate algorithm (ITU-T I.371, virtual scheduling): the arithmetic of rate limits, pure.
//!
//! State is one number, the *theoretical arrival time* (TAT): when the next request would be due if requests came
//! evenly. Times are nanoseconds since any fixed moment. Sharing the number between cores is left to the limits.

/// A rate with a burst, in the algorithm's own quantities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gcra {
    /// Nanoseconds that one request takes up: 1/rate, rounded up so that the rate is never exceeded.
    interval: u64,
    /// How far the TAT may run ahead of now before a request is refused: (burst − 1) · interval.
    tolerance: u64,
}

/// Decision about one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Let it pass; the state becomes `tat`.
    Admit { tat: u64 },
    /// Refuse it; the same request would pass after `wait` nanoseconds. The state does not change.
    Refuse { wait: u64 },
}

impl Gcra {
    /// A limit of `rate` requests per second of which `burst` (at least 1) may come at once.
    pub(crate) fn new(rate: f64, burst: u32) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "rates are positive; the cast saturates for rates below one in centuries"
        )]
        let interval = ((1e9 / rate).ceil() as u64).max(1);
        let tolerance = interval.saturating_mul(u64::from(burst.max(1) - 1));
        Self {
            interval,
            tolerance,
        }
    }

    /// Decides about one request at `now`, given the state `tat` (0 at first).
    ///
    /// Over any window of t seconds at most rate · t + burst requests are admitted.
    pub(crate) fn decide(self, tat: u64, now: u64) -> Decision {
        let due = tat.max(now);
        let ahead = due - now;
        if ahead > self.tolerance {
            Decision::Refuse {
                wait: ahead - self.tolerance,
            }
        } else {
            Decision::Admit {
                tat: due.saturating_add(self.interval),
            }
        }
    }

    /// Nanoseconds in which an exhausted burst is whole again.
    pub(crate) fn window(self) -> u64 {
        self.tolerance.saturating_add(self.interval)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn admitted(limit: Gcra, times: &[u64]) -> Vec<u64> {
        let mut tat = 0;
        let mut admitted = Vec::new();
        for &now in times {
            if let Decision::Admit { tat: next } = limit.decide(tat, now) {
                tat = next;
                admitted.push(now);
            }
        }
        admitted
    }

    #[test]
    fn a_burst_at_once_then_the_rate() {
        let limit = Gcra::new(10.0, 3);
        let ms = 1_000_000;
        assert_eq!(admitted(limit, &[0; 10]).len(), 3);
        assert_eq!(
            limit.decide(300 * ms, 0),
            Decision::Refuse { wait: 100 * ms }
        );
        assert_eq!(
            limit.decide(300 * ms, 100 * ms),
            Decision::Admit { tat: 400 * ms }
        );
        assert_eq!(limit.window(), 300 * ms);
        // After a long silence no more than the burst has gathered.
        assert_eq!(
            admitted(limit, &[[0; 9], [3_600_000 * ms; 9]].concat()).len(),
            6
        );
    }

    #[test]
    fn a_burst_of_one_spaces_requests_evenly() {
        let limit = Gcra::new(1000.0, 1);
        let every_tenth_ms: Vec<u64> = (0..100).map(|i| i * 100_000).collect();
        assert_eq!(admitted(limit, &every_tenth_ms).len(), 10);
    }

    proptest! {
        #[test]
        fn never_more_than_rate_times_window_plus_burst(
            rate in 0.5f64..100_000.0,
            burst in 1u32..50,
            gaps in proptest::collection::vec(0u64..50_000_000, 1..300),
        ) {
            let times: Vec<u64> = gaps.iter().scan(0, |t, gap| { *t += gap; Some(*t) }).collect();
            let admitted = admitted(Gcra::new(rate, burst), &times);
            for (first, &start) in admitted.iter().enumerate() {
                for (last, &end) in admitted.iter().enumerate().skip(first) {
                    let window = (end - start) as f64 / 1e9;
                    let count = (last - first + 1) as f64;
                    prop_assert!(count <= rate * window + f64::from(burst) + 1e-6);
                }
            }
        }
    }
}
