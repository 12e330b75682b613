//! The ground under programs that drive the real executable and measure: children that do not stay behind, the clock, being asked to
//! stop, facts of the host and a witness of its stalls; certificates, nginx, PostgreSQL and Redis as peers; and the [`runner`], which
//! carries out a run from its arguments to its dated table. The calibration, the benchmarks and the crates' tests use it; nothing of it
//! is in the product.

pub mod announcement;
pub mod authority;
pub mod child;
pub mod clock;
pub mod committed;
mod error;
pub mod executable;
pub mod host;
pub mod http;
pub mod interrupt;
pub mod limits;
pub mod messages;
pub mod peers;
pub mod port;
pub mod process;
pub mod runner;
pub mod sizes;
pub mod terminal;
pub mod wait;
pub mod witness;

pub use error::Error;
pub use wait::Wait;
