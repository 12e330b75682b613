//! Whether connections can be made as a plan says.

use super::{MAX_USERS, ProblemList};
use crate::plan::{ConnectionPolicy, Connections, ConnectionsField, Plan, PlanPlace, Protocol};
use crate::security::{Security, SecurityProblem};
use std::time::Duration;

/// Streams of one connection: what servers permit at most, by far.
const MAX_STREAMS: u32 = 100_000;

/// A field of a plan's connections, as a place.
fn at(field: ConnectionsField) -> PlanPlace {
    PlanPlace::Connections(field)
}

pub(super) fn check(plan: &Plan, found: &mut ProblemList) {
    let connections = &plan.connections;
    if let ConnectionPolicy::Shared(shared) = connections.policy {
        found.unless(
            (1..=MAX_USERS).contains(&shared),
            at(ConnectionsField::Shared),
            format_args!("must be 1 to {MAX_USERS}"),
        );
    }
    found.unless(
        connections.exchanges != Some(0),
        at(ConnectionsField::Exchanges),
        "must be at least 1",
    );
    for (timeout, field) in [
        (
            connections.connect_timeout,
            ConnectionsField::ConnectTimeout,
        ),
        (
            connections.first_byte_timeout,
            ConnectionsField::FirstByteTimeout,
        ),
    ] {
        found.unless(
            timeout != Some(Duration::ZERO),
            at(field),
            "must be longer than 0",
        );
    }
    check_protocol(connections, found);
    check_sources(plan, found);
    check_tls(plan, found);
}

fn check_protocol(connections: &Connections, found: &mut ProblemList) {
    let Protocol::Http2 { streams } = connections.protocol else {
        return;
    };
    found.unless(
        (1..=MAX_STREAMS).contains(&streams),
        at(ConnectionsField::Streams),
        format_args!("must be 1 to {MAX_STREAMS}"),
    );
    found.unless(
        connections.policy == ConnectionPolicy::PerUser,
        at(ConnectionsField::Policy),
        "has no meaning with HTTP/2, where `streams` says how many virtual users share a connection: remove it",
    );
}

fn check_sources(plan: &Plan, found: &mut ProblemList) {
    let sources = &plan.connections.sources;
    let fits = |v4: bool| sources.iter().any(|source| source.is_ipv4() == v4);
    let mut addresses = plan.target.addresses.iter();
    found.unless(
        sources.is_empty() || addresses.all(|address| fits(address.is_ipv4())),
        at(ConnectionsField::Sources),
        "hold no address of the target's kind (IPv4 or IPv6)",
    );
}

fn check_tls(plan: &Plan, found: &mut ProblemList) {
    let Some(tls) = &plan.connections.tls else {
        return;
    };
    let (users, given) = (plan.users(), tls.identities.len());
    let each = usize::try_from(users).is_ok_and(|users| given >= users);
    found.unless(
        given <= 1 || each,
        at(ConnectionsField::Identities),
        format_args!("are {given} for {users} virtual users: give one for all, or one for each"),
    );
    let shared = matches!(plan.connections.policy, ConnectionPolicy::Shared(_))
        || matches!(plan.connections.protocol, Protocol::Http2 { streams: 2.. });
    found.unless(
        given <= 1 || !shared,
        at(ConnectionsField::Identities),
        "are one for each virtual user, but connections are shared: give one for all, or each user its own connection",
    );
    let built = Security::new(&plan.connections, 0);
    for problem in built.err().into_iter().flatten() {
        match problem {
            SecurityProblem::Common(error) => found.add(at(ConnectionsField::Tls), error),
            SecurityProblem::Identity(place, error) => {
                let name = &tls.identities[place].name;
                found.add(
                    at(ConnectionsField::Identities),
                    format_args!("`{name}` {error}"),
                );
            }
        }
    }
}
