//! The program of a virtual user's iteration, compiled once before the load.
//!
//! ```text
//! plan (names, text) --compile, once--> Program (numbered places, pieces) --with a user's Memory--> bytes of requests
//! ```
//!
//! A program is shared by all users of a process and never changes; all that a user remembers is in its [`Memory`]. Nothing here
//! does I/O; of clocks only `now()` reads one. When steps are carried out, and what their times are, is left to the engine.

mod answer;
mod check;
mod condition;
mod cookie;
mod decode;
mod extract;
mod feeder;
mod iteration;
mod memory;
mod passes;
mod path;
mod program;
mod request;
mod target;
mod value;

pub(crate) use answer::{Answer, Head};
pub(crate) use check::Redirects;
pub(crate) use decode::INSPECTED_BYTES;
pub(crate) use feeder::Feeder;
pub(crate) use iteration::Iteration;
pub(crate) use memory::Memory;
pub(crate) use passes::Pass;
pub(crate) use program::{Instruction, Program, USER_AGENT};
pub(crate) use request::{expects_body, is_constant};
pub(crate) use target::{Destination, Origin, resolve};
