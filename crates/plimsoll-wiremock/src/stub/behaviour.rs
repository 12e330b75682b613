//! Our additions to WireMock in a mapping's `metadata.plimsoll`: how a stub behaves as a service under load does. WireMock ignores metadata, so the
//! same file loads there.
//!
//! Each kind of behaviour is a file of its own; this one lists them. How an answer is sent is left to `delivery`.

mod alternatives;
mod rate_limit;
mod replay;
mod room;
mod slow_start;

use crate::reader::surroundings::Surroundings;
use crate::reader::{Node, Problems};
use crate::response::delivery::Delivery;
pub use alternatives::{Alternative, Alternatives};
use plimsoll_base::units;
pub use rate_limit::RateLimit;
pub use replay::Replay;
pub use room::Room;
pub use slow_start::SlowStart;
use std::time::Duration;

/// How a stub behaves, as its metadata say. Every part is shared by all shards.
#[derive(Debug, Clone, Default)]
pub struct Behaviour {
    /// `rateLimit`.
    pub rate_limit: Option<RateLimit>,
    /// `maxConcurrency`.
    pub room: Option<Room>,
    /// `slowStart`.
    pub slow_start: Option<SlowStart>,
    /// `replay`.
    pub replay: Option<Replay>,
    /// Other answers, by lot.
    pub alternatives: Option<Alternatives>,
    /// How the stub's own answer goes out, if not as its response says.
    pub delivery: Option<Delivery>,
}

impl Behaviour {
    /// Reads `metadata.plimsoll`.
    pub fn read(node: &Node<'_>, around: &Surroundings, problems: &mut Problems) -> Option<Self> {
        let mut object = node.object(problems)?;
        let rate_limit = object.get("rateLimit");
        let room = object.get("maxConcurrency");
        let slow_start = object.get("slowStart");
        let replay = object.get("replay");
        let behaviour = Self {
            rate_limit: rate_limit.and_then(|node| RateLimit::read(&node, problems)),
            room: room.and_then(|node| Room::read(&node, problems)),
            slow_start: slow_start.and_then(|node| SlowStart::read(&node, problems)),
            replay: replay.and_then(|node| Replay::read(&node, &around.files, problems)),
            alternatives: Alternatives::read(&mut object, around, problems),
            delivery: Delivery::read_extension(&mut object, problems),
        };
        object.finish(&[], problems);
        Some(behaviour)
    }
}

/// A time with a unit, more than none.
fn duration(node: &Node<'_>, problems: &mut Problems) -> Option<Duration> {
    let text = node.value.as_str().unwrap_or_default();
    match units::parse_duration(text) {
        Ok(duration) if !duration.is_zero() => Some(duration),
        _ => node.wrong("a time like \"250ms\" or \"30s\"", problems),
    }
}

/// A whole number, more than none.
fn count(node: &Node<'_>, problems: &mut Problems) -> Option<u32> {
    match node.integer(problems)? {
        count @ 1.. if let Ok(count) = u32::try_from(count) => Some(count),
        _ => node.wrong("a whole number from 1 to 4294967295", problems),
    }
}
