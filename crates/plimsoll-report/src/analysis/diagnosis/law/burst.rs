//! A queue that grows while requests come and drains afterwards: each waits for all before it, so response times are spread evenly from the
//! shortest to the longest.

use super::{KEPT, enumerated, percent};
use crate::analysis::bearing::DRAINING;
use crate::analysis::diagnosis::{Cause, Conclusion, Figures, Observation};
use plimsoll_base::units::{format_number, format_seconds};

/// How many times as long as at a lower rate response times must be.
const GROWN: f64 = 2.0;

/// Says which rates were not carried. All of one setup are one conclusion.
pub(super) fn conclude(figures: &Figures) -> Vec<Conclusion> {
    let setups = figures.setups();
    setups
        .iter()
        .filter_map(|levels| of_setup(levels))
        .collect()
}

fn of_setup(levels: &[&Observation]) -> Option<Conclusion> {
    let queues: Vec<Queue> = (levels.iter())
        .filter_map(|one| Queue::of(one, levels))
        .collect();
    let rates: Vec<String> = (queues.iter())
        .map(|queue| format!("{}/s", format_number(queue.offered)))
        .collect();
    let verb = if queues.len() == 1 { "was" } else { "were" };
    (!queues.is_empty()).then(|| Conclusion {
        observations: queues.iter().map(|one| one.level.name.clone()).collect(),
        cause: Cause::NotSustained,
        statement: format!(
            "{} {verb} not carried: requests waited for those before them.",
            enumerated(&rates)
        ),
        evidence: queues.iter().flat_map(Queue::arithmetic).collect(),
        ruled_out: Vec::new(),
    })
}

/// A level at which a queue grew.
struct Queue<'a> {
    level: &'a Observation,
    offered: f64,
    mean: f64,
    longest: f64,
    ground: Ground<'a>,
}

/// Why the even spread is a queue's and not the target's own.
enum Ground<'a> {
    /// Response times at this lower rate are much shorter.
    Lower(&'a Observation),
    /// The longest response took longer than the whole load.
    Outlasted,
}

impl<'a> Queue<'a> {
    fn of(level: &'a Observation, levels: &[&'a Observation]) -> Option<Self> {
        let (offered, mean, longest) = (level.offered?, level.mean?, level.longest?);
        let is_answered = level.kept().is_some_and(|kept| kept >= KEPT);
        let is_spread = spread(level).is_some_and(|spread| DRAINING.contains(&spread));
        if is_answered || !is_spread || level.is_generator_busy() {
            return None;
        }
        let lower = levels.iter().find(|lower| is_grown(lower, level));
        let outlasted = lasted(level).is_some_and(|lasted| longest > lasted);
        let ground =
            (outlasted.then_some(Ground::Outlasted)).or(lower.map(|one| Ground::Lower(one)))?;
        Some(Self {
            level,
            offered,
            mean,
            longest,
            ground,
        })
    }

    fn arithmetic(&self) -> Vec<String> {
        let name = &self.level.name;
        let from = self.level.shortest.map_or_else(
            || "up to".to_owned(),
            |shortest| format!("{} to", format_seconds(shortest)),
        );
        let spread = spread(self.level).unwrap_or_default();
        let mut lines = vec![format!(
            "{name}: {from} {}, with the mean of {} at {} of the way: spread evenly, as while a queue grows and drains",
            format_seconds(self.longest),
            format_seconds(self.mean),
            percent(spread)
        )];
        if let Ground::Lower(lower) = self.ground {
            lines.push(format!(
                "{name}: the mean is {} times that at {}/s, the longest {} times",
                format_number(self.mean / lower.mean.unwrap_or(self.mean)),
                format_number(lower.offered.unwrap_or_default()),
                format_number(self.longest / lower.longest.unwrap_or(self.longest)),
            ));
        }
        lines.push(self.drained());
        lines
    }

    /// At what rate requests were answered, from the first to the last.
    fn drained(&self) -> String {
        let name = &self.level.name;
        let Some(lasted) = lasted(self.level) else {
            return format!(
                "{name}: how long the test lasted is not stated, so nor is the rate at which it was answered"
            );
        };
        let requests = self.level.requests.unwrap_or(self.offered * lasted);
        format!(
            "{name}: {} requests / ({} + {}) = at least {}/s answered",
            format_number(requests),
            format_seconds(lasted),
            format_seconds(self.longest),
            format_number(requests / (lasted + self.longest))
        )
    }
}

/// Where the mean lies between the shortest, if it is stated, and the longest response time.
fn spread(level: &Observation) -> Option<f64> {
    let shortest = level.shortest.unwrap_or(0.0);
    let (mean, longest) = (level.mean? - shortest, level.longest? - shortest);
    (longest > 0.0).then(|| mean / longest)
}

/// For how long requests were sent, in seconds, where the source says so.
fn lasted(level: &Observation) -> Option<f64> {
    let stated = level.duration.map(|duration| duration.as_secs_f64());
    stated.or_else(|| Some(level.requests? / level.offered?))
}

fn is_grown(lower: &Observation, level: &Observation) -> bool {
    let grown = |low: Option<f64>, high: Option<f64>| {
        low.zip(high).is_some_and(|(low, high)| high >= GROWN * low)
    };
    let is_lower = lower
        .offered
        .zip(level.offered)
        .is_some_and(|(low, high)| low < high);
    is_lower && grown(lower.mean, level.mean) && grown(lower.longest, level.longest)
}
