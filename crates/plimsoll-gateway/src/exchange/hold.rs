//! Holding requests back while their client's data moves to another shard: they go on when a later map has ended the move.

use crate::answering::answer::Answer;
use crate::shard::Shard;
use std::time::Duration;
use tokio::time::Instant;

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

/// Answer to a client whose request was held for as long as it may be.
pub(super) fn answer(longest: Duration) -> Answer {
    let waited = longest.as_secs();
    Answer::new(
        503,
        format!("your data is moving to another shard, and has been for {waited} s: try again"),
    )
    .with_field("Retry-After", "1".to_owned())
}
