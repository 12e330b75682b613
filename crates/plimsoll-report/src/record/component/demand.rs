//! Processor time by throughput: the sums of a least-squares line through pairs of one second each, which merge.
//!
//! The slope is the service demand of the utilisation law (Denning and Buzen, "The Operational Analysis of Queueing Network Models",
//! ACM Computing Surveys 10(3), 1978): seconds of processor time per exchange.

/// Sums over pairs of throughput (exchanges per second) and cores.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Demand {
    count: f64,
    x: f64,
    y: f64,
    xx: f64,
    xy: f64,
    yy: f64,
}

/// A line through the pairs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DemandLine {
    /// Cores without any exchange.
    pub idle_cores: f64,
    /// Processor seconds per exchange.
    pub per_exchange_s: f64,
    /// Standard error of `per_exchange_s`.
    pub error_s: f64,
    /// The share of the variance of cores that the line explains.
    pub r_squared: f64,
}

/// Fewer pairs have no line.
const FEWEST: f64 = 6.0;
/// Throughputs must spread by this share of their mean (one standard deviation), or their slope is noise.
const SPREAD: f64 = 0.1;

impl Demand {
    /// Takes one second into account.
    pub fn observe(&mut self, per_s: f64, cores: f64) {
        self.count += 1.0;
        self.x += per_s;
        self.y += cores;
        self.xx += per_s * per_s;
        self.xy += per_s * cores;
        self.yy += cores * cores;
    }

    /// Adds the seconds of another part.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.x += other.x;
        self.y += other.y;
        self.xx += other.xx;
        self.xy += other.xy;
        self.yy += other.yy;
    }

    /// The line; `None` where throughput hardly changed, or there are too few seconds.
    #[must_use]
    pub fn line(&self) -> Option<DemandLine> {
        let n = self.count;
        if n < FEWEST || self.x <= 0.0 {
            return None;
        }
        let of = |products: f64, a: f64, b: f64| products - a * b / n;
        let xx = of(self.xx, self.x, self.x);
        let xy = of(self.xy, self.x, self.y);
        let yy = of(self.yy, self.y, self.y);
        if (xx / n).sqrt() < SPREAD * self.x / n {
            return None;
        }
        let slope = xy / xx;
        let rest = (yy - slope * xy).max(0.0);
        Some(DemandLine {
            idle_cores: (self.y - slope * self.x) / n,
            per_exchange_s: slope,
            error_s: (rest / (n - 2.0) / xx).sqrt(),
            r_squared: if yy > 0.0 { 1.0 - rest / yy } else { 0.0 },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(f64, f64)]) -> Demand {
        let mut demand = Demand::default();
        for (per_s, cores) in pairs {
            demand.observe(*per_s, *cores);
        }
        demand
    }

    #[test]
    fn a_line_is_found_again() {
        let pairs: Vec<(f64, f64)> = (1..=8)
            .map(|i| f64::from(i) * 100.0)
            .map(|x| (x, 0.05 + x * 0.65e-3))
            .collect();
        let (left, right) = pairs.split_at(3);
        let mut merged = of(left);
        merged.merge(&of(right));
        let line = merged.line().unwrap();
        assert!((line.per_exchange_s - 0.65e-3).abs() < 1e-9, "{line:?}");
        assert!((line.idle_cores - 0.05).abs() < 1e-6, "{line:?}");
        assert!(line.r_squared > 0.999_999 && line.error_s < 1e-8);
    }

    #[test]
    fn one_throughput_has_no_slope() {
        let flat: Vec<(f64, f64)> = (0..20).map(|i| (1000.0 + f64::from(i), 0.5)).collect();
        assert_eq!(of(&flat).line(), None);
        assert_eq!(of(&[(1.0, 0.1), (100.0, 0.2)]).line(), None);
    }
}
