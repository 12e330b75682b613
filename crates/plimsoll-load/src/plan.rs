//! The plan: everything that the generator needs to know, as plain data that travels as one line of JSON.
//!
//! A plan says nothing about experiments, arms or reports, and refers to nothing: names are resolved and files are read before.

mod action;
mod connections;
mod data;
mod load;
mod place;
mod problem;
mod step;
pub mod text;
mod tls;

use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::time::Duration;

pub use action::{
    Action, Choice, Comparison, Condition, GROUP_SEPARATOR, group_path, groups_of, steps_of,
};
pub use connections::{ConnectionPolicy, Connections, Protocol, Resolve};
pub use data::{AtEnd, Cookies, Data, Dealing, FeederPlan, Format, Order};
pub(crate) use load::MAX_TOTAL;
pub use load::{Crowd, Load, Profile, Spacing, Span, Stretch};
pub use place::{
    ConnectionsField, FeederField, LoadField, LoadPartField, LoadPlace, PlanField, PlanPlace,
    ScenarioPlace, StepField, StepPlace,
};
pub use problem::{PlanProblem, PlanProblems};
pub use step::{Check, Extract, Follow, Match, Predicate, Source, Step};
pub use text::{Expression, Piece, Text};
pub use tls::{Identity, PrivateKey, Tls, TlsVersion, Trust};

/// A load in full: requests, target, times and rates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Keys all randomness: one seed, one schedule, whatever the number of shards.
    pub seed: u64,
    /// Generator threads. Never more are used than there are virtual users.
    pub shards: usize,
    /// Where the load goes.
    pub target: Target,
    /// Every exchange that scenarios refer to; its place here is its series in recorder, fragments and reports. At least one.
    pub steps: Vec<Step>,
    /// Programs of the virtual users, all at the same time, each with its own users. At least one.
    pub scenarios: Vec<Scenario>,
    /// Differences between iterations.
    #[serde(default)]
    pub data: Data,
    /// How long the load runs before it is measured. Iterations whose intended start lies in it are reported apart.
    pub warmup: Duration,
    /// How long the measured part lasts, after the warm-up.
    pub duration: Duration,
    /// How connections are made, kept and shared.
    pub connections: Connections,
    /// How exactly intended starts are kept, and at what price in CPU.
    pub pacing: Pacing,
    /// The longest that an exchange may take, from the start of its connection attempt (or its first byte, on an
    /// open connection) to the last byte of its answer. A step may have its own.
    pub timeout: Duration,
    /// Whether exchanges are told one by one, too. An error of the run if a shard has more of them in a second than
    /// [`SINGLE_PER_SECOND`](crate::results::exchange::SINGLE_PER_SECOND).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub singly: bool,
}

/// Where the load goes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// The value of the `Host` field, such as `example.com` or `127.0.0.1:8080`: the scheme's own port is not named.
    pub authority: String,
    /// Addresses to connect to; virtual users are spread over them round robin. At least one.
    pub addresses: Vec<SocketAddr>,
}

/// A kind of virtual user: its program, and how many of its iterations start when.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Its name in reports; unique within the plan.
    pub name: String,
    /// How many iterations start, and when.
    pub load: Load,
    /// The program of an iteration, in order; at least one action.
    pub program: Vec<Action>,
    /// In the closed model: so many iterations and no more, over all users; the load ends with the last of them. They are dealt to the
    /// shards in proportion to their users, and within a shard who is free takes the next.
    #[serde(default)]
    pub iterations: Option<u64>,
}

/// How exactly intended starts are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pacing {
    /// The timer wakes a shard at most once in this time; it bounds the lag that batching adds.
    Gap(Duration),
    /// The last 40 µs before an intended start are spun through: least lag, a whole core.
    Precise,
}

impl Default for Pacing {
    fn default() -> Self {
        Self::Gap(Duration::from_micros(200))
    }
}

impl Plan {
    /// The whole length of the load, warm-up included.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.warmup + self.duration
    }

    /// Virtual users over all shards.
    #[must_use]
    pub fn users(&self) -> u32 {
        let users = |scenario: &Scenario| scenario.load.users();
        self.scenarios
            .iter()
            .map(users)
            .fold(0, u32::saturating_add)
    }
}

impl Scenario {
    /// The scenario whose iterations carry out the first `steps` steps of the plan in their order.
    #[must_use]
    pub fn of_steps(name: &str, load: Load, steps: usize) -> Self {
        Self {
            name: name.to_owned(),
            load,
            program: (0..steps).map(Action::Step).collect(),
            iterations: None,
        }
    }
}

/// Bytes as base64 text.
mod base64_bytes {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(deserializer)?;
        STANDARD.decode(text).map_err(serde::de::Error::custom)
    }
}
