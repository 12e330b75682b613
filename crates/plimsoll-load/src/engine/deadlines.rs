//! The deadlines of a shard's users: a table of times, and no timer for each.
//!
//! Nearly every exchange ends long before its deadline. So setting one writes a number, and the pacer goes through the table when the
//! earliest that it knows of passes: once per deadline, not once per exchange. Pure but for the wakers: time comes in as an argument.

use crate::clock::Nanos;
use std::cell::{Cell, RefCell};
use std::task::{Context, Poll, Waker};

/// A deadline that is never reached: there is none.
const NONE: Nanos = Nanos::MAX;

/// The deadlines of a shard's users, by their places.
#[derive(Debug)]
pub(super) struct Deadlines {
    users: RefCell<Vec<UserDeadline>>,
    /// None that is set lies before this.
    earliest: Cell<Nanos>,
}

#[derive(Debug, Clone)]
struct UserDeadline {
    until: Nanos,
    passed: bool,
    waker: Option<Waker>,
}

impl Deadlines {
    /// None yet, of so many users.
    pub(super) fn of(users: usize) -> Self {
        let user = UserDeadline {
            until: NONE,
            passed: false,
            waker: None,
        };
        Self {
            users: RefCell::new(vec![user; users]),
            earliest: Cell::new(NONE),
        }
    }

    /// The user waits until then and no longer.
    pub(super) fn set(&self, user: usize, until: Nanos, context: &Context<'_>) {
        let user = &mut self.users.borrow_mut()[user];
        user.until = until;
        user.passed = false;
        let waker = user.waker.as_ref();
        if !waker.is_some_and(|waker| waker.will_wake(context.waker())) {
            user.waker = Some(context.waker().clone());
        }
        self.earliest.set(self.earliest.get().min(until));
    }

    /// The user waits no longer.
    pub(super) fn clear(&self, user: usize) {
        self.users.borrow_mut()[user].until = NONE;
    }

    /// Ready when the deadline that the user has set has passed.
    pub(super) fn poll_passed(&self, user: usize) -> Poll<()> {
        match self.users.borrow()[user].passed {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }

    /// None passes before this.
    pub(super) fn earliest(&self) -> Nanos {
        self.earliest.get()
    }

    /// Wakes the users whose deadlines have passed.
    pub(super) fn pass(&self, now: Nanos) {
        if now < self.earliest.get() {
            return;
        }
        let mut earliest = NONE;
        for user in self.users.borrow_mut().iter_mut() {
            if user.until <= now {
                user.until = NONE;
                user.passed = true;
                if let Some(waker) = &user.waker {
                    waker.wake_by_ref();
                }
            }
            earliest = earliest.min(user.until);
        }
        self.earliest.set(earliest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadlines_pass_in_time_and_those_that_are_cleared_never() {
        let deadlines = Deadlines::of(3);
        let context = Context::from_waker(Waker::noop());
        let passed = || [0, 1, 2].map(|user| deadlines.poll_passed(user).is_ready());
        assert_eq!(deadlines.earliest(), NONE);
        for (user, until) in [(0, 30), (1, 10), (2, 20)] {
            deadlines.set(user, until, &context);
        }
        deadlines.clear(1);
        deadlines.pass(9);
        assert_eq!((deadlines.earliest(), passed()), (10, [false; 3]));
        // What is cleared is noticed when it would have passed.
        deadlines.pass(10);
        assert_eq!((deadlines.earliest(), passed()), (20, [false; 3]));
        deadlines.pass(25);
        assert_eq!(passed(), [false, false, true]);
        deadlines.set(2, 27, &context);
        assert_eq!((deadlines.earliest(), passed()), (27, [false; 3]));
        deadlines.pass(30);
        assert_eq!(
            (deadlines.earliest(), passed()),
            (NONE, [true, false, true])
        );
    }
}
