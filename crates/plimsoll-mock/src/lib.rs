//! The mock: an upstream that serves WireMock stub mappings, with delays that hold no thread, and counts what it did.
//!
//! [`run`] serves until told to stop; [`validate`] says what of a stub directory is supported. What is not supported is refused by
//! name: nothing of a mapping is half-accepted. Arguments, signals and exit codes are left to the binary.
//!
//! Its modules by floors. None uses one of a floor above its own, and no two need each other:
//!
//! | floor | modules |
//! |---|---|
//! | a mock from its start to its end | `run`, `validate` |
//! | clients and what they are told | `serve`, `connection`, `http2`, `exchange`, `static_files` |
//! | what serving holds | `shard`, `listeners`, `delay_timer` |
//! | the admin API | `admin` |
//! | what the mock is told, answers of itself, makes of answers and sends after them | `config`, `builtins`, `recording`, `webhooks` |
//! | what is remembered of requests | `journal`, `metrics`, `latency_log` |
//! | the mappings that are served, and where they are read from | `stubs`, `source` |
//! | what the mock itself sends, what it keeps of bodies, fields for pages of other origins | `outgoing`, `kept_body`, `cors`, `error` |
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
mod connection;
mod cors;
mod delay_timer;
mod error;
mod exchange;
#[cfg(test)]
mod features;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod http2;
mod journal;
mod kept_body;
mod latency_log;
mod metrics;
mod outgoing;
mod recording;
mod run;
mod serve;
mod shard;
mod source;
mod static_files;
mod stubs;
mod validate;
mod webhooks;

pub use config::{AdminAccess, Builtins, Credentials, Https, MockConfig, Timeouts};
pub use error::MockError;
pub use journal::JournalLimits;
pub use outgoing::{OutgoingConfig, TargetTrust, Verification};
pub use plimsoll_wiremock::delay::DelayPrecision;
pub use plimsoll_wiremock::reader::problem::{FileProblem, ProblemKind, StubProblem};
pub use plimsoll_wiremock::stub::proxy::{HostField, UserAgentField};
pub use plimsoll_wiremock::surroundings::Templating;
pub use plimsoll_wiremock::targets::Targets;
pub use recording::Recordings;
pub use run::{Summary, run};
pub use validate::{Report, validate};
pub use webhooks::Webhooks;
