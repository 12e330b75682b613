//! Size, mean and standard deviation of a few numbers.

/// The first two moments of a sample of at least two numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// How many.
    pub size: usize,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation, with n − 1 in the denominator.
    pub deviation: f64,
}

impl Sample {
    /// The moments of `values`; `None` for fewer than two.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        let size = values.len();
        if size < 2 {
            return None;
        }
        let n = as_f64(size);
        let mean = values.iter().sum::<f64>() / n;
        let squares = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
        Some(Self {
            size,
            mean,
            deviation: (squares / (n - 1.0)).sqrt(),
        })
    }

    /// The standard error of the mean.
    #[must_use]
    pub fn standard_error(&self) -> f64 {
        self.deviation / as_f64(self.size).sqrt()
    }
}

/// A size as a number to calculate with.
#[expect(clippy::cast_precision_loss, reason = "sizes of samples are small")]
pub(super) fn as_f64(size: usize) -> f64 {
    size as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments() {
        let sample = Sample::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert_eq!(sample.mean, 5.0);
        assert!((sample.deviation - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
        assert_eq!(Sample::of(&[1.0]), None);
    }
}
