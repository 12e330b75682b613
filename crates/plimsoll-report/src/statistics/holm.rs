//! Several tests at once: Holm's step-down correction (Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian Journal
//! of Statistics 6, 1979), which keeps the chance of any false finding among all of them at the level of one.

/// Corrected p-values, in the order of `values`: the k-th smallest times how many are not smaller, and never below one before it.
#[must_use]
pub fn holm(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut corrected = vec![1.0; values.len()];
    let mut least = 0.0_f64;
    for (rank, place) in order.into_iter().enumerate() {
        #[expect(clippy::cast_precision_loss, reason = "a number of arms")]
        let left = (values.len() - rank) as f64;
        least = least.max((left * values[place]).min(1.0));
        corrected[place] = least;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::holm;

    #[test]
    fn a_printed_example() {
        // Wright, "Adjusted P-values for Simultaneous Inference", Biometrics 48 (1992): smallest times n, next times n − 1, …
        let corrected = holm(&[0.02, 0.005, 0.04]);
        let expected = [0.04, 0.015, 0.04];
        let close = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-12;
        assert!(corrected.iter().zip(&expected).all(close), "{corrected:?}");
        assert_eq!(holm(&[0.5, 0.9]), [1.0, 1.0]);
        assert_eq!(holm(&[0.03]), [0.03]);
        assert_eq!(holm(&[]), Vec::<f64>::new());
    }

    #[test]
    fn order_is_kept() {
        let corrected = holm(&[0.01, 0.02, 0.03, 0.04]);
        assert!(corrected.windows(2).all(|pair| pair[0] <= pair[1]));
    }
}
