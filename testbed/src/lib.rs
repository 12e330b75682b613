//! What a program stands on that drives the real executable and measures: children that do not stay behind, the clock, being asked
//! to stop, what the host is and whether it stood still; certificates, nginx, PostgreSQL and Redis as peers. The calibration, the benchmarks and the crates'
//! tests use it; nothing of it is in the product.

pub mod announcement;
pub mod authority;
pub mod child;
pub mod clock;
mod error;
pub mod executable;
pub mod host;
pub mod interrupt;
pub mod limits;
pub mod nginx;
pub mod postgresql;
pub mod process;
pub mod redis;
pub mod terminal;
pub mod tls_server;
pub mod witness;

pub use error::Error;
