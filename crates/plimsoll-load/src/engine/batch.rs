//! Arrivals that were released together: how far the generator had fallen behind its plan.

use crate::clock::Nanos;

/// Arrivals that were due and are released at once.
#[derive(Debug, Default)]
pub(super) struct Batch {
    released: u64,
    /// When the last of them was intended.
    last: Nanos,
    /// How many of them in a row were intended for one moment, so far.
    row: u64,
    /// The moment of that row.
    moment: Option<Nanos>,
    /// The longest of such rows.
    longest: u64,
}

impl Batch {
    /// One more of them; those of a scenario come in their order.
    pub(super) fn add(&mut self, intended: Nanos) {
        self.row = if self.moment == Some(intended) {
            self.row + 1
        } else {
            1
        };
        self.moment = Some(intended);
        self.longest = self.longest.max(self.row);
        self.last = self.last.max(intended);
        self.released += 1;
    }

    /// When the last was intended, and how many had piled up. Those that the plan itself has in one moment are no pile: they count as one.
    pub(super) fn pile(&self) -> Option<(Nanos, u64)> {
        (self.released > 0).then(|| (self.last, self.released - self.longest + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::{Batch, Nanos};

    #[test]
    fn what_the_plan_has_in_one_moment_is_no_pile() {
        let check = |intended: &[Nanos], expected: Option<(Nanos, u64)>| {
            let mut batch = Batch::default();
            for at in intended {
                batch.add(*at);
            }
            assert_eq!(batch.pile(), expected, "{intended:?}");
        };
        check(&[], None);
        check(&[7], Some((7, 1)));
        check(&[1, 2, 3], Some((3, 3)));
        check(&[5, 5, 5, 5], Some((5, 1)));
        check(&[1, 2, 5, 5, 5, 6], Some((6, 4)));
        // Of two scenarios.
        check(&[5, 5, 5, 4, 5], Some((5, 3)));
    }
}
