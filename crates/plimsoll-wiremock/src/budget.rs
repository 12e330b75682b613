//! How much work one value may cause: steps that a search may take, in proportion to what is searched. What is beyond is given up, and whoever asked
//! is told so; nothing matches for being costly.

use std::cell::Cell;

/// Steps for any value: some hundred instructions each.
const ANY: u64 = 500_000;
/// Steps for each byte.
const EACH: u64 = 1;

/// Steps after which a match of a regular expression is given up. A match of ordinary patterns takes a few hundred.
pub const BACKTRACK_LIMIT: usize = 200_000;

/// How many short steps there are for each of the others.
const SHORT: u64 = 1;

/// Why an answer is not known: it was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TooCostly {
    /// Steps of expressions.
    #[error("a regular expression took more than {BACKTRACK_LIMIT} steps")]
    Regex,
    /// Bytes of text.
    #[error("the text is too long for a regular expression with look-around or back references")]
    Text,
    /// Steps of a path or a template.
    #[error("judging a value took more than {ANY} steps and one for each of its bytes")]
    Steps,
    /// Values that are made.
    #[error("a name has more values than may be held against its patterns")]
    Values,
    /// Edit distances.
    #[error("there are more distances to measure than one answer may take")]
    Distances,
    /// Parts of a body.
    #[error("a document has more parts than its size allows")]
    Parts,
}

/// Steps that are left.
#[derive(Debug)]
pub struct Budget {
    left: Cell<u64>,
}

impl Budget {
    /// For a search of so many bytes.
    pub fn for_bytes(bytes: usize) -> Self {
        Self {
            left: Cell::new(ANY + EACH * bytes as u64),
        }
    }

    /// Of so many steps.
    pub fn of(steps: usize) -> Self {
        Self {
            left: Cell::new(steps as u64),
        }
    }

    /// For steps of a few dozen instructions each.
    pub fn of_short_steps(bytes: usize) -> Self {
        Self {
            left: Cell::new(SHORT * (ANY + EACH * bytes as u64)),
        }
    }

    /// Takes steps; an error if there are not so many.
    pub fn spend(&self, steps: usize) -> Result<(), TooCostly> {
        match self.left.get().checked_sub(steps as u64) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => {
                self.left.set(0);
                Err(TooCostly::Steps)
            }
        }
    }

    /// Whether nothing is left.
    pub fn is_spent(&self) -> bool {
        self.left.get() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_grow_with_what_is_searched() {
        let check = |bytes: usize, steps: usize, expected| {
            let budget = Budget::for_bytes(bytes);
            assert_eq!(budget.spend(steps), expected, "{steps} of {bytes}");
            assert_eq!(budget.is_spent(), expected.is_err());
        };
        check(0, 499_999, Ok(()));
        check(0, 500_001, Err(TooCostly::Steps));
        check(10, 500_009, Ok(()));
        check(10, 500_011, Err(TooCostly::Steps));
    }
}
