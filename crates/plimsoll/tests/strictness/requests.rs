//! The server role: every request case, whole and in pieces, to our mock and to our gateway in front of it.

use crate::case::{Case, Topic, load};
use crate::exchange::{CANARY, Delivery, outcome, send};
use crate::ours::{Mock, PATIENCE, gateway, is_in_step};
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

/// The topics of the server role.
pub fn topics() -> Vec<Topic> {
    load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/strictness/cases/requests"))
}

/// Identity of a case among all topics.
pub fn key(topic: &Topic, case: &Case) -> String {
    format!("{}: {}", topic.title, case.name)
}

/// Behaviour of `server` with a case.
pub fn observe(server: SocketAddr, case: &Case, delivery: Delivery, patience: Duration) -> String {
    let mut bytes = case.message.clone();
    if !case.cut {
        bytes.extend_from_slice(CANARY.as_bytes());
    }
    let received = send(server, &bytes, case.cut, delivery, patience);
    outcome(received.as_deref(), case.message.starts_with(b"HEAD "))
}

/// Expected behaviour of the gateway.
pub fn gateway_expected(case: &Case) -> &str {
    case.more.get("gateway").unwrap_or(&case.expect)
}

#[test]
fn requests_are_refused_or_taken_as_the_table_says() {
    let mock = Mock::start();
    let gateway = gateway(mock.running.address);
    let mut problems = Vec::new();
    for case in topics().iter().flat_map(|topic| &topic.cases) {
        for delivery in [Delivery::Whole, Delivery::Pieces] {
            for (role, server, expected) in [
                ("mock", mock.running.address, case.expect.as_str()),
                ("gateway", gateway.address, gateway_expected(case)),
            ] {
                let before = mock.smuggled();
                let observed = observe(server, case, delivery, PATIENCE);
                if observed != expected {
                    problems.push(format!(
                        "{}: {role}, {delivery:?}: {observed}, not {expected}",
                        case.name
                    ));
                }
                if !is_in_step(gateway.address) {
                    problems.push(format!("{}: {role}: a poisoned connection", case.name));
                }
                let wanted = observed.split(' ').filter(|word| *word == "404").count() as u64;
                let seen = mock.smuggled() - before;
                if seen != wanted {
                    problems.push(format!("{}: {role}: {seen} smuggled requests", case.name));
                }
            }
        }
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}
