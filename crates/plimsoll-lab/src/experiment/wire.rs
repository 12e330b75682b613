//! The experiment file as written: shapes and scalars only. What values mean together is checked where they are converted.
//!
//! The JSON Schema of the file is generated from these structs, so every field carries its description.

mod components;
mod load;
mod method;
mod scenario;

pub use components::{
    ComponentWire, GatewayWire, GeneratorWire, ListenWire, MockWire, ProbeWire, ReadyWire,
};
pub use load::{ArrivalWire, LoadWire, PacingWire, RampWire, StaircaseWire};
pub use method::{CompareWire, MeasureWire, MethodMappingWire, MethodWire, ThresholdWire};
pub use scenario::{CheckWire, StepWire};

use deserr::Deserr;
use plimsoll_base::document::{Entries, Text};
use schemars::JsonSchema;

/// Keys of later versions, refused by name.
pub const LATER: [&str; 16] = [
    "agent",
    "availability",
    "capacity",
    "fault",
    "faults",
    "feeder",
    "feeders",
    "http2",
    "levels",
    "locustfile",
    "mix",
    "postgres",
    "sensitivity",
    "sql",
    "tls",
    "workers",
];

/// A Plimsoll experiment: what runs, what load it gets, which alternatives are compared, and what must hold.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(rename = "Experiment", deny_unknown_fields)]
pub struct ExperimentWire {
    /// The version of this format: 1.
    #[schemars(range(min = 1, max = 1))]
    pub version: u32,
    /// The experiment's name: part of the run directory's name and of every report.
    pub name: String,
    /// What the experiment asks, in a sentence or two, for its readers.
    #[deserr(default)]
    pub description: Option<String>,
    /// What runs, by name. Components start in the order in which they refer to each other.
    pub components: Entries<ComponentWire>,
    /// Where the load generator runs and how many shards it has.
    #[deserr(default)]
    pub generator: Option<GeneratorWire>,
    /// What one virtual user does in one iteration: steps, in order.
    pub scenario: Vec<StepWire>,
    /// How much load, and when.
    pub load: LoadWire,
    /// The alternatives under comparison, by name. Without it there is one, `main`, whose target is `load.target` or the only component.
    #[deserr(default)]
    pub arms: Option<Entries<ArmWire>>,
    /// How the arms are run. Default: `measure`.
    #[deserr(default)]
    pub method: Option<MethodWire>,
    /// What must hold for the run to pass.
    #[deserr(default)]
    pub thresholds: Option<Vec<ThresholdWire>>,
}

/// One alternative: a target, and what differs from the common scenario and load.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(rename = "Arm", deny_unknown_fields)]
pub struct ArmWire {
    /// Where its load goes: `component` or `component/listener`. Default: `load.target`, or the only component.
    #[deserr(default)]
    pub target: Option<String>,
    /// Header fields added to every step; they replace the step's own of the same name. Values may hold substitutions.
    #[deserr(default)]
    pub headers: Option<Entries<Text>>,
    /// Fields of `load` that differ in this arm. A different arrival (`rate`, `ramp`, `staircase`, `users`) replaces the common one.
    #[deserr(default)]
    pub load: Option<LoadWire>,
    /// Steps in place of the common scenario.
    #[deserr(default)]
    pub scenario: Option<Vec<StepWire>>,
}
