//! The account of what a user has begun, which is settled even where the user is stopped in the middle of it.

use crate::clock::Nanos;
use crate::engine::shard_state::ShardState;
use crate::results::recorder::Side;

/// An iteration or exchange that was begun; unless it is concluded, its end is that we aborted it.
pub(super) struct Begun<'a> {
    pub(super) shard_state: &'a ShardState,
    pub(super) side: Side,
    /// `None` for the iteration itself.
    step: Option<usize>,
    /// When it should have begun.
    pub(super) intended: Nanos,
    /// When it did.
    pub(super) released: Nanos,
    concluded: bool,
}

impl<'a> Begun<'a> {
    /// An exchange of this step, or an iteration, that should have begun at `intended` and did at `released`.
    pub(super) fn new(
        shard_state: &'a ShardState,
        side: Side,
        step: Option<usize>,
        intended: Nanos,
        released: Nanos,
    ) -> Self {
        Self {
            shard_state,
            side,
            step,
            intended,
            released,
            concluded: false,
        }
    }

    /// It has ended by itself. A method, so that an async block that calls it holds all of it, and not a copy of the one field.
    pub(super) fn conclude(&mut self) {
        self.concluded = true;
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        if self.concluded {
            return;
        }
        let response = self.shard_state.clock.now().saturating_sub(self.intended);
        let mut recorder = self.shard_state.recorder();
        match self.step {
            Some(step) => {
                let late = self.released.saturating_sub(self.intended);
                recorder.aborted(self.side, step, (self.intended, late, response));
            }
            None => recorder.iterated(self.side, None),
        }
    }
}
