//! The expectations of queueing theory. Pure: times in seconds, rates per second.

/// A target that stands still once, under a constant rate. Derivation in `docs/calibration.md`.
#[derive(Debug, Clone, Copy)]
pub struct Freeze {
    /// How long it stands still.
    pub length: f64,
    /// Measured time.
    pub run: f64,
    /// Share of the target's capacity that the rate takes; the rest drains the backlog.
    pub load: f64,
}

impl Freeze {
    /// The response time that the share `q` of arrivals does not exceed; `None` where `q` lies among those that met no freeze.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        let above = (1.0 - q) * self.run * (1.0 - self.load);
        (above < self.length).then_some(self.length - above)
    }
}

/// Mean response time of M/D/1 by Pollaczek and Khinchine: s + ρ·s / (2·(1 − ρ)) for service time s and utilisation ρ.
pub fn md1_mean_response(service: f64, utilisation: f64) -> f64 {
    service * (1.0 + utilisation / (2.0 * (1.0 - utilisation)))
}

/// The quantile of a log-normal distribution for the standard normal quantile `z`.
pub fn lognormal_quantile(median: f64, sigma: f64, z: f64) -> f64 {
    median * (sigma * z).exp()
}

/// The share of a standard normal distribution below `z` (Abramowitz and Stegun, *Handbook of Mathematical Functions*, 26.2.17: within 7.5e-8).
pub fn normal_share(z: f64) -> f64 {
    const FACTORS: [f64; 5] = [
        0.319_381_530,
        -0.356_563_782,
        1.781_477_937,
        -1.821_255_978,
        1.330_274_429,
    ];
    let t = 1.0 / (1.0 + 0.231_641_9 * z.abs());
    let polynomial = FACTORS
        .iter()
        .rev()
        .fold(0.0, |sum, factor| (sum + factor) * t);
    let above = (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt() * polynomial;
    if z < 0.0 { above } else { 1.0 - above }
}

/// The quantile of a χ² distribution with so many degrees of freedom, for the standard normal quantile `z` (Wilson and Hilferty 1931).
pub fn chi_square_quantile(degrees: u32, z: f64) -> f64 {
    let degrees = f64::from(degrees.max(1));
    let spread = 2.0 / (9.0 * degrees);
    degrees * (1.0 - spread + z * spread.sqrt()).powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_the_normal_and_the_chi_square_distribution() {
        for (z, share) in [
            (0.0, 0.5),
            (1.0, 0.841_344_7),
            (-1.96, 0.024_997_9),
            (3.0, 0.998_650_1),
        ] {
            assert!((normal_share(z) - share).abs() < 1e-6, "{z}");
        }
        // At 0.1 %: 27.877 for 9 degrees of freedom, 86.661 for 50.
        assert!((chi_square_quantile(9, 3.090_232) - 27.877).abs() < 0.2);
        assert!((chi_square_quantile(50, 3.090_232) - 86.661).abs() < 0.2);
    }

    fn check(actual: Option<f64>, expected: Option<f64>) {
        match (actual, expected) {
            (Some(a), Some(b)) => assert!((a - b).abs() < 1e-9, "{a} instead of {b}"),
            (a, b) => assert_eq!(a, b),
        }
    }

    #[test]
    fn a_freeze_of_two_seconds_in_twenty_is_known() {
        let freeze = |load| Freeze {
            length: 2.0,
            run: 20.0,
            load,
        };
        check(freeze(0.0).quantile(0.95), Some(1.0));
        check(freeze(0.0).quantile(0.99), Some(1.8));
        check(freeze(0.0).quantile(0.5), None);
        check(freeze(0.5).quantile(0.95), Some(1.5));
    }

    /// The closed form against each arrival's own departure from a queue that serves nothing at first.
    #[test]
    fn the_drain_is_that_of_a_queue() {
        let (rate, service, freeze) = (1000.0, 0.0002, 2.0);
        let mut departure: f64 = freeze;
        let mut times: Vec<f64> = (0..20_000)
            .map(|index| {
                let arrival = f64::from(index) / rate;
                departure = departure.max(arrival) + service;
                departure - arrival
            })
            .collect();
        times.sort_by(f64::total_cmp);
        let expected = Freeze {
            length: freeze,
            run: 20.0,
            load: rate * service,
        };
        for (q, index) in [(0.95, 19_000), (0.99, 19_800)] {
            let formula = expected.quantile(q).unwrap();
            assert!((times[index] / formula - 1.0).abs() < 0.002);
        }
    }

    #[test]
    fn a_single_server_waits_as_the_formula_says() {
        check(Some(md1_mean_response(1.0, 0.5)), Some(1.5));
        check(Some(md1_mean_response(0.01, 0.8)), Some(0.03));
        check(Some(md1_mean_response(1.0, 0.95)), Some(10.5));
    }

    #[test]
    fn a_lognormal_has_its_median_in_the_middle() {
        check(Some(lognormal_quantile(20.0, 0.5, 0.0)), Some(20.0));
    }
}
