//! The better of two endpoints drawn at random (Mitzenmacher 2001), by the peak of a moving average of their latencies times what they
//! have under way (Finagle's "peak EWMA").
//!
//! The average jumps to a latency above it at once and falls back within seconds, so an endpoint that has become slow is avoided before
//! its average would say so. One that fails counts as very slow, however fast it fails: else it would attract everything.

use plimsoll_base::random::Draw;
use std::time::Duration;
use tokio::time::Instant;

/// After this time without a measurement, what an average says has shrunk to a third (1/e).
const DECAY: Duration = Duration::from_secs(5);
/// Least time that a failure counts as.
const FAILURE: Duration = Duration::from_secs(5);
/// Time that an endpoint counts as that was asked and has never answered, in seconds; then only those under way tell it from others like it.
const UNKNOWN_SECONDS: f64 = 1000.0;

/// The averages, by endpoint.
#[derive(Debug)]
pub(in crate::upstream) struct Latencies(Vec<Option<Average>>);

#[derive(Debug, Clone, Copy)]
struct Average {
    seconds: f64,
    at: Instant,
}

impl Latencies {
    /// Of so many endpoints, nothing known.
    pub(super) fn new(count: usize) -> Self {
        Self(vec![None; count])
    }

    /// Takes in a latency that was known at `now`.
    pub(super) fn observe(&mut self, index: usize, latency: Duration, now: Instant) {
        let seconds = latency.as_secs_f64();
        let average = match self.0[index] {
            Some(before) if seconds < before.seconds => {
                let kept = before.kept(now);
                before.seconds * kept + seconds * (1.0 - kept)
            }
            _ => seconds,
        };
        self.0[index] = Some(Average {
            seconds: average,
            at: now,
        });
    }

    /// Takes in that a latency would have been longer than this. Of an endpoint that has never answered it says nothing: as an average it would
    /// make a slow one look fast.
    pub(super) fn exceed(&mut self, index: usize, least: Duration, now: Instant) {
        let seconds = least.as_secs_f64();
        let is_news =
            self.0[index].is_some_and(|before| before.seconds * before.kept(now) < seconds);
        if is_news {
            self.0[index] = Some(Average { seconds, at: now });
        }
    }

    /// Takes in a failure.
    pub(super) fn punish(&mut self, index: usize, after: Duration, now: Instant) {
        self.observe(index, after.max(FAILURE), now);
    }

    /// Cost of another exchange with an endpoint, in seconds of waiting.
    fn cost(&self, index: usize, load: u32, now: Instant) -> f64 {
        match self.0[index] {
            None if load == 0 => 0.0,
            None => UNKNOWN_SECONDS * f64::from(load),
            Some(average) => average.seconds * average.kept(now) * f64::from(load + 1),
        }
    }
}

impl Average {
    /// How much of it still counts.
    fn kept(&self, now: Instant) -> f64 {
        let age = now.saturating_duration_since(self.at);
        (-age.as_secs_f64() / DECAY.as_secs_f64()).exp()
    }
}

/// The better of two usable endpoints drawn at random.
pub(super) fn choose(
    latencies: &Latencies,
    draw: &mut Draw,
    now: Instant,
    load: impl Fn(usize) -> Option<u32>,
) -> Option<usize> {
    let usable = || {
        let indexes = 0..latencies.0.len();
        indexes.filter_map(|index| Some((index, load(index)?)))
    };
    let count = usable().count() as u64;
    let mut nth = |below: u64| usize::try_from(draw.below(below)).unwrap_or(0);
    let (first, second) = match count {
        0 => return None,
        1 => return usable().next().map(|(index, _)| index),
        _ => {
            let first = nth(count);
            let second = nth(count - 1);
            (first, second + usize::from(second >= first))
        }
    };
    let drawn = [first, second].map(|nth| usable().nth(nth));
    let cost = |(index, load): &(usize, u32)| latencies.cost(*index, *load, now);
    let cheapest = drawn
        .iter()
        .flatten()
        .min_by(|a, b| cost(a).total_cmp(&cost(b)));
    cheapest.map(|(index, _)| *index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_base::random::Stream;
    use proptest::prelude::*;

    #[test]
    fn time_that_was_given_up_can_only_make_an_average_longer() {
        let start = Instant::now();
        let second = Duration::from_secs(1);
        let mut latencies = Latencies::new(2);
        latencies.observe(0, second, start);
        latencies.exceed(0, second / 2, start);
        assert!((latencies.cost(0, 0, start) - 1.0).abs() < 1e-9);
        latencies.exceed(0, 2 * second, start);
        assert!((latencies.cost(0, 0, start) - 2.0).abs() < 1e-9);
        // What the average has shrunk to by now is less than half a second.
        latencies.exceed(0, second / 2, start + 10 * second);
        assert!((latencies.cost(0, 0, start + 10 * second) - 0.5).abs() < 1e-9);
        latencies.exceed(1, second, start);
        assert!(latencies.cost(1, 1, start) >= UNKNOWN_SECONDS);
    }

    /// A thousand arrivals a second for so many seconds, each endpoint answering after what `latency` says of it then; how many went where, by
    /// second.
    fn simulate(
        seconds: u64,
        endpoints: usize,
        latency: impl Fn(usize, u64) -> Duration,
    ) -> Vec<Vec<u64>> {
        let start = Instant::now();
        let mut latencies = Latencies::new(endpoints);
        let mut draw = Draw::new(1, Stream::Endpoints, 0);
        let mut pending: Vec<(Instant, usize, Duration)> = Vec::new();
        let mut loads = vec![0; endpoints];
        let mut counts = Vec::new();
        for second in 0..seconds {
            let mut here = vec![0; endpoints];
            for arrival in 0..1000 {
                let now = start + Duration::from_millis(second * 1000 + arrival);
                pending.sort_by_key(|(due, ..)| std::cmp::Reverse(*due));
                while pending.last().is_some_and(|(due, ..)| *due <= now) {
                    let (due, index, took) = pending.pop().unwrap();
                    loads[index] -= 1;
                    latencies.observe(index, took, due);
                }
                let index = choose(&latencies, &mut draw, now, |i| Some(loads[i])).unwrap();
                loads[index] += 1;
                here[index] += 1;
                let took = latency(index, second);
                pending.push((now + took, index, took));
            }
            counts.push(here);
        }
        counts
    }

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn equals_share_and_a_slow_one_gets_little() {
        let equal = simulate(5, 2, |_, _| 5 * MS);
        let share = equal[4][0];
        assert!((350..650).contains(&share), "{equal:?}");
        let uneven = simulate(5, 2, |index, _| if index == 0 { 5 * MS } else { 100 * MS });
        assert!(uneven[4][1] < 150, "{uneven:?}");
    }

    #[test]
    fn a_spell_of_slowness_is_avoided_at_once_and_forgiven_soon() {
        let counts = simulate(40, 2, |index, second| match (index, second) {
            (0, 5) => 500 * MS,
            _ => 5 * MS,
        });
        assert!(counts[4][0] > 350, "{counts:?}");
        assert!(counts[6][0] < 100, "{counts:?}");
        assert!(counts[39][0] > 350, "{counts:?}");
    }

    #[test]
    fn who_fails_fast_attracts_nothing() {
        let now = Instant::now();
        let mut latencies = Latencies::new(2);
        let mut draw = Draw::new(1, Stream::Endpoints, 0);
        latencies.punish(0, MS / 10, now);
        latencies.observe(1, 50 * MS, now);
        for _ in 0..100 {
            assert_eq!(choose(&latencies, &mut draw, now, |_| Some(0)), Some(1));
        }
        // Nothing lasts for ever: it is tried again.
        let later = now + Duration::from_secs(60);
        latencies.observe(1, 50 * MS, later);
        assert_eq!(choose(&latencies, &mut draw, later, |_| Some(0)), Some(0));
    }

    proptest! {
        #[test]
        fn only_usable_endpoints_are_chosen(loads in proptest::collection::vec(proptest::option::of(0u32..9), 1..9), seed in 0u64..1000) {
            let mut draw = Draw::new(seed, Stream::Endpoints, 0);
            let chosen = choose(&Latencies::new(loads.len()), &mut draw, Instant::now(), |index| loads[index]);
            prop_assert_eq!(chosen.is_some(), loads.iter().any(Option::is_some));
            if let Some(index) = chosen {
                prop_assert!(loads[index].is_some());
            }
        }
    }
}
