//! A run as plain data: what the lab measured (in memory) and what the files of a run directory hold.
//!
//! [`ArmData`] is one arm in one block, with everything mergeable; [`Manifest`], [`SeriesRow`], [`EventRow`] and [`Summary`] are
//! the shapes of `manifest.json`, `series.jsonl`, `events.jsonl` and `summary.json`. How figures become conclusions is left to
//! `statistics`, `validity` and `verdict`; reading and writing files is left to the caller.

mod arm;
mod arm_summary;
mod bearing;
mod capacity;
mod cause;
mod comparison;
mod completions;
mod component;
mod drift;
mod event;
mod failure;
pub(crate) mod figures;
mod health;
mod level;
mod manifest;
pub mod metric;
mod own_times;
mod parts;
mod ranges;
pub mod schema;
mod series;
mod summary;
pub(crate) mod times;
mod verdict;

pub use arm::{ArmBlocks, ArmData, Backlog, LoadModel, SECOND_RELEASED, Second, TargetLedger};
pub use arm_summary::{ArmSummary, BlockSummary};
pub use bearing::{Bearing, Manner};
pub use capacity::{
    Band, CapacityResult, CapacitySummary, Class, Confirmation, Found, Intervention, Knee, Limit,
    LoadClass, Moved, Objective, Overload, Scalability, SearchEnd, Trial, TrialOutcome,
    TrialPurpose, TrialRow,
};
pub use cause::{Bottleneck, BottleneckConclusion, Cause, CauseKind, PlanCeiling, PlanFacts};
pub use comparison::{
    Added, Comparison, Difference, DifferenceVerdict, IntervalMethod, Reservation,
};
pub use completions::{Answers, Completions};
pub use component::demand::{Demand, DemandLine};
pub use component::server::ServerStatistics;
pub use component::strain::{HostData, HostStrain, Strain};
pub use component::{ComponentData, ComponentSample, GENERATOR};
pub use drift::{Drift, DriftDirection, LevelDrift};
pub use event::{EventKind, EventRow};
pub use failure::{Failure, Failures, Seen};
pub use figures::Unit;
pub use health::{BothEnds, GeneratorHealth, Halves, PARTS, Segments};
pub use level::LevelSummary;
pub use manifest::{
    ArmFacts, ComponentFacts, Host, Input, MANIFEST_SCHEMA, Manifest, MethodName, RunState,
};
pub use own_times::OwnTimes;
pub use parts::{ComponentSummary, FailureSummary, GroupSummary, Outcomes, Reasons, StepSummary};
pub use ranges::{MOST_RANGE_BOUNDS, NoRanges, RangeSummary, Ranges};
pub use series::{ComponentRow, GroupRow, HostRow, LoadRow, SecondTimes, SeriesRow, StepRow};
pub use summary::{AbsentArm, SUMMARY_SCHEMA, Summary};
pub use times::{Statistic, TimeStatistics, Times};
pub use verdict::{
    Bias, Breach, Effect, Sense, ThresholdOutcome, ValidityRow, Verdict, VerdictResult,
};
