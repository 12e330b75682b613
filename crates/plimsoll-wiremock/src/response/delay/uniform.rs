//! `{"type": "uniform", "lower": ms, "upper": ms}`: whole milliseconds with both ends included, as in WireMock.

use super::DelayPrecision;
use crate::reader::problem::StubProblem;
use crate::reader::{Object, Problems};
use plimsoll_base::random::Draw;

/// A uniform delay between two numbers of milliseconds.
#[derive(Debug, Clone)]
pub struct Uniform {
    lower: u32,
    upper: u32,
}

impl Uniform {
    pub fn read(object: &mut Object<'_>, problems: &mut Problems) -> Option<Self> {
        let mut required = |name: &'static str, problems: &mut Problems| {
            let Some(node) = object.get(name) else {
                let message = format!("\"{name}\" is missing");
                problems.push(StubProblem::invalid(&object.pointer, message));
                return None;
            };
            let value = u32::try_from(node.milliseconds(problems)?).ok();
            value.or_else(|| node.wrong("less than 2^32 milliseconds", problems))
        };
        let (lower, upper) = (required("lower", problems), required("upper", problems));
        let (lower, upper) = (lower?, upper?);
        if upper < lower {
            problems.push(StubProblem::invalid(
                &object.pointer,
                format!("\"upper\" ({upper}) is less than \"lower\" ({lower})"),
            ));
            return None;
        }
        Some(Self { lower, upper })
    }

    /// One delay in milliseconds.
    pub fn sample(&self, precision: DelayPrecision, draw: &mut Draw) -> f64 {
        let width = self.upper - self.lower;
        let above = match precision {
            DelayPrecision::Exact => draw.unit() * f64::from(width),
            DelayPrecision::WholeMilliseconds => {
                let steps = draw.below(u64::from(width) + 1);
                f64::from(u32::try_from(steps).expect("invariant: at most the width"))
            }
        };
        f64::from(self.lower) + above
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_base::random::Stream;

    /// With five values and 50,000 draws each count has a standard deviation of 89; five of them is the limit.
    #[test]
    fn every_millisecond_is_as_likely_ends_included() {
        let uniform = Uniform { lower: 3, upper: 7 };
        let mut counts = [0_i32; 5];
        for index in 0..50_000 {
            let value = uniform.sample(
                DelayPrecision::WholeMilliseconds,
                &mut Draw::new(5, Stream::Delays, index),
            );
            let slot = (0..5_u8).find(|step| f64::from(*step) == value - 3.0);
            counts[usize::from(slot.expect("a whole number from 3 to 7"))] += 1;
        }
        assert!(
            counts.iter().all(|count| (count - 10_000).abs() < 447),
            "{counts:?}"
        );
    }

    #[test]
    fn exact_values_are_not_rounded() {
        let uniform = Uniform { lower: 3, upper: 4 };
        let value = uniform.sample(DelayPrecision::Exact, &mut Draw::new(5, Stream::Delays, 0));
        assert!((3.0..4.0).contains(&value) && value.fract() != 0.0);
    }
}
