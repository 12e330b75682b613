//! The mock: an upstream that serves WireMock stub mappings, with delays that hold no thread, and counts what it did.
//!
//! [`run`] serves until told to stop; [`validate`] says what of a stub directory is supported. What is not supported is refused by
//! name: nothing of a mapping is half-accepted. Arguments, signals and exit codes are left to the binary.
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
mod answer;
mod body_files;
mod budget;
mod builtins;
mod clock;
mod config;
mod connection;
mod content;
mod content_type;
mod cors;
mod date_time;
mod delay;
mod delay_timer;
mod delivery;
mod differences;
mod edit_distance;
mod entrances;
mod error;
mod exchange;
#[cfg(test)]
mod features;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod http2;
mod java_date_format;
mod java_json;
mod java_regex;
mod java_set;
mod journal;
mod json;
mod json_equality;
mod json_path;
mod kept_body;
mod latency_log;
mod matcher;
mod metrics;
mod misread;
mod multipart;
mod outgoing;
mod parameters;
mod path_template;
mod reader;
mod recording;
mod request;
mod run;
mod serve;
mod shard;
mod source;
mod static_files;
mod stub;
mod stub_id;
mod stub_set;
mod stub_state;
mod stubs;
mod surroundings;
mod targets;
mod template;
mod time_format;
mod validate;
mod webhooks;
mod xml;

pub use config::{AdminAccess, Builtins, Credentials, Https, MockConfig, Timeouts};
pub use delay::DelayPrecision;
pub use error::MockError;
pub use journal::JournalLimits;
pub use outgoing::{OutgoingConfig, TargetTrust, Verification};
pub use reader::problem::{FileProblem, ProblemKind, StubProblem};
pub use recording::Recordings;
pub use run::{Summary, run};
pub use stub::proxy::{HostField, UserAgentField};
pub use surroundings::Templating;
pub use targets::Targets;
pub use validate::{Report, validate};
pub use webhooks::Webhooks;
