//! Which properties readers have asked for, for the test that wants them documented.

use std::cell::RefCell;
use std::collections::BTreeSet;

thread_local! {
    static ASKED_FOR: RefCell<BTreeSet<&'static str>> = RefCell::default();
}

/// Notes properties that a reader knows.
pub(super) fn note(names: &[&'static str]) {
    ASKED_FOR.with_borrow_mut(|all| all.extend(names));
}

/// The properties that readers have asked for on this thread.
#[must_use]
pub fn names_asked_for() -> BTreeSet<&'static str> {
    ASKED_FOR.with_borrow(BTreeSet::clone)
}
