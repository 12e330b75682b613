//! Bars of each structure over all repetitions.

use super::structures::{STRUCTURES, Structure, Truth, slope_beyond};
use crate::bar::Bar;
use crate::bench::Repetition;
use crate::links::{Link, Needed, bar, words};

/// How far the interval of a slope may reach to either side.
const HALF_WIDTH: f64 = 0.12;
/// How far a hinge may be off, in milliseconds.
const HINGE_OFF_MS: f64 = 2.0;

/// The bars of all structures; of each repetition, their links in their order.
pub fn bars(done: &[Repetition<Vec<Link>>]) -> Vec<Bar> {
    let each = STRUCTURES.iter().enumerate();
    let each = each.map(|(place, known)| Judged { known, place, done });
    each.flat_map(|judged| judged.bars()).collect()
}

/// A structure, its place among the others, and the links of all.
struct Judged<'a> {
    known: &'a Structure,
    place: usize,
    done: &'a [Repetition<Vec<Link>>],
}

impl Judged<'_> {
    fn bars(&self) -> Vec<Bar> {
        match self.known.truth {
            Truth::Straight(slope) => vec![self.slope(slope), self.width(), self.straight()],
            Truth::Slack(slack_ms) => {
                let slope = slope_beyond(slack_ms);
                vec![self.slope(slope), self.width(), self.hinge(slack_ms)]
            }
            Truth::Saturated => vec![self.queueing()],
        }
    }

    fn bar(
        &self,
        what: &str,
        limit: &str,
        is_right: impl Fn(&Link) -> bool,
        words: impl Fn(&Link) -> String,
    ) -> Bar {
        bar(
            format!("{}: {what}", self.known.name),
            limit,
            Needed::NineOfTen,
            self.done,
            |links| is_right(&links[self.place]),
            |links| words(&links[self.place]),
        )
    }

    fn slope(&self, truth: f64) -> Bar {
        self.bar(
            "slope",
            &format!("the interval holds {truth:.2}"),
            |link| link.slope.is_some_and(|slope| slope.holds(truth)),
            |link| words(link.slope),
        )
    }

    fn width(&self) -> Bar {
        let half = |link: &Link| link.slope.map(|slope| slope.half_width());
        self.bar(
            "half of the interval",
            &format!("at most {HALF_WIDTH}"),
            |link| half(link).is_some_and(|half| half <= HALF_WIDTH),
            |link| half(link).map_or_else(|| "none".to_owned(), |half| format!("{half:.3}")),
        )
    }

    fn straight(&self) -> Bar {
        self.bar(
            "shape",
            "not called bent",
            |link| matches!(link.shape.as_str(), "straight" | "unclear"),
            |link| link.shape.clone(),
        )
    }

    fn hinge(&self, slack_ms: f64) -> Bar {
        let hinge_ms = |link: &Link| link.hinge_s.map(|hinge| hinge.value * 1e3);
        self.bar(
            "hinge",
            &format!("within {HINGE_OFF_MS} ms of {slack_ms}"),
            |link| hinge_ms(link).is_some_and(|at| (at - slack_ms).abs() <= HINGE_OFF_MS),
            |link| hinge_ms(link).map_or_else(|| link.shape.clone(), |at| format!("{at:.1} ms")),
        )
    }

    fn queueing(&self) -> Bar {
        self.bar(
            "queueing",
            "called saturated, and no gain claimed,",
            |link| link.saturated == Some(true) && link.gain_s.is_none(),
            |link| {
                let slope = words(link.slope);
                match (link.saturated, link.gain_s) {
                    (Some(true), None) => format!("saturated ({slope})"),
                    (_, None) => format!("not saturated ({slope})"),
                    (_, Some(gain)) => format!("a gain of {:.1} ms", gain.value * 1e3),
                }
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bar::Verdict;
    use crate::links::Interval;
    use crate::witness::Seen;

    fn link(slope: f64, shape: &str) -> Link {
        Link {
            slope: Some(Interval {
                value: slope,
                low: slope - 0.1,
                high: slope + 0.1,
            }),
            shape: shape.to_owned(),
            hinge_s: None,
            saturated: None,
            gain_s: None,
        }
    }

    /// The verdicts on a structure of which this link was found, by the names of its bars.
    fn verdicts(name: &str, link: &Link) -> Vec<Verdict> {
        let done = [Repetition {
            found: Ok(vec![link.clone(); STRUCTURES.len()]),
            words: String::new(),
            seen: Seen::default(),
        }];
        let bars = bars(&done);
        let own = bars
            .iter()
            .filter(|bar| bar.what.starts_with(&format!("{name}:")));
        own.map(|bar| bar.verdict).collect()
    }

    #[test]
    fn a_structure_is_held_against_its_own_truth() {
        use Verdict::{Failed, Held};
        let straight = link(2.05, "straight");
        assert_eq!(verdicts("two", &straight), [Held, Held, Held]);
        assert_eq!(verdicts("three", &straight), [Failed, Held, Held]);
        assert_eq!(verdicts("two", &link(2.0, "bends")), [Held, Held, Failed]);
        assert_eq!(
            verdicts("parallel", &link(0.63, "unclear")),
            [Held, Held, Failed]
        );
        let at = |value| {
            Some(Interval {
                value,
                low: value,
                high: value,
            })
        };
        let bent = |hinge_s| Link {
            hinge_s: at(hinge_s),
            ..link(0.63, "bends")
        };
        assert_eq!(verdicts("parallel", &bent(0.0099)), [Held, Held, Held]);
        assert_eq!(verdicts("parallel", &bent(0.0101)), [Held, Held, Failed]);
        let pool = |saturated, gain_s| Link {
            saturated,
            gain_s,
            ..link(9.0, "bends")
        };
        assert_eq!(verdicts("pool", &pool(Some(true), None)), [Held]);
        assert_eq!(verdicts("pool", &pool(Some(false), None)), [Failed]);
        assert_eq!(verdicts("pool", &pool(Some(true), at(0.02))), [Failed]);
    }

    #[test]
    fn what_has_no_slope_is_not_held() {
        let none = Link {
            slope: None,
            ..link(1.0, "unclear")
        };
        assert_eq!(
            verdicts("one", &none),
            [Verdict::Failed, Verdict::Failed, Verdict::Held]
        );
    }
}
