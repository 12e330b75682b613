//! The account of what a user has begun, which is settled even where the user is stopped in the middle of it.

use crate::clock::Nanos;
use crate::engine::shard_state::ShardState;
use crate::results::recorder::Side;

/// An iteration or exchange that was begun; unless it is concluded, its end is that we aborted it.
pub(super) struct Begun<'a> {
    pub(super) shard_state: &'a ShardState,
    pub(super) side: Side,
    /// `None` for the iteration itself.
    pub(super) step: Option<usize>,
    /// When it should have begun.
    pub(super) intended: Nanos,
    /// When it did.
    pub(super) released: Nanos,
    pub(super) concluded: bool,
}

impl Begun<'_> {
    /// It has ended by itself. A method, so that whoever calls it holds all of it, and not the one field that it sets.
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
