//! Links of a run of the method `sensitivity`, read from its summary as a user reads them, and the bars of repeated runs.

use crate::bar::Bar;
use crate::bench::{Error, Outcome, Repetition};
use serde_json::Value;
use std::fmt;

/// How many repetitions must come out right.
#[derive(Debug, Clone, Copy)]
pub enum Needed {
    /// 18 of 20.
    NineOfTen,
    /// Every one.
    All,
}

/// A value with its 95 % interval.
#[derive(Debug, Clone, Copy)]
pub struct Interval {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

/// One link of one arm.
#[derive(Debug, Clone)]
pub struct Link {
    /// Of the mean; none where criteria of validity left too few loads.
    pub slope: Option<Interval>,
    /// `straight`, `bends`, `flattens` or `unclear`.
    pub shape: String,
    /// Where it bends.
    pub hinge_s: Option<Interval>,
    /// Whether it includes queueing; none where that was not tried.
    pub saturated: Option<bool>,
    /// How much sooner callers would be answered without it.
    pub gain_s: Option<Interval>,
}

impl Interval {
    pub fn of(found: &Value) -> Option<Self> {
        Some(Self {
            value: found["value"].as_f64()?,
            low: found["low"].as_f64()?,
            high: found["high"].as_f64()?,
        })
    }

    pub fn holds(&self, truth: f64) -> bool {
        self.holds_within(truth, 0.0)
    }

    /// Whether it holds the truth, or misses it by so little.
    pub fn holds_within(&self, truth: f64, by: f64) -> bool {
        self.low - by <= truth && truth <= self.high + by
    }

    /// In another unit.
    pub fn times(self, factor: f64) -> Self {
        Self {
            value: self.value * factor,
            low: self.low * factor,
            high: self.high * factor,
        }
    }

    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2} ± {:.2}", self.value, self.half_width())
    }
}

/// An interval in words.
pub fn words(interval: Option<Interval>) -> String {
    interval.map_or_else(|| "none".to_owned(), |interval| interval.to_string())
}

impl Link {
    /// The link of an arm that leads there, as the summary names it.
    pub fn of(outcome: &Outcome, arm: &str, name: &str) -> Result<Self, Error> {
        let links = outcome.summary.pointer(&format!("/arms/{arm}/links"));
        let mut links = links.and_then(Value::as_array).into_iter().flatten();
        let found = links.find(|link| link["name"] == name);
        let found = found.and_then(Self::read);
        found.ok_or_else(|| {
            Error::Measured(format!(
                "the summary has no link `{name}` of arm `{arm}`: {}",
                outcome.verdict()
            ))
        })
    }

    fn read(link: &Value) -> Option<Self> {
        Some(Self {
            slope: Interval::of(&link["slope"]["mean"]),
            shape: link["shape"].as_str()?.to_owned(),
            hinge_s: Interval::of(&link["hinge_s"]),
            saturated: link["saturated"].as_bool(),
            gain_s: Interval::of(&link["gain"]),
        })
    }
}

/// The bar of a question that each repetition answers with right or wrong, in so many of them right that it holds. Of a repetition that was
/// not carried out it is wrong.
pub fn bar<T>(
    what: String,
    limit: &str,
    needed: Needed,
    done: &[Repetition<T>],
    is_right: impl Fn(&T) -> bool,
    words: impl Fn(&T) -> String,
) -> Bar {
    let needed = match needed {
        Needed::NineOfTen => (done.len() * 9).div_ceil(10),
        Needed::All => done.len(),
    };
    let found = |one: &Repetition<T>| one.found.as_ref().is_ok_and(&is_right);
    let right = done.iter().filter(|one| found(one)).count();
    let said: Vec<String> = done
        .iter()
        .map(|one| {
            let words = one
                .found
                .as_ref()
                .map_or_else(|_| "none".to_owned(), &words);
            let wrong = if found(one) { "" } else { " (!)" };
            format!("{words}{wrong}")
        })
        .collect();
    Bar::judged(
        what,
        format!("{limit} in ≥ {needed} of {}", done.len()),
        format!("{right}: {}", said.join("; ")),
        right >= needed,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bar::Verdict;
    use crate::witness::Seen;
    use serde_json::json;

    #[test]
    fn nine_of_ten_must_be_right() {
        let check = |right: usize, wrong: usize, missing: usize, expected: Verdict| {
            let found = std::iter::repeat_n(Ok(true), right)
                .chain(std::iter::repeat_n(Ok(false), wrong))
                .chain(std::iter::repeat_n(Err("no run".to_owned()), missing));
            let done = found.map(|found| Repetition {
                found,
                words: String::new(),
                seen: Seen::default(),
            });
            let done: Vec<_> = done.collect();
            let bar = bar(
                String::new(),
                "right",
                Needed::NineOfTen,
                &done,
                |right| *right,
                bool::to_string,
            );
            assert_eq!(bar.verdict, expected, "{}", bar.measured);
        };
        check(18, 2, 0, Verdict::Held);
        check(18, 0, 2, Verdict::Held);
        check(17, 3, 0, Verdict::Failed);
        check(17, 0, 3, Verdict::Failed);
        check(1, 0, 0, Verdict::Held);
    }

    #[test]
    fn a_link_is_read_from_the_summary() {
        let bounds = json!({ "value": 1.0, "low": 0.9, "high": 1.2 });
        let link = json!({
            "name": "dep", "slope": { "mean": bounds, "p50": null }, "shape": "straight", "hinge_s": null,
            "saturated": false, "gain": null,
        });
        let outcome = Outcome {
            summary: json!({ "arms": { "one": { "links": [link] } } }),
            log: String::new(),
        };
        let found = Link::of(&outcome, "one", "dep").unwrap();
        let slope = found.slope.unwrap();
        assert!(slope.holds(1.2) && !slope.holds(1.21));
        assert!((slope.half_width() - 0.15).abs() < 1e-12);
        assert!(found.gain_s.is_none());
        assert!(Link::of(&outcome, "one", "log").is_err());
    }
}
