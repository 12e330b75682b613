//! Fewer connections than an arm's load takes, and the key that says how many there may be.

use plimsoll_load::plan::Load;

use super::Arm;

/// Fewer connections than a load takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TooFewConnections {
    /// How many there are at most.
    pub most: u32,
    /// The text to write instead, as `load: { connections: 40 }`.
    pub write: String,
}

impl Arm {
    /// That its load needs more connections than it may have; `None` where there are enough, or users instead of arrivals.
    #[must_use]
    pub fn too_few_connections(&self, needed: u64) -> Option<TooFewConnections> {
        let Load::Open {
            connections,
            grow_to,
            ..
        } = self.settings.load
        else {
            return None;
        };
        let write = match grow_to == connections {
            true => format!("load: {{ connections: {needed} }}"),
            false => format!("load: {{ when_busy: {{ grow: {needed} }} }}"),
        };
        (u64::from(grow_to) < needed).then_some(TooFewConnections {
            most: grow_to,
            write,
        })
    }
}
