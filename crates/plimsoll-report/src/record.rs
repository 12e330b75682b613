//! A run as plain data: what the lab measured (in memory) and what the files of a run directory hold.
//!
//! [`ArmData`] is one arm in one block, with everything mergeable; [`Manifest`], [`SeriesRow`], [`EventRow`] and [`Summary`] are
//! the shapes of `manifest.json`, `series.jsonl`, `events.jsonl` and `summary.json`. How figures become conclusions is left to
//! `statistics`, `validity` and `verdict`; reading and writing files is left to the caller.

mod arm;
mod bearing;
mod cause;
mod completions;
mod component;
mod drift;
mod event;
mod failure;
mod fault;
mod fault_trial;
pub(crate) mod figures;
mod health;
mod manifest;
pub mod metric;
mod own_times;
pub mod schema;
mod series;
mod summary;
pub(crate) mod times;

pub(crate) use arm::per_exchange;
pub use arm::{ArmBlocks, ArmData, Backlog, LoadModel, SECOND_RELEASED, Second, TargetLedger};
pub use bearing::{Bearing, Manner};
pub use cause::{Bottleneck, BottleneckConclusion, Cause, CauseKind, PlanCeiling, PlanFacts};
pub use completions::{Answers, Completions};
pub use component::demand::{Demand, DemandLine};
pub use component::server::ServerStatistics;
pub use component::strain::{HostData, HostStrain, Strain};
pub use component::{ComponentData, ComponentSample, GENERATOR};
pub use drift::{Drift, DriftDirection, LevelDrift};
pub use event::{EventKind, EventRow};
pub use failure::{Failure, Failures, Seen};
pub use fault::{CallerFigures, FaultRow};
pub use fault_trial::{
    AvailabilitySettings, ControlFigures, FaultFacts, FaultRate, FaultTrial, Retries, Role, SHAM,
};
pub use figures::Unit;
pub use health::{BothEnds, GeneratorHealth, Halves, PARTS, Segments};
pub use manifest::{
    ArmFacts, ComponentFacts, Host, Input, MANIFEST_SCHEMA, Manifest, MethodName, RunState,
};
pub use own_times::OwnTimes;
pub use plimsoll_base::single_exchange::SingleExchange;
pub use series::{ComponentRow, GroupRow, HostRow, LoadRow, SecondTimes, SeriesRow, StepRow};
pub use summary::arm_summary::{ArmSummary, BlockSummary};
pub use summary::availability::{
    Annual, AvailabilitySummary, Estimated, ExpectedYear, FailedFailovers, FaultOutages, FaultYear,
    HealFigures, OutageFigures, ProductFormula, ShamSummary, TornadoBar, TrialsNeeded, VoidTrial,
    Year,
};
pub use summary::capacity::{
    Band, CapacityResult, CapacitySummary, Class, Confirmation, Found, Intervention, Knee, Limit,
    LoadClass, Moved, Objective, Overload, Scalability, SearchEnd, Trial, TrialOutcome,
    TrialPurpose, TrialRow,
};
pub use summary::comparison::{
    Added, Comparison, Difference, DifferenceVerdict, IntervalMethod, Reservation,
};
pub use summary::fault_trial::{Course, RetriedOutage, TrialOutage, TrialSummary};
pub use summary::level::LevelSummary;
pub use summary::link::{
    Bend, Bounds, CriticalLink, DelayFigures, DelayPurpose, DelayRow, Gain, LinkShape, LinkSummary,
    LinkTurns, Slopes, UndelayedPeer,
};
pub use summary::parts::{
    ComponentSummary, FailureSummary, GroupSummary, Outcomes, Reasons, StepSummary,
};
pub use summary::ranges::{MOST_RANGE_BOUNDS, NoRanges, RangeSummary, Ranges};
pub use summary::verdict::{
    Bias, Breach, Effect, Sense, ThresholdOutcome, ValidityRow, Verdict, VerdictResult,
};
pub use summary::{AbsentArm, SUMMARY_SCHEMA, Summary};
pub use times::{Statistic, TimeStatistics, Times};
