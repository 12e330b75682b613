//! Figures of a histogram by the names that the summary uses.

use super::figures::figures;
use plimsoll_base::histogram::TimeHistogram;
use plimsoll_base::time_kind::TimeKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A figure of a distribution of times that arms are compared by.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Statistic {
    /// Arithmetic mean.
    Mean,
    /// Median.
    P50,
    /// 75th percentile.
    P75,
    /// 90th percentile.
    P90,
    /// 95th percentile.
    P95,
    /// 99th percentile.
    P99,
    /// 99.9th percentile.
    P999,
}

impl Statistic {
    /// Every one, in the order in which outputs list them.
    pub const ALL: [Self; 7] = [
        Self::Mean,
        Self::P50,
        Self::P75,
        Self::P90,
        Self::P95,
        Self::P99,
        Self::P999,
    ];

    /// The name used in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::P50 => "p50",
            Self::P75 => "p75",
            Self::P90 => "p90",
            Self::P95 => "p95",
            Self::P99 => "p99",
            Self::P999 => "p999",
        }
    }

    /// The name used for people.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::P999 => "p99.9",
            other => other.name(),
        }
    }

    /// The share of times that are at most this figure, for a quantile; `None` for the mean.
    #[must_use]
    pub fn share(self) -> Option<f64> {
        match self {
            Self::Mean => None,
            Self::P50 => Some(0.5),
            Self::P75 => Some(0.75),
            Self::P90 => Some(0.9),
            Self::P95 => Some(0.95),
            Self::P99 => Some(0.99),
            Self::P999 => Some(0.999),
        }
    }

    /// The figure of a histogram in seconds; `None` when it is empty.
    #[must_use]
    pub fn of(self, histogram: &TimeHistogram) -> Option<f64> {
        match self.share() {
            Some(share) => histogram.quantile(share),
            None => histogram.mean(),
        }
    }
}

/// A distribution in figures. Times in seconds; `null` without a sample.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimeStatistics {
    /// How many times were recorded; of response times, arrivals that were never answered included.
    pub count: u64,
    /// Smallest.
    pub min: Option<f64>,
    /// Arithmetic mean.
    pub mean: Option<f64>,
    /// Standard deviation.
    #[serde(default)]
    pub deviation: Option<f64>,
    /// Median.
    pub p50: Option<f64>,
    /// 75th percentile.
    pub p75: Option<f64>,
    /// 90th percentile.
    pub p90: Option<f64>,
    /// 95th percentile.
    pub p95: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// 99.9th percentile.
    pub p999: Option<f64>,
    /// Largest.
    pub max: Option<f64>,
    /// The share from which on percentiles are lower bounds, because they rest on what was given up or never answered: of 0.95, the p95, all
    /// above it and the largest are *at least* what they say; `null` where none is.
    #[serde(default)]
    pub at_least_from: Option<f64>,
}

figures!(TimeStatistics {
    count: Count,
    min: Seconds,
    mean: Seconds,
    deviation: Seconds,
    p50: Seconds,
    p75: Seconds,
    p90: Seconds,
    p95: Seconds,
    p99: Seconds,
    p999: Seconds,
    max: Seconds,
});

/// Beyond so large a share a mean does not rest on lower bounds that the p99.9 does not rest on.
const MEAN_RESTS_ON: f64 = 0.999;

impl TimeStatistics {
    /// The figures of a histogram.
    #[must_use]
    pub fn of(histogram: &TimeHistogram) -> Self {
        Self::with(histogram, |statistic| statistic.of(histogram))
    }

    /// The figures of a histogram, but for those that arms are compared by, which are these.
    #[must_use]
    pub fn with(histogram: &TimeHistogram, figure: impl Fn(Statistic) -> Option<f64>) -> Self {
        Self {
            count: histogram.count(),
            min: histogram.min(),
            mean: figure(Statistic::Mean),
            deviation: histogram.deviation(),
            p50: figure(Statistic::P50),
            p75: figure(Statistic::P75),
            p90: figure(Statistic::P90),
            p95: figure(Statistic::P95),
            p99: figure(Statistic::P99),
            p999: figure(Statistic::P999),
            max: histogram.max(),
            at_least_from: None,
        }
    }

    /// Whether a figure is a lower bound: a percentile by its share, the largest by 1, the mean by `None`.
    #[must_use]
    pub fn is_at_least(&self, share: Option<f64>) -> bool {
        let share = share.unwrap_or(MEAN_RESTS_ON);
        self.at_least_from.is_some_and(|from| share >= from)
    }

    /// One figure.
    #[must_use]
    pub fn get(&self, statistic: Statistic) -> Option<f64> {
        match statistic {
            Statistic::Mean => self.mean,
            Statistic::P50 => self.p50,
            Statistic::P75 => self.p75,
            Statistic::P90 => self.p90,
            Statistic::P95 => self.p95,
            Statistic::P99 => self.p99,
            Statistic::P999 => self.p999,
        }
    }
}

/// The times of an arm, each with its own start point. Those of a part that did not happen, such as the connecting of an exchange on a kept
/// connection, have no sample; nor have those that an earlier version did not write.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Times {
    /// Intended start to last byte of good answers, and what was given up as lower bounds: what callers waited.
    pub response_time: TimeStatistics,
    /// First byte sent to last byte received.
    pub service_time: TimeStatistics,
    /// Intended start of an iteration to the end of its last step.
    pub iteration_time: TimeStatistics,
    /// Release to a free connection: the target's doing.
    pub connection_wait: TimeStatistics,
    /// Intended start to release: the generator's own lateness.
    pub pacing_lag: TimeStatistics,
    /// Start of a connection attempt to its establishment: the sum of the three that follow.
    pub connect_time: TimeStatistics,
    /// Of `connect_time`, the name lookup; none for an address, nor for a name that was looked up before.
    #[serde(default)]
    pub dns_time: TimeStatistics,
    /// Of `connect_time`, the TCP handshake.
    #[serde(default)]
    pub tcp_time: TimeStatistics,
    /// Of `connect_time`, the TLS handshake.
    #[serde(default)]
    pub tls_time: TimeStatistics,
    /// Of the service time of an answered exchange: first byte sent to first byte received.
    #[serde(default)]
    pub first_byte_time: TimeStatistics,
    /// Of the service time of an answered exchange: first byte received to last; zero for an answer that came at once.
    #[serde(default)]
    pub body_time: TimeStatistics,
}

/// A distribution of times of a record: its name, in the record's type and in its file, and how it is had.
pub(crate) type Distribution<T> = (&'static str, fn(&T) -> &TimeStatistics);

/// A record whose distributions of times can be metrics.
pub(crate) trait Timed: Sized + 'static {
    /// Its distributions.
    const TIMES: &'static [Distribution<Self>];
}

/// Declares which distributions of a record can be metrics.
macro_rules! times {
    ($record:ty { $($name:ident),* $(,)? }) => {
        impl $crate::record::times::Timed for $record {
            const TIMES: &'static [$crate::record::times::Distribution<Self>] =
                &[$((stringify!($name), |record| &record.$name)),*];
        }
    };
}

pub(super) use times;

times!(Times {
    response_time,
    service_time,
    iteration_time,
    connection_wait,
    pacing_lag,
    connect_time,
    dns_time,
    tcp_time,
    tls_time,
    first_byte_time,
    body_time,
});

impl Times {
    /// The figures of each kind, from a function that gives its histogram.
    #[must_use]
    pub fn of(histogram: impl Fn(TimeKind) -> TimeHistogram) -> Self {
        let figures = |kind| TimeStatistics::of(&histogram(kind));
        Self {
            response_time: figures(TimeKind::ResponseTime),
            service_time: figures(TimeKind::ServiceTime),
            iteration_time: figures(TimeKind::IterationTime),
            connection_wait: figures(TimeKind::ConnectionWait),
            pacing_lag: figures(TimeKind::PacingLag),
            connect_time: figures(TimeKind::ConnectTime),
            dns_time: figures(TimeKind::DnsTime),
            tcp_time: figures(TimeKind::TcpTime),
            tls_time: figures(TimeKind::TlsTime),
            first_byte_time: figures(TimeKind::FirstByteTime),
            body_time: figures(TimeKind::BodyTime),
        }
    }
}
