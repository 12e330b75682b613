//! The shape of `manifest.json`: what was run, with what, where. Secrets appear in it only as hashes.

use super::arm::LoadModel;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The value of [`Manifest::schema`] in this version.
pub const MANIFEST_SCHEMA: &str = "plimsoll.manifest/1";

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Still going, or its lab was killed.
    Running,
    /// Everything planned was done.
    Complete,
    /// Ended early; what was measured is kept.
    Interrupted,
    /// Ended early by a threshold; what was measured is kept.
    Aborted,
}

/// How the experiment is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MethodName {
    /// Every arm once.
    Measure,
    /// Randomised blocks, each holding every arm once.
    Compare,
    /// Every arm at several rates, or with several numbers of users.
    Levels,
    /// A search of each arm for the rate that it carries.
    Capacity,
    /// Delays of links between components, one after the other.
    Sensitivity,
    /// Trials of faults: how long callers go without answers.
    Availability,
}

/// Facts of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`MANIFEST_SCHEMA`].
    pub schema: String,
    /// The run's identity, unique among runs.
    pub id: String,
    /// The experiment's name.
    pub experiment: String,
    /// How it was run.
    pub method: MethodName,
    /// Where the run stands.
    pub state: RunState,
    /// When it began, RFC 3339 with offset.
    pub started_at: String,
    /// When it ended, RFC 3339 with offset; `None` while it runs.
    pub ended_at: Option<String>,
    /// The seed of everything random in it.
    pub seed: u64,
    /// Versions by program: `plimsoll`, and what foreign components reported.
    pub versions: IndexMap<String, String>,
    /// The machine.
    pub host: Host,
    /// Every input file, secrets hashed.
    pub inputs: Vec<Input>,
    /// Arms in the experiment's order.
    pub arms: Vec<ArmFacts>,
    /// Components in the experiment's order.
    pub components: Vec<ComponentFacts>,
}

impl Manifest {
    /// How long the run took, in seconds; `None` while it goes on.
    #[must_use]
    pub fn seconds(&self) -> Option<f64> {
        let moment = |text: &str| text.parse::<jiff::Timestamp>().ok();
        let ended_at = moment(self.ended_at.as_ref()?)?;
        Some(
            (ended_at - moment(&self.started_at)?)
                .total(jiff::Unit::Second)
                .ok()?
                .max(0.0),
        )
    }
}

/// The machine of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Host {
    /// Operating system, e.g. `Debian GNU/Linux 12`.
    pub os: String,
    /// Kernel release.
    pub kernel: String,
    /// Processor model.
    pub cpu_model: String,
    /// Usable logical processors.
    pub cpus: u32,
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// Hypervisor, where one is known.
    pub virtualisation: Option<String>,
}

/// One input file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// Its path as given; `--set PATH` for a value that was set on top of the file.
    pub path: String,
    /// SHA-256 of its bytes or of that value, hexadecimal.
    pub sha256: String,
}

/// One arm as planned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArmFacts {
    /// Its name.
    pub name: String,
    /// Its target as written.
    pub target: String,
    /// How arrivals come about.
    pub model: LoadModel,
    /// The load in one line, e.g. `5,000/s over 50 connections, 2 s warm-up, 6 s`.
    pub load: String,
}

/// One component as planned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComponentFacts {
    /// Its name.
    pub name: String,
    /// Its kind: `mock`, `gateway`, `command` or `external`.
    pub kind: String,
    /// One line more, e.g. its command or pinned processors; secrets hashed.
    pub detail: String,
}
