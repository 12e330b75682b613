//! Account of a proxy: bytes, connections, and turns of its conversations, without looking into any protocol.

use crate::direction::Direction;
use crate::passage::Lateness;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::Instant;

/// Counts of one proxy on one shard, which alone writes them.
#[derive(Debug, Default)]
pub struct Account {
    /// Connections accepted.
    pub connections: Count,
    /// Connections that are open.
    pub open: Count,
    /// Connections to the server that could not be made.
    pub unreachable: Count,
    /// Connections of clients that were closed at once, because there were too many.
    pub turned_away: Count,
    /// Connections that were reset, whoever did it.
    pub resets: Count,
    /// Turns: bytes of the client that came after bytes of the server, or first.
    pub turns: Count,
    /// Turns that the server has answered.
    pub answered: Count,
    /// The time in all, in nanoseconds, from the last bytes of a turn to the first back.
    pub turn_nanos: Count,
    /// Pieces that a toxic held until a moment.
    pub held: Count,
    /// How much later than that moment they went on, in all, in nanoseconds.
    pub late_nanos: Count,
    received: [Count; 2],
    sent: [Count; 2],
}

/// A count.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    /// Counts up.
    pub fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    /// Counts down by one.
    pub fn less(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    /// The count.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Account {
    /// Bytes that came from the sender of a direction.
    pub fn received(&self, direction: Direction) -> &Count {
        &self.received[direction as usize]
    }

    /// Bytes that went to the receiver of a direction.
    pub fn sent(&self, direction: Direction) -> &Count {
        &self.sent[direction as usize]
    }

    /// Pieces that toxics held.
    pub fn add_lateness(&self, lateness: Lateness) {
        if lateness.pieces > 0 {
            self.held.add(lateness.pieces);
            self.late_nanos.add(nanos(lateness.time));
        }
    }
}

/// Whose turn it is on one connection.
#[derive(Debug, Default)]
pub struct Turns {
    /// When the client's last bytes of this turn went to the server; none while the server speaks.
    asked: Option<Instant>,
}

impl Turns {
    /// Bytes go to the server.
    pub fn ask(&mut self, account: &Account) {
        if self.asked.is_none() {
            account.turns.add(1);
        }
        self.asked = Some(Instant::now());
    }

    /// Bytes came from the server.
    pub fn answer(&mut self, account: &Account) {
        if let Some(asked) = self.asked.take() {
            account.answered.add(1);
            account.turn_nanos.add(nanos(asked.elapsed()));
        }
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
