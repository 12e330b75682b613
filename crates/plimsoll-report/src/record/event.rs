//! The rows of `events.jsonl`: what happened when.

use serde::{Deserialize, Serialize};

/// Kind of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// The run began.
    RunStarted,
    /// A component's process was started.
    ComponentStarted,
    /// A component answered its readiness check.
    ComponentReady,
    /// A component was stopped on purpose.
    ComponentStopped,
    /// A component ended that was not meant to.
    ComponentDied,
    /// Load of an arm began, with its warm-up.
    WarmupStarted,
    /// The measured time of an arm began.
    MeasurementStarted,
    /// The measured time of an arm ended.
    MeasurementEnded,
    /// A fault was injected.
    FaultInjected,
    /// Its effect was proved.
    FaultProved,
    /// Its effect could not be proved.
    FaultNotProved,
    /// Nothing is left of it.
    FaultHealed,
    /// Something may be left of it.
    FaultNotHealed,
    /// Something the reader of the report should know.
    Warning,
    /// The run was interrupted.
    Interrupted,
    /// A threshold ended the run.
    Aborted,
    /// The run ended.
    RunEnded,
}

/// One event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EventRow {
    /// Seconds since the run began.
    pub t: f64,
    /// Kind of the event.
    pub kind: EventKind,
    /// One sentence for people.
    pub message: String,
    /// The component it concerns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub component: Option<String>,
    /// The arm under load at the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arm: Option<String>,
    /// The block at the time, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<u32>,
}
