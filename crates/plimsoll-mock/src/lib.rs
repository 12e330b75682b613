//! The mock: an upstream that serves WireMock stub mappings, with delays that hold no thread, and counts what it did.
//!
//! [`run`] serves until told to stop; [`validate`] says what of a stub directory is supported. What is not supported is refused by
//! name: nothing of a mapping is half-accepted. Arguments, signals and exit codes are left to the binary.
//!
//! Its modules by floors. None uses one of a floor above its own, and no two need each other:
//!
//! | floor | modules |
//! |---|---|
//! | a mock from its start to its end | `run` |
//! | clients and what they are told, and what is sent after that | `serve` |
//! | the admin API | `admin` |
//! | what the mock is told, and answers of itself | `config`, `builtins` |
//! | the mappings that are served, where they are read from, and those that recordings make | `mappings` |
//! | what is remembered of requests | `records` |
//! | what the mock itself sends, what it keeps of bodies, why it does not start | `outgoing`, `kept_body`, `error` |
//!
//! Differences from WireMock 3.13.2 that are meant:
//! - answers are framed by `Content-Length` and never chunked; a stub's `Transfer-Encoding: chunked` is dropped and a
//!   `Content-Length` that is not the body's is refused;
//! - the admin API is for loopback unless configured otherwise; removing a stub removes no file but the one that it was saved to;
//! - the journal is bounded: what it drops is counted;
//! - files are read in the order of their paths, and two mappings with one id are refused;
//! - what WireMock takes and does something surprising with is refused: a status below 200, a negative delay, `upper` below `lower`;
//! - what docs/mock.md lists, which `tests/wiremock.rs` holds against the real WireMock.

mod admin;
mod builtins;
mod config;
mod error;
#[cfg(test)]
mod features;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod kept_body;
mod mappings;
mod outgoing;
mod records;
mod run;
mod serve;

pub use config::{AdminAccess, Builtins, Credentials, Https, MockConfig, Timeouts};
pub use error::MockError;
pub use mappings::recording::Recordings;
pub use mappings::validate::{Report, validate};
pub use outgoing::{OutgoingConfig, TargetTrust, Verification};
pub use plimsoll_wiremock::reader::problem::{FileProblem, ProblemKind, StubProblem};
pub use plimsoll_wiremock::reader::surroundings::Templating;
pub use plimsoll_wiremock::reader::targets::Targets;
pub use plimsoll_wiremock::response::delay::DelayPrecision;
pub use plimsoll_wiremock::stub::proxy::{HostField, UserAgentField};
pub use records::journal::JournalLimits;
pub use run::{Summary, run};
pub use serve::webhooks::Webhooks;
