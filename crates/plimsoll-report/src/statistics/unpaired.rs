//! Two samples that have no pairs: the difference of their means, by Welch's t (Welch, "The Generalization of 'Student's' Problem when Several
//! Different Population Variances are Involved", Biometrika 34, 1947).

use super::interval::Interval;
use super::sample::{Sample, as_f64};
use statrs::distribution::{ContinuousCDF as _, StudentsT};

/// The difference of two means, with what its uncertainty follows from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Welch {
    /// The second mean minus the first.
    pub difference: f64,
    /// Its standard error.
    pub error: f64,
    freedom: f64,
}

impl Welch {
    /// The second sample minus the first.
    #[must_use]
    pub fn of(first: &Sample, second: &Sample) -> Self {
        let (a, b) = (
            first.standard_error().powi(2),
            second.standard_error().powi(2),
        );
        let of = |part: f64, sample: &Sample| part.powi(2) / (as_f64(sample.size) - 1.0);
        let below = of(a, first) + of(b, second);
        let freedom = if below > 0.0 {
            (a + b).powi(2) / below
        } else {
            as_f64(first.size + second.size) - 2.0
        };
        Self {
            difference: second.mean - first.mean,
            error: (a + b).sqrt(),
            freedom,
        }
    }

    /// The two-sided interval of this `confidence` (0 to 1).
    #[must_use]
    pub fn interval(&self, confidence: f64) -> Interval {
        let reach = self.students().inverse_cdf(f64::midpoint(1.0, confidence)) * self.error;
        Interval {
            low: self.difference - reach,
            high: self.difference + reach,
        }
    }

    /// The chance of a difference from `of` as large as this one, on either side, if there is none.
    #[must_use]
    pub fn p(&self) -> f64 {
        two_sided(self.difference, self.error, &self.students())
    }

    /// The larger p-value of the two one-sided tests that the difference lies within ± `margin` (Schuirmann 1987).
    #[must_use]
    pub fn p_equivalent(&self, margin: f64) -> f64 {
        equivalent(self.difference, self.error, margin, &self.students())
    }

    fn students(&self) -> StudentsT {
        StudentsT::new(0.0, 1.0, self.freedom.max(1.0))
            .expect("invariant: at least one degree of freedom")
    }
}

fn two_sided(difference: f64, error: f64, students: &StudentsT) -> f64 {
    if error > 0.0 {
        2.0 * students.sf((difference / error).abs())
    } else if difference == 0.0 {
        1.0
    } else {
        0.0
    }
}

fn equivalent(difference: f64, error: f64, margin: f64, students: &StudentsT) -> f64 {
    if error > 0.0 {
        let above = students.sf((difference + margin) / error);
        let below = students.sf((margin - difference) / error);
        above.max(below)
    } else if difference.abs() <= margin {
        0.0
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Student's sleep data taken as two groups (R: `t.test(extra ~ group, data = sleep)`): t = −1.8608, df = 17.776, p = 0.07939.
    #[test]
    fn the_sleep_data_unpaired() {
        let first = Sample::of(&[0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]).unwrap();
        let second = Sample::of(&[1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]).unwrap();
        let welch = Welch::of(&first, &second);
        assert!((welch.freedom - 17.776).abs() < 1e-3, "{welch:?}");
        assert!((welch.difference / welch.error - 1.8608).abs() < 1e-4);
        assert!((welch.p() - 0.07939).abs() < 1e-5, "{}", welch.p());
        let interval = welch.interval(0.95);
        assert!(
            (interval.low + 0.2054832).abs() < 1e-5 && (interval.high - 3.3654832).abs() < 1e-5
        );
    }

    /// The 90 % interval lies within the margin exactly where both one-sided tests reject at 5 %.
    #[test]
    fn equivalence_is_the_interval_within_the_margin() {
        let first = Sample::of(&[1.0, 1.1, 0.9, 1.05, 0.95]).unwrap();
        let second = Sample::of(&[1.02, 1.08, 0.97, 1.0, 1.03]).unwrap();
        let welch = Welch::of(&first, &second);
        for margin in [0.02, 0.05, 0.1, 0.12, 0.2] {
            let within = welch.interval(0.9).within(margin);
            assert_eq!(welch.p_equivalent(margin) <= 0.05, within, "{margin}");
        }
    }

    #[test]
    fn no_spread_is_certain() {
        let of = |value: f64| Sample::of(&[value, value]).unwrap();
        let welch = Welch::of(&of(1.0), &of(3.0));
        assert_eq!((welch.p(), welch.p_equivalent(1.0)), (0.0, 1.0));
        let welch = Welch::of(&of(1.0), &of(1.0));
        assert_eq!((welch.p(), welch.p_equivalent(1.0)), (1.0, 0.0));
    }
}
