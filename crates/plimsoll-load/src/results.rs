//! Results of a load: counted and timed in each shard, added up second by second, and held against the clock.

pub(crate) mod collector;
pub mod exchange;
pub(crate) mod recorder;
pub(crate) mod watchdog;
