//! Limits of a load: causes with their evidence, as `summary.json` has them; and the limits of the plan itself, from which some
//! of them follow.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The resource that gives way first, as far as the evidence says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bottleneck {
    /// The conclusion.
    pub conclusion: BottleneckConclusion,
    /// The conclusion in a sentence.
    pub statement: String,
    /// At most three, the strongest first; empty where nothing gave way or nobody can tell.
    pub causes: Vec<Cause>,
    /// Causes that the same evidence excludes, a sentence each.
    pub ruled_out: Vec<String>,
    /// Resources that could not be looked at, a sentence each.
    pub unseen: Vec<String>,
}

/// Conclusion about a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BottleneckConclusion {
    /// Something gave way, and `causes` say what.
    Found,
    /// Everything that was offered was carried: the limit lies higher.
    NothingGaveWay,
    /// Something gave way, and the evidence does not say what.
    Unknown,
}

/// Why a load went no higher.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cause {
    /// In a word.
    pub kind: CauseKind,
    /// The component, or `generator`; `null` where it is none.
    pub component: Option<String>,
    /// In a sentence.
    pub statement: String,
    /// The figures that say so, a line each.
    pub evidence: Vec<String>,
    /// Where this cause alone would end the load, in exchanges per second; `null` where it does not say.
    pub predicted_per_s: Option<f64>,
}

/// Kinds of causes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CauseKind {
    /// The generator had no processor time left, or did not get it.
    Generator,
    /// The plan's users think and pause.
    ThinkTime,
    /// The plan's users or connections are all waiting for answers.
    Connections,
    /// No local port or descriptor was left for a connection.
    Ports,
    /// The target refuses what is too much.
    RateLimit,
    /// All processors of the machine are busy, and no component alone is.
    Machine,
    /// A component's CPU quota is used up.
    Quota,
    /// A component's processors are used up.
    Processor,
    /// One thread of a component has a processor of its own and uses all of it.
    HotThread,
    /// Connections find a component's accept queue full.
    Backlog,
    /// A component waits for memory or a disk.
    Memory,
    /// A component's processes have no descriptors left.
    Descriptors,
    /// Something lets only so many exchanges through at a time.
    Pool,
    /// Threads of a component work one at a time.
    Lock,
    /// A component further inside takes most of the time.
    Dependency,
    /// Segments are lost on the way.
    Network,
}

impl CauseKind {
    /// The name used in files and for people.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Generator => "generator",
            Self::ThinkTime => "think time",
            Self::Connections => "connections of the plan",
            Self::Ports => "local ports",
            Self::RateLimit => "rate limit",
            Self::Machine => "machine",
            Self::Quota => "CPU quota",
            Self::Processor => "processor",
            Self::HotThread => "one hot thread",
            Self::Backlog => "accept queue",
            Self::Memory => "memory",
            Self::Descriptors => "descriptors",
            Self::Pool => "pool or other limit of concurrency",
            Self::Lock => "lock",
            Self::Dependency => "dependency",
            Self::Network => "network",
        }
    }
}

/// Limits of a plan, whatever its target does.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PlanFacts {
    /// Virtual users of the closed model, or connections of the open one: so many exchanges may be under way at once. `None`: as many as
    /// wanted, or unknown.
    pub at_once: Option<f64>,
    /// The most iterations per second that users who think and pause can begin, and why; `None` where nobody waits.
    pub waiting: Option<PlanCeiling>,
}

/// A ceiling of the plan.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanCeiling {
    /// Iterations per second.
    pub per_s: f64,
    /// Why, with its formula.
    pub sentence: String,
}
