//! How arms differ, in `summary.json`.

use crate::record::figures::figures;
use crate::record::times::Statistic;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How arms were compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// The arm that others are compared with.
    pub baseline: String,
    /// Blocks that held every arm.
    pub blocks: u32,
    /// Of these, blocks that enter no difference of some arm. A block can also be void for some figures only: see `by_block`.
    pub void_blocks: Vec<u32>,
    /// Confidence of each interval. Intervals are per comparison; verdicts on several arms are corrected for their number by Holm's method.
    pub confidence: f64,
    /// How intervals were computed; `null` when there were too few blocks.
    pub interval: Option<IntervalMethod>,
    /// A difference within this share of the baseline counts as none.
    pub margin_share: f64,
}

/// How an interval was computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IntervalMethod {
    /// Student's t over the differences per block.
    PairedT,
    /// Bootstrap-t over the differences per block.
    BootstrapT,
}

/// Differences of response times to the baseline, and of what they cost; `null` where there are not two blocks with a sample in both arms.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Added {
    /// Of the mean.
    pub mean: Option<Difference>,
    /// Of the median.
    pub p50: Option<Difference>,
    /// Of the 75th percentile.
    pub p75: Option<Difference>,
    /// Of the 90th percentile.
    pub p90: Option<Difference>,
    /// Of the 95th percentile.
    pub p95: Option<Difference>,
    /// Of the 99th percentile.
    pub p99: Option<Difference>,
    /// Of the 99.9th percentile.
    pub p999: Option<Difference>,
    /// Of the CPU seconds per answered exchange of all components that were looked at, the generator left out.
    #[serde(default)]
    pub cpu: Option<Difference>,
}

/// The mean over blocks of one figure's difference to the baseline, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// The mean difference; positive: this arm is slower, or costs more.
    pub value: f64,
    /// Lower end of the 95 % interval.
    pub low: f64,
    /// Upper end of the 95 % interval.
    pub high: f64,
    /// The conclusion.
    pub verdict: DifferenceVerdict,
    /// The chance of such a difference if there is none; where several arms are compared, corrected for their number by Holm's method. `null`
    /// in records that do not say.
    #[serde(default)]
    pub p: Option<f64>,
    /// The larger p-value of the two one-sided tests that it lies within ± `margin`, corrected likewise.
    #[serde(default)]
    pub p_equivalent: Option<f64>,
    /// A difference within ± this counts as none.
    pub margin: f64,
    /// The smallest difference that this many blocks find with 80 % power at 5 % (two-sided).
    pub minimum_detectable: f64,
    /// Blocks that the figure rests on.
    pub blocks: u32,
    /// Blocks that held both arms; those beyond `blocks` were left out because the figure is void in them.
    #[serde(default)]
    pub planned_blocks: u32,
    /// Why an interval alone does not decide; `null` when it does.
    #[serde(default)]
    pub reservation: Option<Reservation>,
    /// About how many more blocks would decide; `null` when it is decided or no reasonable number would do.
    pub more_blocks: Option<u32>,
}

figures!(Difference {
    value: Seconds,
    low: Seconds,
    high: Seconds,
});

/// Why a difference is not to be read by its interval alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reservation {
    /// The arms do not fail equally often: the figure of one lacks, or holds, exchanges that the other's does not.
    Failures,
}

/// Conclusion from a difference and its interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DifferenceVerdict {
    /// Slower than the baseline, or dearer.
    Worse,
    /// Within the margin of the baseline.
    Equivalent,
    /// Faster than the baseline, or cheaper.
    Improved,
    /// Not decided by this many blocks.
    Inconclusive,
    /// The measurement cannot carry it.
    Invalid,
}

impl DifferenceVerdict {
    /// The name used in files and for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Worse => "worse",
            Self::Equivalent => "equivalent",
            Self::Improved => "improved",
            Self::Inconclusive => "inconclusive",
            Self::Invalid => "invalid",
        }
    }
}

impl Added {
    /// The name of the difference of CPU seconds.
    pub const CPU: &'static str = "cpu";

    /// One difference of response times.
    #[must_use]
    pub fn get(&self, statistic: Statistic) -> Option<&Difference> {
        match statistic {
            Statistic::Mean => self.mean.as_ref(),
            Statistic::P50 => self.p50.as_ref(),
            Statistic::P75 => self.p75.as_ref(),
            Statistic::P90 => self.p90.as_ref(),
            Statistic::P95 => self.p95.as_ref(),
            Statistic::P99 => self.p99.as_ref(),
            Statistic::P999 => self.p999.as_ref(),
        }
    }

    /// Each difference that there is, by its name.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, &Difference)> {
        let times = Statistic::ALL.into_iter();
        let times = times.filter_map(|statistic| Some((statistic.name(), self.get(statistic)?)));
        times.chain(self.cpu.iter().map(|cpu| (Self::CPU, cpu)))
    }

    /// Likewise, to change them.
    pub fn all_mut(&mut self) -> impl Iterator<Item = (&'static str, &mut Difference)> {
        let all = [
            (Statistic::Mean.name(), &mut self.mean),
            (Statistic::P50.name(), &mut self.p50),
            (Statistic::P75.name(), &mut self.p75),
            (Statistic::P90.name(), &mut self.p90),
            (Statistic::P95.name(), &mut self.p95),
            (Statistic::P99.name(), &mut self.p99),
            (Statistic::P999.name(), &mut self.p999),
            (Self::CPU, &mut self.cpu),
        ];
        let all = all.into_iter();
        all.filter_map(|(name, difference)| Some((name, difference.as_mut()?)))
    }
}
