//! Rate limits per key or per route, exact across all shards.
//!
//! State is one atomic number per limited thing (see [`crate::gcra`]). The keys of a route are known when its configuration
//! is loaded, so there is one cell for each of them from the start: no map, no lock, nothing to evict, and memory
//! that no client can make grow. Where the shards' cells differ in time by a few nanoseconds of clock reading, the
//! compare-and-swap makes one of them try again, so no request is ever counted twice or not at all.

use super::key::KeyIndex;
use crate::answering::answer::Answer;
use crate::answering::error_kind::ErrorKind;
use crate::gcra::{Decision, Gcra};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Owner of a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Each key of the route.
    Key,
    /// The route as a whole.
    Route,
}

/// A limit and the state of everything that it limits. Shared by all shards.
#[derive(Debug)]
pub(crate) struct RateLimitPolicy {
    rate: f64,
    burst: u32,
    limit: Gcra,
    scope: Scope,
    /// How many gateways share it, if several may: then each has its even share.
    gateways: Option<Arc<AtomicU32>>,
    /// Theoretical arrival times, in nanoseconds since the gateway started: one per key, or a single one. A reload shares them with the
    /// generation before, whose last exchanges may still spend.
    cells: Box<[Arc<AtomicU64>]>,
}

impl RateLimitPolicy {
    /// A limit of `rate` per second with `burst`, for a route with `keys` keys.
    pub(crate) fn new(rate: f64, burst: u32, scope: Scope, keys: usize) -> Self {
        let cells = match scope {
            Scope::Key => keys,
            Scope::Route => 1,
        };
        Self {
            rate,
            burst,
            limit: Gcra::new(rate, burst),
            scope,
            gateways: None,
            cells: (0..cells).map(|_| Arc::default()).collect(),
        }
    }

    /// This limit, shared by as many gateways as there are at the time.
    pub(crate) fn shared_among(mut self, gateways: Arc<AtomicU32>) -> Self {
        self.gateways = Some(gateways);
        self
    }

    /// This gateway's share of the burst, and of the limit.
    fn share(&self) -> (u32, Gcra) {
        let gateways = self.gateways.as_ref();
        let gateways = gateways.map_or(1, |count| count.load(Ordering::Relaxed));
        if gateways <= 1 {
            return (self.burst, self.limit);
        }
        let burst = (self.burst / gateways).max(1);
        (burst, Gcra::new(self.rate / f64::from(gateways), burst))
    }

    /// Goes on where `before` is, if it counts by the same: `place` says where a key of this policy is in that one.
    pub(crate) fn follow(&mut self, before: &Self, place: impl Fn(usize) -> Option<KeyIndex>) {
        if self.scope != before.scope {
            return;
        }
        for (index, cell) in self.cells.iter_mut().enumerate() {
            let known = match self.scope {
                Scope::Route => before.cells.first(),
                Scope::Key => {
                    place(index).and_then(|KeyIndex(known)| before.cells.get(known as usize))
                }
            };
            if let Some(known) = known {
                *cell = Arc::clone(known);
            }
        }
    }

    /// Takes one request off the budget, or says how many nanoseconds are missing. `now`: nanoseconds since the start.
    pub(crate) fn spend(&self, key: Option<KeyIndex>, now: u64) -> Result<(), u64> {
        let cell = match (self.scope, key) {
            (Scope::Key, Some(KeyIndex(index))) => &self.cells[index as usize],
            (Scope::Key, None) | (Scope::Route, _) => &self.cells[0],
        };
        let mut tat = cell.load(Ordering::Relaxed);
        let (_, limit) = self.share();
        loop {
            match limit.decide(tat, now) {
                Decision::Refuse { wait } => return Err(wait),
                Decision::Admit { tat: next } => {
                    // Relaxed: the number is all there is, nothing else is published through it.
                    match cell.compare_exchange_weak(
                        tat,
                        next,
                        Ordering::Relaxed,
                        Ordering::Relaxed,
                    ) {
                        Ok(_) => return Ok(()),
                        Err(current) => tat = current,
                    }
                }
            }
        }
    }

    /// 429 with the fields of RFC 9110 §10.2.3 and draft-ietf-httpapi-ratelimit-headers: the quota is the burst, its
    /// window the time in which an exhausted burst is whole again.
    pub(crate) fn answer(&self, wait: u64) -> Answer {
        let name = match self.scope {
            Scope::Key => "key",
            Scope::Route => "route",
        };
        let wait = whole_seconds(wait);
        let (burst, limit) = self.share();
        let window = whole_seconds(limit.window());
        Answer::new(429, "rate limit exceeded")
            .because(match self.scope {
                Scope::Key => ErrorKind::KeyRate,
                Scope::Route => ErrorKind::RouteRate,
            })
            .with_field("Retry-After", wait.to_string())
            .with_field("RateLimit", format!("\"{name}\";r=0;t={wait}"))
            .with_field(
                "RateLimit-Policy",
                format!("\"{name}\";q={burst};w={window}"),
            )
    }
}

/// Seconds as these fields carry them: whole, rounded up, at least one.
fn whole_seconds(nanos: u64) -> u64 {
    nanos.div_ceil(1_000_000_000).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_budgets_of_their_own_and_a_route_has_one() {
        let per_key = RateLimitPolicy::new(1.0, 2, Scope::Key, 2);
        let [a, b] = [Some(KeyIndex(0)), Some(KeyIndex(1))];
        let outcomes: Vec<bool> = [a, a, a, b, b, b]
            .map(|key| per_key.spend(key, 0).is_ok())
            .into();
        assert_eq!(outcomes, [true, true, false, true, true, false]);
        let per_route = RateLimitPolicy::new(1.0, 2, Scope::Route, 2);
        let outcomes: Vec<bool> = [a, b, a].map(|key| per_route.spend(key, 0).is_ok()).into();
        assert_eq!(outcomes, [true, true, false]);
    }

    #[test]
    fn gateways_share_a_limit_as_many_as_there_are() {
        let gateways = Arc::new(AtomicU32::new(1));
        let policy =
            || RateLimitPolicy::new(0.001, 10, Scope::Route, 0).shared_among(Arc::clone(&gateways));
        let admitted =
            |policy: &RateLimitPolicy| (0..20).filter(|_| policy.spend(None, 0).is_ok()).count();
        let both = [policy(), policy()];
        gateways.store(2, Ordering::Relaxed);
        assert_eq!(both.each_ref().map(admitted), [5, 5]);
        assert_eq!(
            both[0].answer(0).fields()[2],
            ("RateLimit-Policy", "\"route\";q=5;w=10000")
        );
        gateways.store(20, Ordering::Relaxed);
        assert_eq!(admitted(&policy()), 1);
        gateways.store(1, Ordering::Relaxed);
        assert_eq!(admitted(&policy()), 10);
    }

    #[test]
    fn a_reload_gives_nobody_a_new_budget() {
        let before = RateLimitPolicy::new(1.0, 2, Scope::Key, 2);
        let [a, b] = [Some(KeyIndex(0)), Some(KeyIndex(1))];
        assert!(before.spend(b, 0).is_ok());
        assert!(before.spend(b, 0).is_ok());
        // The first key is new, the second was the other one's second.
        let mut after = RateLimitPolicy::new(1.0, 2, Scope::Key, 2);
        after.follow(&before, |index| (index == 1).then_some(KeyIndex(1)));
        assert!(after.spend(a, 0).is_ok());
        assert!(after.spend(b, 0).is_err());
        let mut wider = RateLimitPolicy::new(1.0, 2, Scope::Route, 0);
        wider.follow(&before, |_| None);
        assert!(wider.spend(None, 0).is_ok());
    }

    #[test]
    fn exact_when_several_shards_spend_at_once() {
        let policy = RateLimitPolicy::new(1000.0, 50, Scope::Route, 0);
        // Four threads play the same 100 ms of virtual time; together they may pass 1000/s · 0.1 s + 50.
        let admitted: usize = std::thread::scope(|scope| {
            let shards: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| {
                        (0..100_000u64)
                            .filter(|i| policy.spend(None, i * 1_000).is_ok())
                            .count()
                    })
                })
                .collect();
            shards.into_iter().map(|shard| shard.join().unwrap()).sum()
        });
        assert!((149..=150).contains(&admitted), "{admitted}");
    }

    #[test]
    fn a_refusal_says_when_to_come_back() {
        let policy = RateLimitPolicy::new(0.5, 10, Scope::Key, 1);
        assert_eq!(
            policy.answer(1_500_000_000).fields(),
            [
                ("Retry-After", "2"),
                ("RateLimit", "\"key\";r=0;t=2"),
                ("RateLimit-Policy", "\"key\";q=10;w=20"),
            ]
        );
    }
}
