//! Student's t for the mean of a small sample.

use super::sample::as_f64;
use statrs::distribution::{ContinuousCDF as _, StudentsT};

/// The `p`-quantile of Student's t for a sample of `size` (at least two) numbers, that is with `size` − 1 degrees of freedom.
pub(super) fn quantile(size: usize, p: f64) -> f64 {
    StudentsT::new(0.0, 1.0, as_f64(size.max(2) - 1))
        .expect("invariant: at least one degree of freedom")
        .inverse_cdf(p)
}

/// The chance of a value of at least `t`.
pub(super) fn above(size: usize, t: f64) -> f64 {
    StudentsT::new(0.0, 1.0, as_f64(size.max(2) - 1))
        .expect("invariant: at least one degree of freedom")
        .sf(t)
}

#[cfg(test)]
mod tests {
    use super::quantile;

    /// Against printed tables (e.g. NIST/SEMATECH e-Handbook, 1.3.6.7.2).
    #[test]
    fn table_values() {
        for (size, p, expected) in [
            (2, 0.975, 12.706),
            (6, 0.975, 2.571),
            (6, 0.95, 2.015),
            (11, 0.975, 2.228),
            (20, 0.975, 2.093),
            (31, 0.95, 1.697),
        ] {
            let actual = quantile(size, p);
            assert!((actual - expected).abs() < 5e-4, "{size} {p}: {actual}");
        }
    }
}
