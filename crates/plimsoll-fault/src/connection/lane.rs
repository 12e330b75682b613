//! One direction of one connection: from its sender through the toxics to its receiver.

use crate::direction::Direction;
use crate::passage::{Content, Item, Lateness, Next, Passage, Queue, Stage};
use crate::toxic::{Toxic, Toxics};
use plimsoll_base::random::{Draw, Stream};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Pieces that may wait to be written.
const OUT_ROOM: usize = 1;

/// The way of one direction.
#[derive(Debug)]
pub struct Lane {
    direction: Direction,
    slots: Vec<Slot>,
    /// Pieces that have passed all toxics and wait to be written.
    pub out: Queue,
    /// The sender has ended, so nothing more is read.
    pub ended: bool,
    /// The receiver has got the end, so nothing more is written.
    pub finished: bool,
    /// The receiver is gone: what arrives for it is dropped.
    pub deaf: bool,
    /// The sender has reset the connection, which was seen when something was written to it: its end is no clean one.
    pub is_reset: bool,
    /// Of pieces that toxics held, since it was last taken.
    pub lateness: Lateness,
    /// So much comes that it is moved without a copy, where no toxic looks at it.
    pub is_bulk: bool,
}

/// A toxic of a lane.
#[derive(Debug)]
struct Slot {
    toxic: Arc<Toxic>,
    /// Its place among connections, from 0 to 1: it works if this is below its toxicity.
    place: f64,
    stage: Box<dyn Stage>,
    draw: Draw,
    /// Pieces that wait before it.
    queue: Queue,
    /// It has ended the direction: what still comes is dropped.
    ended: bool,
}

impl Slot {
    fn new(toxic: &Arc<Toxic>, key: Key<'_>, now: Instant) -> Self {
        let mut draw = key.draw(toxic);
        Self {
            place: draw.unit(),
            stage: toxic.effect.stage(now),
            toxic: Arc::clone(toxic),
            draw,
            queue: Queue::default(),
            ended: false,
        }
    }

    fn works(&self) -> bool {
        self.place < f64::from(self.toxic.toxicity)
    }

    /// Takes over the attributes and the toxicity that its toxic has now.
    fn update(&mut self, toxic: &Arc<Toxic>, now: Instant) {
        let worked = self.works();
        self.toxic = Arc::clone(toxic);
        match worked {
            true => self.stage.update(&toxic.effect.values()),
            false => self.stage = toxic.effect.stage(now),
        }
    }

    fn room(&self) -> usize {
        match self.works() {
            true => self.toxic.effect.room(),
            false => 1,
        }
    }
}

/// From which random values of a connection follow: the same seed, proxy, connection and toxic give the same ones.
#[derive(Debug, Clone, Copy)]
pub struct Key<'a> {
    /// The seed of all.
    pub seed: u64,
    /// The name of the proxy.
    pub proxy: &'a str,
    /// Which of its connections this is.
    pub connection: u64,
}

impl Key<'_> {
    fn draw(self, toxic: &Toxic) -> Draw {
        // Its keys are fixed, so it gives the same on every run.
        let mut hasher = DefaultHasher::new();
        (self.proxy, &toxic.name, toxic.turn).hash(&mut hasher);
        let seed = self.seed ^ hasher.finish();
        Draw::new(seed, Stream::Toxics, self.connection)
    }
}

impl Lane {
    /// The way of `direction` through these toxics.
    pub fn new(direction: Direction, toxics: &Toxics, key: Key<'_>, now: Instant) -> Self {
        let slots = toxics.of(direction).iter();
        Self {
            direction,
            slots: slots.map(|toxic| Slot::new(toxic, key, now)).collect(),
            out: Queue::default(),
            ended: false,
            finished: false,
            deaf: false,
            is_reset: false,
            lateness: Lateness::default(),
            is_bulk: false,
        }
    }

    /// Leads through other toxics from now on. What waited before one that is gone goes on at once, in its order; if that one had
    /// dropped bytes, the connection is cut.
    pub fn change(&mut self, toxics: &Toxics, key: Key<'_>, now: Instant) {
        let chain = toxics.of(self.direction);
        let mut kept: Vec<Slot> = Vec::with_capacity(chain.len());
        // From the last, so that what is further on stays ahead.
        for mut slot in std::mem::take(&mut self.slots).into_iter().rev() {
            match chain.iter().find(|toxic| toxic.turn == slot.toxic.turn) {
                Some(toxic) => {
                    slot.update(toxic, now);
                    kept.push(slot);
                }
                None => {
                    let next = match kept.last_mut() {
                        Some(next) => &mut next.queue,
                        None => &mut self.out,
                    };
                    if slot.works() && slot.toxic.effect.reach().closes_when_removed {
                        next.push(Item {
                            arrived: now,
                            content: Content::Cut,
                        });
                    }
                    next.append(&mut slot.queue);
                }
            }
        }
        kept.reverse();
        for toxic in &chain[kept.len()..] {
            kept.push(Slot::new(toxic, key, now));
        }
        self.slots = kept;
    }

    /// Whether bytes go from sender to receiver without any toxic, and none waits.
    pub fn is_clear(&self) -> bool {
        self.slots.is_empty() && self.out.is_empty()
    }

    /// Whether another piece may be read.
    pub fn has_room(&self) -> bool {
        match self.slots.first() {
            Some(first) => first.queue.len() < first.room(),
            None => self.out.len() < OUT_ROOM,
        }
    }

    /// Whether a toxic at work decides when a client is let go of whose server cannot be reached.
    pub fn holds_clients(&self) -> bool {
        let holds = |slot: &Slot| slot.works() && slot.toxic.effect.reach().holds_clients;
        self.slots.iter().any(holds)
    }

    /// How much later the connection to the server is made.
    pub fn connect_delay(&self) -> Duration {
        let working = self.slots.iter().filter(|slot| slot.works());
        working
            .map(|slot| slot.toxic.effect.reach().connect_delay)
            .sum()
    }

    /// Takes a piece in.
    pub fn push(&mut self, item: Item) {
        match self.slots.first_mut() {
            Some(first) => first.queue.push(item),
            None => self.out.push(item),
        }
    }

    /// Moves everything as far as it may go at this moment; when something more may, if time alone will tell.
    pub fn advance(&mut self, now: Instant) -> Option<Instant> {
        loop {
            let mut wake = None;
            let mut moved = false;
            for index in 0..self.slots.len() {
                let waiting = self.waiting_after(index);
                if let Some(due) = self.advance_slot(index, now) {
                    wake = Some(wake.map_or(due, |wake: Instant| wake.min(due)));
                }
                moved |= self.waiting_after(index) != waiting;
            }
            if !moved {
                return wake;
            }
        }
    }

    /// How many pieces wait after a slot.
    fn waiting_after(&self, index: usize) -> usize {
        let next = self.slots.get(index + 1);
        next.map_or(self.out.len(), |next| next.queue.len())
    }

    fn advance_slot(&mut self, index: usize, now: Instant) -> Option<Instant> {
        let (before, after) = self.slots.split_at_mut(index + 1);
        let slot = &mut before[index];
        let works = slot.works();
        let (next, room) = match after.first_mut() {
            Some(next) => {
                let room = next.room();
                (&mut next.queue, room)
            }
            None => (&mut self.out, OUT_ROOM),
        };
        let mut passage = Passage {
            now,
            queue: &mut slot.queue,
            next,
            room,
            draw: &mut slot.draw,
            lateness: &mut self.lateness,
        };
        if slot.ended {
            passage.queue.clear();
            return None;
        }
        if !works {
            passage.let_all_go();
            return None;
        }
        match slot.stage.advance(&mut passage) {
            Next::Idle => None,
            Next::At(due) => Some(due),
            Next::Ended => {
                slot.ended = true;
                None
            }
        }
    }
}
