//! Which iteration values are made for.

/// Which iteration of whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Iteration {
    /// The user's number among all, from 0.
    pub(crate) user: u64,
    /// How many the user carried out before.
    pub(crate) count: u64,
    /// Its number among all iterations of its scenario: the same whatever the number of shards.
    pub(crate) number: u64,
}
