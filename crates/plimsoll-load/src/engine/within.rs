//! A user's wait that has a deadline.

use super::shard_state::ShardState;
use crate::clock::Nanos;
use pin_project_lite::pin_project;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

impl ShardState {
    /// The result of `work` for the user in this place, or `None` when `until` passes first.
    pub(super) fn within<F: Future>(&self, user: usize, until: Nanos, work: F) -> Within<'_, F> {
        Within {
            shard_state: self,
            user,
            until,
            is_set: false,
            work,
        }
    }
}

pin_project! {
    /// See [`ShardState::within`]. A type of its own, because an `async fn` keeps its arguments twice, and every user holds one of these.
    pub(super) struct Within<'a, F> {
        shard_state: &'a ShardState,
        user: usize,
        until: Nanos,
        is_set: bool,
        #[pin]
        work: F,
    }
}

impl<F: Future> Future for Within<'_, F> {
    type Output = Option<F::Output>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if let Poll::Ready(result) = this.work.poll(context) {
            if *this.is_set {
                this.shard_state.deadlines.clear(*this.user);
            }
            return Poll::Ready(Some(result));
        }
        if *this.is_set {
            return this
                .shard_state
                .deadlines
                .poll_passed(*this.user)
                .map(|()| None);
        }
        *this.is_set = true;
        this.shard_state.deadline(*this.user, *this.until, context);
        Poll::Pending
    }
}
