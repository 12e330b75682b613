//! Holding requests back while their client's data moves to another shard: they go on when a later map has ended the move.

use crate::answer::Answer;
use crate::shard::Shard;
use std::cell::Cell;
use std::time::Duration;
use tokio::time::Instant;

/// Requests of one shard that may be held at a time; a further one is answered at once.
const HELD: u32 = 1000;

/// How many requests of a shard are held.
#[derive(Debug, Default)]
pub(crate) struct Held(Cell<u32>);

/// A place among them, until it is dropped.
struct Place<'a>(&'a Cell<u32>);

impl Held {
    fn place(&self) -> Option<Place<'_>> {
        let held = self.0.get();
        (held < HELD).then(|| {
            self.0.set(held + 1);
            Place(&self.0)
        })
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u32 {
        self.0.get()
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

/// Waits for a generation after this one, until `deadline`. Says whether it came.
pub(super) async fn next_generation(shard: &Shard, number: u64, deadline: Instant) -> bool {
    let Some(_place) = shard.held.place() else {
        return false;
    };
    let comes = async {
        loop {
            let changed = shard.changed.notified();
            if shard.current().number != number {
                return;
            }
            changed.await;
        }
    };
    tokio::time::timeout_at(deadline, comes).await.is_ok()
}

/// What a client is told whose request was held for as long as it may be.
pub(super) fn answer(longest: Duration) -> Answer {
    let waited = longest.as_secs();
    Answer::new(
        503,
        format!("your data is moving to another shard, and has been for {waited} s: try again"),
    )
    .with_field("Retry-After", "1".to_owned())
}
