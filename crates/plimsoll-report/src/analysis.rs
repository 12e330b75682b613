//! Analysis of a load: how the target bore it, what gave way first, and what published figures say by arithmetic alone.

pub mod bearing;
pub mod bottleneck;
pub mod diagnosis;
