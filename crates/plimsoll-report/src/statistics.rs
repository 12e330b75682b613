//! What differences per block say about two arms: interval, smallest detectable effect, verdict.
//!
//! The unit of replication is the block (a restart of everything): intervals are over blocks, never over exchanges, which depend on
//! each other and all share one start's luck (Zhang et al., "Treadmill", ISCA 2016). Reading blocks out of a run is left to `summarise`.

mod bootstrap;
mod detectable;
mod difference;
mod distortion;
mod interval;
mod order;
mod sample;
mod student;

pub use detectable::{blocks_to_detect, minimum_detectable};
pub use difference::{MARGIN_SHARE, judge_difference};
pub use distortion::{ALWAYS_ALLOWED, Distortion, Figure, Lengthening};
pub(crate) use interval::method_for;
pub use interval::{BOOTSTRAP_FROM, CONFIDENCE, Interval, Pivot};
pub use order::quantile_interval;
pub use sample::Sample;
