//! Toxics: their types, one file each, and what all types have in common.

mod bandwidth;
mod connect_delay;
mod corrupt;
mod delay;
mod latency;
mod limit_data;
mod noop;
mod refuse;
mod reset_peer;
mod silence;
mod slicer;
mod slow_close;
mod timeout;

use crate::direction::Direction;
use crate::passage::{Next, Passage, Stage};
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// A type of toxics: its attributes, and what it does to bytes. All attributes are whole numbers, 0 unless given.
trait Kind: Debug + Default + Clone + Send + Sync + 'static {
    /// Its name in the API.
    const NAME: &'static str;
    /// Pieces that may wait before it; each is at most 32 KiB.
    const ROOM: usize = 1;
    /// The state that it keeps for one direction of one connection.
    type State: Debug;

    /// Its attributes by their names; none unless it has some.
    fn attributes(&mut self) -> Vec<(&'static str, &mut i64)> {
        Vec::new()
    }

    /// The state when it begins to work on a connection.
    fn begin(&self, now: Instant) -> Self::State;

    /// Lets go on what may: everything, unless it does something to bytes.
    fn advance(&self, _: &mut Self::State, passage: &mut Passage<'_>) -> Next {
        passage.let_all_go();
        Next::Idle
    }

    /// Beyond the bytes of open connections.
    fn reach(&self) -> Reach {
        Reach::default()
    }
}

/// Effects of a toxic beyond delaying and dropping bytes of open connections.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reach {
    /// Removing it closes connections, because bytes of theirs are gone.
    pub closes_when_removed: bool,
    /// A client is kept although its server cannot be reached, because this decides when it is let go of.
    pub holds_clients: bool,
    /// The connection to the server is made so much later.
    pub connect_delay: Duration,
    /// The proxy listens no more, and its connections are reset.
    pub refuses: bool,
}

/// A type of toxics with its attributes.
pub trait Effect: Debug + Send + Sync {
    /// The name of the type in the API.
    fn type_name(&self) -> &'static str;
    /// The attributes.
    fn values(&self) -> Vec<(&'static str, i64)>;
    /// Changes an attribute; whether there is one of this name, in any case.
    fn set(&mut self, name: &str, value: i64) -> bool;
    /// A copy.
    fn copy(&self) -> Box<dyn Effect>;
    /// Pieces that may wait before it.
    fn room(&self) -> usize;
    /// A stage that does its work.
    fn stage(&self, now: Instant) -> Box<dyn Stage>;
    /// See [`Reach`].
    fn reach(&self) -> Reach;
}

impl<K: Kind> Effect for K {
    fn type_name(&self) -> &'static str {
        K::NAME
    }

    fn values(&self) -> Vec<(&'static str, i64)> {
        let mut copy = self.clone();
        let attributes = copy.attributes().into_iter();
        attributes.map(|(name, value)| (name, *value)).collect()
    }

    fn set(&mut self, name: &str, value: i64) -> bool {
        let mut attributes = self.attributes().into_iter();
        let named = attributes.find(|(known, _)| known.eq_ignore_ascii_case(name));
        named.map(|(_, place)| *place = value).is_some()
    }

    fn copy(&self) -> Box<dyn Effect> {
        Box::new(self.clone())
    }

    fn room(&self) -> usize {
        K::ROOM
    }

    fn stage(&self, now: Instant) -> Box<dyn Stage> {
        Box::new(Working {
            kind: self.clone(),
            state: self.begin(now),
        })
    }

    fn reach(&self) -> Reach {
        Kind::reach(self)
    }
}

/// A type at work.
#[derive(Debug)]
struct Working<K: Kind> {
    kind: K,
    state: K::State,
}

impl<K: Kind> Stage for Working<K> {
    fn advance(&mut self, passage: &mut Passage<'_>) -> Next {
        self.kind.advance(&mut self.state, passage)
    }

    fn update(&mut self, attributes: &[(&'static str, i64)]) {
        for (name, value) in attributes {
            self.kind.set(name, *value);
        }
    }
}

/// A type of this name with all attributes at 0.
pub fn effect(type_name: &str) -> Option<Box<dyn Effect>> {
    let types: [Box<dyn Effect>; 13] = [
        Box::new(bandwidth::Bandwidth::default()),
        Box::new(connect_delay::ConnectDelay::default()),
        Box::new(corrupt::Corrupt::default()),
        Box::new(delay::Delay::default()),
        Box::new(latency::Latency::default()),
        Box::new(limit_data::LimitData::default()),
        Box::new(noop::Noop),
        Box::new(refuse::Refuse),
        Box::new(reset_peer::ResetPeer::default()),
        Box::new(silence::Silence),
        Box::new(slicer::Slicer::default()),
        Box::new(slow_close::SlowClose::default()),
        Box::new(timeout::Timeout::default()),
    ];
    let mut types = types.into_iter();
    types.find(|known| known.type_name() == type_name)
}

/// A toxic of a proxy.
#[derive(Debug)]
pub struct Toxic {
    /// Its name, one of its proxy's.
    pub name: String,
    /// The direction as the client of the API wrote it.
    pub stream: String,
    /// The direction.
    pub direction: Direction,
    /// The share of connections on which it works.
    pub toxicity: f32,
    /// Its work.
    pub effect: Box<dyn Effect>,
    /// Which of the toxics that its proxy has had this is.
    pub turn: u64,
}

/// The toxics of a proxy.
#[derive(Debug, Default)]
pub struct Toxics {
    /// Upstream and downstream ones, each in the order in which bytes pass them.
    pub chains: [Vec<Arc<Toxic>>; 2],
}

impl Toxics {
    /// Those of one direction.
    pub fn of(&self, direction: Direction) -> &[Arc<Toxic>] {
        &self.chains[direction as usize]
    }

    /// All, the upstream ones first.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Toxic>> {
        self.chains.iter().flatten()
    }

    /// Whether one of them keeps the proxy from listening.
    pub fn refuse(&self) -> bool {
        self.iter().any(|toxic| toxic.effect.reach().refuses)
    }
}

/// Some milliseconds, at least none.
fn milliseconds(count: i64) -> Duration {
    Duration::from_millis(u64::try_from(count).unwrap_or(0))
}
