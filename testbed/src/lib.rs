//! What a program stands on that drives the real executable and measures: children that do not stay behind, the clock, being asked
//! to stop, what the host is and whether it stood still. The calibration and the benchmarks use it; no crate of the product does.

pub mod announcement;
pub mod child;
pub mod clock;
pub mod executable;
pub mod host;
pub mod interrupt;
pub mod limits;
pub mod process;
pub mod terminal;
mod trouble;
pub mod witness;

pub use trouble::Trouble;
