//! Parts of a response that need no request: its bytes, how long it is held back, how it goes out.

pub mod answer;
pub mod delay;
pub mod delivery;
