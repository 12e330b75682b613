//! The plan: everything that the generator needs to know, as plain data that travels as one line of JSON.
//!
//! A plan says nothing about experiments, arms or reports, and refers to nothing: names are resolved and files are read before.

mod check;

use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::time::Duration;

pub use check::{PlanProblem, PlanProblems};

/// What to send, where, when and for how long.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Keys all randomness: one seed, one schedule, whatever the number of shards.
    pub seed: u64,
    /// Generator threads. Never more are used than there are virtual users.
    pub shards: usize,
    /// Where the load goes.
    pub target: Target,
    /// What a virtual user does in one iteration, in order; at least one.
    pub steps: Vec<Step>,
    /// How many iterations start, and when.
    pub load: Load,
    /// How long the load runs before it is measured. Iterations whose intended start lies in it are reported apart.
    pub warmup: Duration,
    /// How long the measured part lasts, after the warm-up.
    pub duration: Duration,
    /// When a virtual user opens a connection.
    pub connections: ConnectionPolicy,
    /// How exactly intended starts are kept, and at what price in CPU.
    pub pacing: Pacing,
    /// The longest that an exchange may take, from the start of its connection attempt (or its first byte, on an
    /// open connection) to the last byte of its answer. A step may have its own.
    pub timeout: Duration,
}

/// Where the load goes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// The value of the `Host` field, such as `example.com` or `127.0.0.1:8080`.
    pub authority: String,
    /// Addresses to connect to; virtual users are spread over them round robin. At least one.
    pub addresses: Vec<SocketAddr>,
}

/// One exchange of an iteration. A redirect is an answer like any other; it is not followed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// What reports call it; unique within the plan.
    pub name: String,
    /// The request method, such as `GET`.
    pub method: String,
    /// The request target in origin form, such as `/search?q=x`.
    pub path: String,
    /// Further fields, sent in this order. `Host` here replaces the target's authority.
    #[serde(default)]
    pub headers: Vec<(String, String)>,
    /// The request body; base64 in JSON.
    #[serde(default, with = "base64_bytes")]
    pub body: Vec<u8>,
    /// Replaces [`Plan::timeout`] for this step.
    #[serde(default)]
    pub timeout: Option<Duration>,
    /// Waited after the end of the step before; the step's intended start is at the end of it. Ignored on the first step.
    #[serde(default)]
    pub pause: Duration,
    /// What an answer must satisfy.
    #[serde(default)]
    pub check: Check,
}

/// Predicates on one answer; an exchange passes when all hold.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// The permitted statuses. `None`: anything below 400, and nothing is counted as a check.
    #[serde(default)]
    pub status: Option<Vec<u16>>,
}

/// How many iterations start, and when.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Load {
    /// Arrivals come when the profile says, whether earlier ones have ended or not.
    Open {
        /// When arrivals come.
        profile: Profile,
        /// Virtual users, each with one connection at a time.
        connections: u32,
        /// How many arrivals may wait for an idle virtual user, over all shards; one more is dropped and counted.
        queue: u32,
    },
    /// Each of a number of virtual users starts its next iteration when its last one ended.
    Closed {
        /// Virtual users, each with one connection at a time.
        users: u32,
        /// From the end of an iteration to the intended start of the user's next one. First iterations are spread over one think time.
        think: Duration,
    },
}

/// Arrivals over the whole load, warm-up included; rates are iterations per second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Profile {
    /// Evenly spaced.
    Constant {
        /// Iterations per second.
        rate: f64,
    },
    /// Exponential gaps with this mean rate.
    Poisson {
        /// Mean iterations per second.
        rate: f64,
    },
    /// From one rate to another, linearly.
    Ramp {
        /// Iterations per second at the start.
        from: f64,
        /// Iterations per second at the end.
        to: f64,
    },
    /// Levels of constant rate, each `step` above the one before.
    Staircase {
        /// Iterations per second of the first level.
        from: f64,
        /// Added from level to level; may be negative.
        step: f64,
        /// The length of a level.
        every: Duration,
    },
}

/// When a virtual user opens a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConnectionPolicy {
    /// Before its first exchange, and whenever the last connection cannot carry another.
    #[default]
    KeepAlive,
    /// Before every exchange, which asks the server to close it after.
    PerExchange,
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
        match self.load {
            Load::Open { connections, .. } => connections,
            Load::Closed { users, .. } => users,
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
