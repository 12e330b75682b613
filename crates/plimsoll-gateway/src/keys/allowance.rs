//! A key's allowance and its use: a rate and a quota, each in one atomic number, exact over all shards.

use crate::gcra::{Decision, Gcra};
use std::sync::atomic::{AtomicU64, Ordering};

/// A rate and a quota, either of which may be missing.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Allowance {
    pub(crate) rate: Option<Rate>,
    pub(crate) quota: Option<Quota>,
}

/// So many requests per so many seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rate {
    /// Above 0.
    pub(crate) requests: f64,
    /// Above 0.
    pub(crate) seconds: f64,
}

/// So many requests until it is renewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quota {
    /// At least 1.
    pub(crate) max: u32,
    /// Seconds from the first request of a period to the next period; 0: there is no next.
    pub(crate) renewal: u32,
}

/// Use so far. All zero for a new key.
#[derive(Debug, Default)]
pub(crate) struct Spent {
    /// The rate's theoretical arrival time, in nanoseconds since the gateway started.
    arrival: AtomicU64,
    /// The end of the quota's period in seconds since 1970, and requests in it.
    period: AtomicU64,
    /// Use by all gateways together as Redis said it last: those requests are known to both sides. Written by the thread of Redis alone.
    told: AtomicU64,
}

/// Use of a quota here that Redis has not heard of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Untold {
    pub(crate) requests: u32,
    /// The end of the quota's period, in seconds since 1970.
    pub(crate) renews: u32,
}

/// A moment, on both clocks that count here.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    /// Nanoseconds since the gateway started.
    pub(crate) nanos: u64,
    /// Seconds since 1970.
    pub(crate) unix: u32,
}

/// The rest of a quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Left {
    pub(crate) max: u32,
    pub(crate) remaining: u32,
    /// Seconds since 1970; 0 before the first request.
    pub(crate) renews: u32,
}

/// Why a request is one too many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exceeded {
    /// The request would pass after so many nanoseconds.
    Rate { wait: u64 },
    /// Until then, in seconds since 1970.
    Quota { renews: u32 },
}

impl Rate {
    /// As many at once as in a whole period, shared out among so many gateways.
    fn limit(self, gateways: u32) -> Gcra {
        let share = self.requests / f64::from(gateways.max(1));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "rates are positive; the cast saturates"
        )]
        let burst = (share.floor() as u32).max(1);
        Gcra::new(share / self.seconds, burst)
    }
}

impl Spent {
    /// Takes one request off, or says why not. `gateways` share the rate.
    pub(crate) fn spend(
        &self,
        allowance: &Allowance,
        gateways: u32,
        now: Moment,
    ) -> Result<Option<Left>, Exceeded> {
        if let Some(rate) = allowance.rate {
            self.spend_rate(rate.limit(gateways), now.nanos)?;
        }
        match allowance.quota {
            Some(quota) => self.spend_quota(quota, now.unix).map(Some),
            None => Ok(None),
        }
    }

    fn spend_rate(&self, limit: Gcra, now: u64) -> Result<(), Exceeded> {
        let mut arrival = self.arrival.load(Ordering::Relaxed);
        loop {
            let next = match limit.decide(arrival, now) {
                Decision::Refuse { wait } => return Err(Exceeded::Rate { wait }),
                Decision::Admit { tat } => tat,
            };
            // Relaxed: the number is all there is, nothing else is published through it.
            match self.arrival.compare_exchange_weak(
                arrival,
                next,
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Ok(()),
                Err(current) => arrival = current,
            }
        }
    }

    fn spend_quota(&self, quota: Quota, now: u32) -> Result<Left, Exceeded> {
        let mut packed = self.period.load(Ordering::Relaxed);
        loop {
            let (renews, used) = current(packed, quota, now);
            if used >= quota.max {
                return Err(Exceeded::Quota { renews });
            }
            let next = pack(renews, used + 1);
            match self.period.compare_exchange_weak(
                packed,
                next,
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => {
                    return Ok(Left {
                        max: quota.max,
                        remaining: quota.max - used - 1,
                        renews,
                    });
                }
                Err(other) => packed = other,
            }
        }
    }

    /// The rest of a quota, without taking anything.
    pub(crate) fn left(&self, quota: Quota, now: u32) -> Left {
        let packed = self.period.load(Ordering::Relaxed);
        let (renews, used) = match packed {
            0 => (0, 0),
            packed => current(packed, quota, now),
        };
        Left {
            max: quota.max,
            remaining: quota.max.saturating_sub(used),
            renews,
        }
    }

    /// Sets the period and what is used in it.
    pub(crate) fn set_quota(&self, renews: u32, used: u32) {
        self.period.store(pack(renews, used), Ordering::Relaxed);
    }

    /// End of the quota's period and what is used in it; zeroes before its first request.
    pub(crate) fn period(&self) -> (u32, u32) {
        unpack(self.period.load(Ordering::Relaxed))
    }

    /// Use that Redis has yet to hear of.
    pub(crate) fn untold(&self) -> Option<Untold> {
        let (renews, used) = self.period();
        let requests = used.saturating_sub(self.known(renews));
        (requests > 0).then_some(Untold { requests, renews })
    }

    /// Redis has heard of this, and says that all gateways together have used `sum` in the period, which really ends at `end`.
    pub(crate) fn told(&self, untold: Untold, sum: u32, end: u32) {
        let Untold { requests, renews } = untold;
        let others = sum.saturating_sub(self.known(renews).saturating_add(requests));
        let added = |packed| {
            let (current, used) = unpack(packed);
            (current == renews).then(|| pack(end, used.saturating_add(others)))
        };
        // Unless another period has begun meanwhile.
        if (self.period)
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, added)
            .is_ok()
        {
            self.told.store(pack(end, sum), Ordering::Relaxed);
        }
    }

    /// All gateways together have used `sum` in the period that ends at `end`. Where Redis has yet to hear of this one, it will say so itself.
    pub(crate) fn learn(&self, sum: u32, end: u32) {
        let learned = |packed| {
            let (renews, used) = unpack(packed);
            let is_news = renews != end || used < sum;
            (is_news && used <= self.known(renews)).then(|| pack(end, sum))
        };
        if (self.period)
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, learned)
            .is_ok()
        {
            self.told.store(pack(end, sum), Ordering::Relaxed);
        }
    }

    /// How much of the period that ends at `renews` both sides know.
    fn known(&self, renews: u32) -> u32 {
        match unpack(self.told.load(Ordering::Relaxed)) {
            (end, sum) if end == renews => sum,
            _ => 0,
        }
    }

    /// A copy of another's use, too.
    pub(crate) fn copy_of(other: &Self) -> Self {
        Self {
            arrival: AtomicU64::new(other.arrival.load(Ordering::Relaxed)),
            period: AtomicU64::new(other.period.load(Ordering::Relaxed)),
            told: AtomicU64::new(other.told.load(Ordering::Relaxed)),
        }
    }
}

/// End of the period that `now` lies in, and what is used of it.
fn current(packed: u64, quota: Quota, now: u32) -> (u32, u32) {
    let (renews, used) = unpack(packed);
    if packed != 0 && now < renews {
        return (renews, used);
    }
    match quota.renewal {
        0 => (u32::MAX, 0),
        renewal => (now.saturating_add(renewal), 0),
    }
}

fn pack(renews: u32, used: u32) -> u64 {
    u64::from(renews) << 32 | u64::from(used)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "two halves are taken apart"
)]
fn unpack(packed: u64) -> (u32, u32) {
    ((packed >> 32) as u32, packed as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u32) -> Moment {
        Moment {
            nanos: u64::from(seconds) * 1_000_000_000,
            unix: 1_700_000_000 + seconds,
        }
    }

    #[test]
    fn a_quota_counts_from_its_first_request_and_is_renewed() {
        let allowance = Allowance {
            rate: None,
            quota: Some(Quota {
                max: 2,
                renewal: 60,
            }),
        };
        let spent = Spent::default();
        let remaining = |seconds| {
            let left = spent.spend(&allowance, 1, at(seconds));
            left.map(|left| left.unwrap().remaining)
        };
        let exceeded = Err(Exceeded::Quota {
            renews: 1_700_000_070,
        });
        assert_eq!([10, 20, 69].map(remaining), [Ok(1), Ok(0), exceeded]);
        assert_eq!([70, 71, 72].map(remaining)[..2], [Ok(1), Ok(0)]);
        let left = spent.left(allowance.quota.unwrap(), 1_700_000_131);
        assert_eq!((left.remaining, left.renews), (2, 1_700_000_191));
    }

    #[test]
    fn a_quota_that_is_never_renewed_ends() {
        let quota = Quota { max: 1, renewal: 0 };
        let allowance = Allowance {
            rate: None,
            quota: Some(quota),
        };
        let spent = Spent::default();
        assert!(spent.spend(&allowance, 1, at(0)).is_ok());
        assert!(spent.spend(&allowance, 1, at(1_000_000_000)).is_err());
    }

    #[test]
    fn gateways_share_a_rate() {
        let allowance = Allowance {
            rate: Some(Rate {
                requests: 10.0,
                seconds: 1.0,
            }),
            quota: None,
        };
        let admitted = |gateways| {
            let spent = Spent::default();
            let tries = 0..100u64;
            tries
                .filter(|step| {
                    let now = Moment {
                        nanos: step * 10_000_000,
                        unix: 0,
                    };
                    spent.spend(&allowance, gateways, now).is_ok()
                })
                .count()
        };
        // Over a little less than a second: the burst and the rate.
        assert_eq!((admitted(1), admitted(2), admitted(5)), (19, 9, 3));
    }

    #[test]
    fn what_others_spend_is_added_once_and_what_redis_has_not_heard_of_is_kept() {
        let spent = Spent::default();
        let used = || spent.period();
        spent.learn(4, 100);
        assert_eq!((used(), spent.untold()), ((100, 4), None));
        spent.learn(4, 100);
        spent.learn(3, 100);
        assert_eq!(used(), (100, 4), "it is no less than it was");
        spent.set_quota(100, 6);
        let untold = spent.untold().unwrap();
        assert_eq!((untold.requests, untold.renews), (2, 100));
        spent.learn(9, 100);
        assert_eq!(used(), (100, 6), "Redis says so with its answer");
        spent.told(untold, 11, 100);
        assert_eq!((used(), spent.untold()), ((100, 11), None));
        spent.learn(1, 200);
        assert_eq!(used(), (200, 1), "it was renewed elsewhere");
        // A period that begins here while others are in theirs ends with it.
        spent.set_quota(310, 1);
        spent.told(spent.untold().unwrap(), 3, 300);
        assert_eq!((used(), spent.untold()), ((300, 3), None));
        spent.set_quota(400, 1);
        spent.told(untold, 12, 100);
        assert_eq!(used(), (400, 1), "another period has begun");
        assert_eq!(spent.untold().unwrap().requests, 1);
    }

    #[test]
    fn exact_when_several_shards_spend_at_once() {
        let allowance = Allowance {
            rate: None,
            quota: Some(Quota {
                max: 1000,
                renewal: 3600,
            }),
        };
        let spent = Spent::default();
        let admitted: usize = std::thread::scope(|scope| {
            let spend = || {
                (0..500)
                    .filter(|_| spent.spend(&allowance, 1, at(1)).is_ok())
                    .count()
            };
            let shards: Vec<_> = (0..4).map(|_| scope.spawn(spend)).collect();
            shards.into_iter().map(|shard| shard.join().unwrap()).sum()
        });
        assert_eq!(admitted, 1000);
    }
}
