//! The interval of a share: Wilson's score interval (1927), which does not fail at shares near zero.

/// Two-sided 95 % of the normal distribution.
const Z: f64 = 1.96;

/// The lower end of the 95 % interval of the share that `part` of `whole` is an estimate of; 0 where there is nothing.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "a share")]
pub fn share_at_least(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        return 0.0;
    }
    let (n, p) = (whole as f64, part as f64 / whole as f64);
    let middle = p + Z * Z / (2.0 * n);
    let reach = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    ((middle - reach) / (1.0 + Z * Z / n)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figures of the published formula.
    #[test]
    fn lower_ends() {
        for (part, whole, expected) in [
            (0, 100, 0.0),
            (1, 500, 0.000_353),
            (10, 100, 0.055_2),
            (50, 100, 0.403_8),
            (0, 0, 0.0),
        ] {
            let low = share_at_least(part, whole);
            assert!((low - expected).abs() < 5e-5, "{part} of {whole}: {low}");
        }
    }
}
