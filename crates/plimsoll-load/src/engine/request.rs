//! The bytes of a step's request, written once and sent as often as the plan says.

use crate::clock::{Nanos, nanos};
use crate::plan::{ConnectionPolicy, Plan, Step};
use plimsoll_http::encode;

/// Methods for which a request without a body states that it has none (RFC 9110, section 8.6).
const EXPECT_BODY: [&str; 3] = ["POST", "PUT", "PATCH"];
/// What the generator calls itself.
const USER_AGENT: &str = concat!("plimsoll/", env!("CARGO_PKG_VERSION"));

/// One step, ready to be carried out.
#[derive(Debug)]
pub(super) struct Prepared {
    /// Head and body.
    pub(super) bytes: Vec<u8>,
    /// Whether the answer has no body, whatever its fields say.
    pub(super) is_head: bool,
    /// The longest that the exchange may take.
    pub(super) timeout: Nanos,
    /// Waited before it, unless it is the first.
    pub(super) pause: Nanos,
    /// The statuses that its check permits.
    pub(super) statuses: Option<Vec<u16>>,
}

/// Prepares one step of a checked plan.
pub(super) fn prepare(plan: &Plan, step: &Step) -> Prepared {
    let given = |name: &str| {
        step.headers
            .iter()
            .any(|(n, _)| n.eq_ignore_ascii_case(name))
    };
    let mut bytes = Vec::new();
    encode::request_line(&mut bytes, &step.method, &step.path);
    if !given("host") {
        encode::field(&mut bytes, "Host", &plan.target.authority);
    }
    if !given("user-agent") {
        encode::field(&mut bytes, "User-Agent", USER_AGENT);
    }
    for (name, value) in &step.headers {
        encode::field(&mut bytes, name, value);
    }
    if !step.body.is_empty() || EXPECT_BODY.contains(&step.method.as_str()) {
        encode::content_length(&mut bytes, step.body.len() as u64);
    }
    if plan.connections == ConnectionPolicy::PerExchange {
        encode::field(&mut bytes, "Connection", "close");
    }
    encode::end_head(&mut bytes);
    bytes.extend_from_slice(&step.body);
    Prepared {
        bytes,
        is_head: step.method == "HEAD",
        timeout: nanos(step.timeout.unwrap_or(plan.timeout)),
        pause: nanos(step.pause),
        statuses: step.check.status.clone(),
    }
}
