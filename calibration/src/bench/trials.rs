//! Trials of the method `availability`, as `summary.json` has them.

use crate::bench::{Error, Outcome};
use serde_json::Value;

/// The row of trials in which nothing is broken.
pub const SHAM: &str = "sham";

/// One trial. Times in seconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// Its place among all, from 1.
    pub number: u64,
    /// Its row.
    pub row: String,
    /// The outage of its fault.
    pub outage: Outage,
    /// Requests that failed, by the fault or by its heal.
    pub failed: u64,
    /// Shorter outages are not told apart from none.
    pub resolution: f64,
    /// Whether its outage is said to be shorter than can be told.
    pub is_below: bool,
    /// Why it does not count; empty: it does.
    pub void: Vec<String>,
}

/// An outage; all zero without one.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Outage {
    /// It lasted at least so long.
    pub low: f64,
    /// It lasted at most so long.
    pub high: f64,
    /// Failed requests over the rate.
    pub lost: f64,
    /// The first intended start that failed, from the injection on.
    pub first: Option<f64>,
    /// The last one.
    pub last: Option<f64>,
}

/// The trials of arm `main`, in the order in which they were made.
pub fn of(outcome: &Outcome) -> Result<Vec<Trial>, Error> {
    let trials = outcome.summary.pointer("/arms/main/availability/trials");
    let trials = trials.and_then(Value::as_array).into_iter().flatten();
    let trials: Option<Vec<Trial>> = trials.map(trial).collect();
    let trials = trials.filter(|trials| !trials.is_empty());
    trials
        .ok_or_else(|| Error::Measured(format!("the summary has no trials: {}", outcome.verdict())))
}

fn trial(value: &Value) -> Option<Trial> {
    let outage = &value["outage"];
    let failed = |of: &str| value[of]["failed"].as_u64();
    let void = value["void"].as_array()?.iter();
    Some(Trial {
        number: value["number"].as_u64()?,
        row: value["fault"].as_str()?.to_owned(),
        outage: Outage {
            low: outage["low_s"].as_f64()?,
            high: outage["high_s"].as_f64()?,
            lost: outage["lost_s"].as_f64()?,
            first: outage["first_s"].as_f64(),
            last: outage["last_s"].as_f64(),
        },
        failed: failed("outage")? + failed("heal_outage")?,
        resolution: value["resolution_s"].as_f64()?,
        is_below: value["below_resolution"].as_bool()?,
        void: void
            .map(|why| Some(why.as_str()?.to_owned()))
            .collect::<Option<_>>()?,
    })
}

impl Trial {
    /// Whether it counts.
    pub fn counts(&self) -> bool {
        self.void.is_empty()
    }

    /// Whether its interval, so much wider on either side, holds this length.
    pub fn holds_within(&self, seconds: f64, off: f64) -> bool {
        self.outage.low - off <= seconds && seconds <= self.outage.high + off
    }
}

/// Why trials are void, each reason once with its number, figures left out.
pub fn reasons<'a>(trials: impl Iterator<Item = &'a Trial>) -> String {
    let mut all: Vec<String> = trials
        .flat_map(|trial| &trial.void)
        .map(|why| why.chars().filter(|one| !one.is_ascii_digit()).collect())
        .collect();
    all.sort();
    let each = all.chunk_by(|one, next| one == next);
    let each = each.map(|alike| format!("{} × {}", alike.len(), alike[0].trim()));
    each.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_trial_is_read_whole() {
        let one = json!({
            "number": 3, "fault": "cell", "resolution_s": 0.01, "below_resolution": false, "void": ["5 s", "6 s"],
            "outage": { "low_s": 0.1, "high_s": 0.2, "lost_s": 0.15, "failed": 15, "first_s": 0.05, "last_s": 0.15 },
            "heal_outage": { "low_s": 0.0, "high_s": 0.0, "lost_s": 0.0, "failed": 2, "first_s": null, "last_s": null },
        });
        let read = |trials: Value| {
            let summary = json!({ "arms": { "main": { "availability": { "trials": trials } } } });
            of(&Outcome {
                summary,
                log: String::new(),
            })
        };
        let trials = read(json!([one])).unwrap();
        let trial = &trials[0];
        assert_eq!((trial.number, trial.failed), (3, 17));
        assert!([0.1, 0.2].map(|one| trial.holds_within(one, 0.0)) == [true; 2]);
        assert!(!trial.holds_within(0.21, 0.0) && trial.holds_within(0.21, 0.011));
        assert!(!trial.counts());
        assert_eq!(trial.outage.first, Some(0.05));
        assert_eq!(reasons(trials.iter()), "2 × s");
        assert!(read(json!([])).is_err() && read(json!([{}])).is_err());
    }
}
