//! A Redis server that may stand still, be full or be away: where it is, connections to it, and commands that are carried out now or never.
//!
//! # Floors
//!
//! A module needs those on the floors below, and on its own floor those to its right.
//!
//! ```text
//! conf fence       where the server is; what is carried out now or never
//! connection       which waits for a silent server once a request
//! ```

mod conf;
mod connection;
mod fence;
#[cfg(test)]
mod rig;

pub use conf::{OPEN_PASSWORD, RedisConf};
pub use connection::{Connection, is_full, was_answered};
pub use fence::{Answers, Fence, WhenFull};
