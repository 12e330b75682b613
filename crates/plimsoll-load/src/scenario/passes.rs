//! Passes through groups: which an iteration is in, and what it met there so far.

use crate::clock::Nanos;

/// The groups that an iteration is in, outermost first.
#[derive(Debug, Default)]
pub(crate) struct Passes(Vec<Pass>);

/// One pass through a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pass {
    /// Its place among the program's.
    pub(crate) group: usize,
    /// When it began.
    pub(crate) begun: Nanos,
    /// The response times of its exchanges, added up.
    pub(crate) response: Nanos,
    /// Whether an exchange of it failed.
    pub(crate) failed: bool,
}

impl Passes {
    /// None, with room for so many at once.
    pub(super) fn with_room(deepest: usize) -> Self {
        Self(Vec::with_capacity(deepest))
    }

    /// An iteration begins in none.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// A pass begins, within those that are under way.
    pub(crate) fn open(&mut self, group: usize, now: Nanos) {
        self.0.push(Pass {
            group,
            begun: now,
            response: 0,
            failed: false,
        });
    }

    /// The innermost pass is over; `None` where there is none.
    pub(crate) fn close(&mut self) -> Option<Pass> {
        self.0.pop()
    }

    /// An exchange ended: it belongs to every pass under way.
    pub(crate) fn exchanged(&mut self, response: Nanos, failed: bool) {
        for pass in &mut self.0 {
            pass.response = pass.response.saturating_add(response);
            pass.failed |= failed;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exchange_belongs_to_every_group_around_it() {
        let mut passes = Passes::with_room(2);
        passes.open(0, 10);
        passes.exchanged(1, false);
        passes.open(1, 20);
        passes.exchanged(2, true);
        let pass = |group, begun, response, failed| Pass {
            group,
            begun,
            response,
            failed,
        };
        assert_eq!(passes.close(), Some(pass(1, 20, 2, true)));
        passes.exchanged(4, false);
        assert_eq!(passes.close(), Some(pass(0, 10, 7, true)));
        assert_eq!(passes.close(), None);
    }
}
