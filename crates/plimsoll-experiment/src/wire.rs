//! The experiment file as written: shapes and scalars only. What values mean together is checked where they are converted.
//!
//! The JSON Schema of the file is generated from these structs, so every field carries its description.

mod availability;
mod components;
mod connections;
mod fault;
mod load;
mod method;
mod network;
mod probe;
mod report;
mod scenario;
pub(crate) mod schema;
mod span;

pub use availability::{
    AvailabilityFaultWire, AvailabilityWire, CountedWire, LeaderWire, PerYearWire, RetriesWire,
    RoleWire,
};
pub use components::{
    ComponentWire, GatewayWire, GeneratorWire, HttpsWire, ListenWire, MockWire, ReadyWire,
};
pub use connections::{ConnectionPerWire, ProtocolWire, ResolveWire, TlsVersionWire, TlsWire};
pub use fault::{DirectionWire, FaultWire, FlawWire, RunWire, SignalWire};
pub use load::{
    ArrivalWire, BusyWire, ConnectionCountWire, GrowWire, LoadWire, PacingWire, StageWire,
    StaircaseWire, UserChangeWire, UsersWire,
};
pub use method::{
    CapacityWire, CompareWire, LevelOrderWire, LevelsWire, LinksWire, MeasureWire,
    MethodMappingWire, MethodWire, ObjectiveWire, SensitivityWire, ThresholdWire,
};
pub use network::NetworkWire;
pub use probe::{ExporterWire, ProbeWayWire, ProbeWire};
pub use report::ReportWire;
pub use scenario::{
    AtEndWire, AuthWire, CheckWire, ChoiceWire, ExtractWire, FeederWire, MatchWire, OrderWire,
    PartWire, ScenarioWire, SizeWire, StepWire,
};
pub use span::{DrawnWire, LognormalWire, SpanWire};

use deserr::Deserr;
use plimsoll_base::document::{Entries, Text};
use schemars::JsonSchema;

/// Keys of later versions, refused by name.
pub const LATER: [&str; 8] = [
    "agent",
    "fault",
    "http2",
    "locustfile",
    "postgres",
    "sql",
    "tls",
    "workers",
];

/// A Plimsoll experiment: what runs, what load it gets, which alternatives are compared, and what must hold.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(
    rename = "Experiment",
    deny_unknown_fields,
    extend("oneOf" = [{ "required": ["scenario"] }, { "required": ["scenarios"] }])
)]
pub struct ExperimentWire {
    /// The version of this format: 1.
    #[schemars(range(min = 1, max = 1))]
    pub version: u32,
    /// The experiment's name: part of the run directory's name and of every report.
    pub name: String,
    /// The experiment's question, in a sentence or two, for its readers.
    #[deserr(default)]
    pub description: Option<String>,
    /// Components by name. They start in the order in which they refer to each other.
    pub components: Entries<ComponentWire>,
    /// Where the load generator runs and how many shards it has.
    #[deserr(default)]
    pub generator: Option<GeneratorWire>,
    /// Hosts for components, in zones. Needs root.
    #[deserr(default)]
    pub network: Option<NetworkWire>,
    /// Addresses of hosts, by name, in place of what their names resolve to.
    #[deserr(default)]
    pub hosts: Option<Entries<String>>,
    /// One virtual user's iteration: steps, in order. This or `scenarios` is needed.
    #[deserr(default)]
    pub scenario: Option<Vec<StepWire>>,
    /// In place of `scenario`: several by name. All have a `weight`, by which each iteration of the common load carries out one of them, or all
    /// have a `load` of their own, at the same time. Each is also a group of its name.
    #[deserr(default)]
    pub scenarios: Option<Entries<ScenarioWire>>,
    /// Values that are the same in every iteration, by name: `${name}` in what virtual users send. They may hold the run's own substitutions.
    #[deserr(default)]
    pub values: Option<Entries<Text>>,
    /// Rows of data by name, of which each iteration gets one: `${column}` in what virtual users send.
    #[deserr(default)]
    pub feeders: Option<Entries<FeederWire>>,
    /// `true`: each virtual user keeps the cookies that the target sets, and sends them back. Default: `false`.
    #[deserr(default)]
    pub cookies: Option<bool>,
    /// How much load, and when.
    pub load: LoadWire,
    /// The alternatives under comparison, by name. Without it there is one, `main`, whose target is `load.target` or the only component.
    #[deserr(default)]
    pub arms: Option<Entries<ArmWire>>,
    /// How the arms are run. Default: `measure`.
    #[deserr(default)]
    pub method: Option<MethodWire>,
    /// Faults by name: what breaks during the loads, how, when, and for how long.
    #[deserr(default)]
    pub faults: Option<Entries<FaultWire>>,
    /// Conditions under which the run passes.
    #[deserr(default)]
    pub thresholds: Option<Vec<ThresholdWire>>,
    /// How figures are shown.
    #[deserr(default)]
    pub report: Option<ReportWire>,
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
    /// Steps in place of the common scenario or scenarios.
    #[deserr(default)]
    pub scenario: Option<Vec<StepWire>>,
}
