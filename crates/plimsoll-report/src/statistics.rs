//! Conclusions about two arms from differences per block: interval, smallest detectable effect, verdict.
//!
//! The unit of replication is the block (a restart of everything): intervals are over blocks, never over exchanges, which depend on
//! each other and all share one start's luck (Zhang et al., "Treadmill", ISCA 2016). Reading blocks out of a run is left to `summarise`.

mod bootstrap;
mod change_points;
mod detectable;
mod difference;
mod distortion;
mod holm;
mod interval;
mod order;
mod rare;
mod response_times;
mod sample;
pub mod sensitivity;
mod share;
mod student;
mod trend;
mod unpaired;

pub use change_points::{ChangePoint, MOST_RESULTS, change_points};
pub use detectable::{blocks_to_detect, minimum_detectable};
pub use difference::{
    MARGIN_SHARE, SIGNIFICANCE, correct, judge_difference, margin_of, verdict_of,
};
pub use distortion::{ALWAYS_ALLOWED, Distortion, Figure, Lengthening};
pub use holm::holm;
pub(crate) use interval::method_for;
pub use interval::{BOOTSTRAP_FROM, CONFIDENCE, Interval, Pivot};
pub use order::{median_interval, one_sided_bounds, quantile_interval, times_to_bound};
pub use rare::{bounded_by_largest_of, clopper_pearson, left_open_by, trials_to_rule_out};
pub use response_times::{Quantile, ResponseTimes};
pub use sample::Sample;
pub use share::share_at_least;
pub use trend::Trend;
pub use unpaired::Welch;
