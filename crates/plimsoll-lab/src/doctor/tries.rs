//! Conclusions from a try of the open model, and from all of them. Pure: running them is left to `calibrate`.

use super::search::Search;
use crate::ceiling::OpenCeiling;
use plimsoll_report::metric::Metric;
use plimsoll_report::record::{ArmSummary, Summary};
use plimsoll_report::validity;
use std::ops::RangeInclusive;

/// The criteria that look at the generator and not at its target: docs/truth.md.
const OF_THE_GENERATOR: RangeInclusive<u32> = 1..=7;
/// The figures that these must leave alone.
const FIGURES: [&str; 2] = ["response_time.p50", "response_time.p99"];
/// Of the offered rate, what must be answered: less, and it was not offered.
const ANSWERED: f64 = 0.99;

/// One try of the open model.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Try {
    /// Arrivals per second.
    pub rate: f64,
    /// The criterion that gave way; `None` when everything held.
    pub gives_way: Option<String>,
    /// Pacing lag in seconds.
    pub lag_p50_s: Option<f64>,
    /// 99th percentile of it.
    pub lag_p99_s: Option<f64>,
}

/// The tries of the open model, and which rate comes next.
#[derive(Debug)]
pub(super) struct Tries {
    search: Search,
    tries: Vec<Try>,
}

/// No rate held.
#[derive(Debug, Clone, PartialEq)]
pub struct NoneHeld {
    /// The lowest rate tried, in exchanges per second.
    pub lowest_per_s: f64,
    /// The highest.
    pub highest_per_s: f64,
    /// The criterion that gave way at the lowest rate.
    pub gives_way: String,
}

impl Try {
    /// The try that the arm `name` of a run at `rate` is; `None` when the run has no such arm.
    pub(super) fn of(rate: f64, name: &str, summary: &Summary) -> Option<Self> {
        let arm = summary.arms.get(name)?;
        let lag = arm.times.pacing_lag;
        Some(Self {
            rate,
            gives_way: gives_way(rate, name, arm, summary),
            lag_p50_s: lag.p50,
            lag_p99_s: lag.p99,
        })
    }
}

impl Tries {
    /// None yet; the first will be at `guess`.
    pub(super) fn from(guess: f64) -> Self {
        Self {
            search: Search::from(guess),
            tries: Vec::new(),
        }
    }

    /// The rate to try next; `None` when no more are needed.
    pub(super) fn next(&self) -> Option<f64> {
        self.search.next()
    }

    /// Adds the try of the next rate.
    pub(super) fn take(&mut self, tried: Try) {
        self.search.take(tried.rate, tried.gives_way.is_none());
        self.tries.push(tried);
    }

    /// Conclusion from all of them. `connections` is how many they used.
    pub(super) fn conclude(&self, connections: u32) -> Result<OpenCeiling, NoneHeld> {
        let Some(holds_per_s) = self.search.holds() else {
            let (lowest_per_s, highest_per_s) = self.search.range().unwrap_or_default();
            return Err(NoneHeld {
                lowest_per_s,
                highest_per_s,
                gives_way: self.gives_way(lowest_per_s).unwrap_or_default(),
            });
        };
        let fails_per_s = self.search.fails();
        let held = self.last(holds_per_s, |tried| tried.gives_way.is_none());
        Ok(OpenCeiling {
            connections,
            holds_per_s,
            fails_per_s,
            gives_way: fails_per_s.and_then(|rate| self.gives_way(rate)),
            doubt: self.search.doubt().map(str::to_owned),
            pacing_lag_p50_s: held.and_then(|tried| tried.lag_p50_s),
            pacing_lag_p99_s: held.and_then(|tried| tried.lag_p99_s),
        })
    }

    fn gives_way(&self, rate: f64) -> Option<String> {
        self.last(rate, |tried| tried.gives_way.is_some())?
            .gives_way
            .clone()
    }

    /// The last try of `rate` that ended so.
    fn last(&self, rate: f64, ended: impl Fn(&Try) -> bool) -> Option<&Try> {
        let mut latest_first = self.tries.iter().rev();
        latest_first.find(|tried| tried.rate.total_cmp(&rate).is_eq() && ended(tried))
    }
}

/// The criterion that did not hold at this rate; `None` when everything did.
fn gives_way(rate: f64, name: &str, arm: &ArmSummary, summary: &Summary) -> Option<String> {
    let own: Vec<_> = summary
        .validity
        .iter()
        .filter(|row| OF_THE_GENERATOR.contains(&row.criterion))
        .cloned()
        .collect();
    let broken = FIGURES.iter().find_map(|figure| {
        let metric = Metric::parse(figure).ok()?;
        validity::strongest(&own, name, &metric)
    });
    if let Some(row) = broken {
        return Some(format!("criterion {}, {}", row.criterion, row.name));
    }
    if arm.failed > 0 || arm.dropped > 0 {
        return Some(format!(
            "{} exchanges failed, {} were never started",
            arm.failed, arm.dropped
        ));
    }
    let achieved = arm.achieved_per_s.unwrap_or(0.0);
    (achieved < rate * ANSWERED).then(|| "generator and mock did not keep up".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host;
    use plimsoll_base::outcome_class::OutcomeClass;
    use plimsoll_base::time_kind::TimeKind;
    use plimsoll_report::facts::Facts;
    use plimsoll_report::record::{
        ArmBlocks, ArmData, Bias, Effect, LoadModel, Sense, ValidityRow,
    };
    use plimsoll_report::summarise::{Method, summarise};
    use std::collections::BTreeMap;
    use std::time::Duration;

    const ARM: &str = "main";
    const SECONDS: u64 = 2;

    /// A run that answered `per_s` exchanges per second, each after a millisecond and released 0.1 ms late, with this change.
    fn summary(per_s: u64, change: impl FnOnce(&mut ArmData)) -> Summary {
        let count = per_s * SECONDS;
        let mut data = ArmData::new(ARM, "responder", LoadModel::Open, None);
        data.seconds = 2.0;
        (data.intended, data.sent) = (count, count);
        let lag = data.times.entry(TimeKind::PacingLag).or_default();
        (0..100).for_each(|_| lag.record(Duration::from_micros(100)));
        let step = data.steps.entry("s".to_owned()).or_default();
        step.sent = count;
        let class = step.classes.entry(OutcomeClass::Passed).or_default();
        class.count = count;
        let times = class.times.entry(TimeKind::ResponseTime).or_default();
        (0..100).for_each(|_| times.record(Duration::from_millis(1)));
        change(&mut data);
        let facts = Facts {
            experiment: "calibration".to_owned(),
            seed: 1,
            host: host::read(),
            ranges: plimsoll_report::record::Ranges::default(),
            cut_short: None,
            breaches: BTreeMap::new(),
            deaths: Vec::new(),
            absent: Vec::new(),
        };
        let arms = [ArmBlocks {
            name: ARM.to_owned(),
            blocks: BTreeMap::from([(1, data)]),
            notes: Vec::new(),
        }];
        summarise(&facts, &Method::Measure, &arms, &[])
    }

    /// A broken criterion that reaches these figures; none: all of the arm.
    fn row(criterion: u32, affects: &[&str]) -> ValidityRow {
        ValidityRow {
            criterion,
            name: "a name".to_owned(),
            arm: ARM.to_owned(),
            level: None,
            value: Some(2.0),
            limit: 1.0,
            unit: "share".to_owned(),
            sense: Sense::AtMost,
            ok: false,
            effect: Effect::Marked,
            bias: Bias::Either,
            affects: affects.iter().map(|&metric| metric.to_owned()).collect(),
            advice: String::new(),
        }
    }

    #[test]
    fn what_gives_way_is_the_generators() {
        let check = |row: Option<ValidityRow>, expected: Option<&str>| {
            let mut summary = summary(1000, |_| ());
            summary.validity.extend(row);
            let tried = Try::of(1000.0, ARM, &summary).unwrap();
            assert_eq!(tried.gives_way.as_deref(), expected);
        };
        check(None, None);
        check(
            Some(row(2, &["response_time.p99"])),
            Some("criterion 2, a name"),
        );
        check(
            Some(row(7, &["response_time"])),
            Some("criterion 7, a name"),
        );
        check(Some(row(1, &[])), Some("criterion 1, a name"));
        // Figures that are not looked at, and criteria that look at the target.
        check(Some(row(2, &["response_time.p999"])), None);
        check(Some(row(8, &["response_time.p50"])), None);
        check(Some(row(12, &["response_time.p99"])), None);
        let other = ValidityRow {
            arm: "other".to_owned(),
            ..row(2, &["response_time.p99"])
        };
        check(Some(other), None);
    }

    #[test]
    fn what_was_not_done_gives_way() {
        let check = |per_s, change: fn(&mut ArmData), expected: Option<&str>| {
            let tried = Try::of(1000.0, ARM, &summary(per_s, change)).unwrap();
            assert_eq!(tried.gives_way.as_deref(), expected);
        };
        check(1000, |_| (), None);
        check(995, |_| (), None);
        check(980, |_| (), Some("generator and mock did not keep up"));
        check(
            1000,
            |data| (data.intended, data.dropped) = (data.intended + 3, 3),
            Some("0 exchanges failed, 3 were never started"),
        );
        check(
            1000,
            |data| {
                let step = &mut data.steps["s"];
                step.sent += 5;
                step.classes
                    .entry(OutcomeClass::TimedOut)
                    .or_default()
                    .count = 5;
                data.intended += 5;
                data.sent += 5;
            },
            Some("5 exchanges failed, 0 were never started"),
        );
        assert_eq!(Try::of(1000.0, "other", &summary(1000, |_| ())), None);
    }

    #[test]
    fn a_try_carries_its_pacing_lag() {
        let tried = Try::of(1000.0, ARM, &summary(1000, |_| ())).unwrap();
        let near = |found: Option<f64>| (found.unwrap() - 1e-4).abs() < 1e-6;
        assert!(near(tried.lag_p50_s) && near(tried.lag_p99_s), "{tried:?}");
    }

    /// The tries of a host that holds up to `ceiling`; the lag of each is its number, from 1.
    fn tries(guess: f64, ceiling: f64) -> Tries {
        let mut tries = Tries::from(guess);
        for number in (1_u32..).map(f64::from) {
            let Some(rate) = tries.next() else { break };
            tries.take(Try {
                rate,
                gives_way: (rate > ceiling).then(|| format!("try {number}")),
                lag_p50_s: Some(number),
                lag_p99_s: Some(number + 0.5),
            });
        }
        tries
    }

    #[test]
    fn the_answer_carries_the_last_tries_of_its_two_rates() {
        assert_eq!(
            tries(102_000.0, 27_800.0).conclude(50).unwrap(),
            OpenCeiling {
                connections: 50,
                holds_per_s: 27_800.0,
                fails_per_s: Some(30_300.0),
                gives_way: Some("try 9".to_owned()),
                doubt: None,
                pacing_lag_p50_s: Some(7.0),
                pacing_lag_p99_s: Some(7.5),
            }
        );
    }

    #[test]
    fn without_an_answer_it_says_what_was_tried() {
        assert_eq!(
            tries(102_000.0, 0.0).conclude(50).unwrap_err(),
            NoneHeld {
                lowest_per_s: 100.0,
                highest_per_s: 102_000.0,
                gives_way: "try 8".to_owned(),
            }
        );
    }

    #[test]
    fn an_answer_that_nothing_bounds_is_doubted() {
        let open = tries(1000.0, f64::INFINITY).conclude(50).unwrap();
        assert_eq!((open.fails_per_s, open.gives_way), (None, None));
        assert!(open.doubt.is_some());
    }
}
