//! Local ports: where every iteration or exchange has its own connection, each leaves its port in `TIME_WAIT` if our end closes it.
//!
//! Without source addresses the kernel tells connections apart by both ends, so each address of the target has all ports. With them a
//! port is chosen before the target is known, so each source has all ports. See `ip(7)` and `tcp_tw_reuse` in the kernel's
//! `Documentation/networking/ip-sysctl.rst`.

use super::Subject;
use super::ceiling::{Ceiling, Of, Source};
use super::host::{HostFacts, Reuse};
use super::stated;
use plimsoll_base::units::{format_number, format_seconds};
use plimsoll_experiment::ComponentKind;
use plimsoll_load::plan::{ConnectionPolicy, Plan, Protocol};
use std::net::IpAddr;

/// How long the end that closes keeps a port after its connection, in seconds: the kernel's constant.
const TIME_WAIT_S: f64 = 60.0;
/// How long a port is kept where it is taken again early, in seconds.
const REUSED_AFTER_S: f64 = 1.0;

/// The ceiling of an arm; `None` where connections are kept, and where the kernel does not say how many ports there are.
pub(super) fn ceiling(subject: &Subject<'_>, host: &HostFacts) -> Option<Ceiling> {
    let plan = &subject.plan;
    let of = connection_per(plan)?;
    let whole: u32 = host.ports?;
    let sources = plan.connections.sources.len();
    let ports = f64::from(whole) * f64::from(u32::try_from(sources.max(1)).unwrap_or(u32::MAX));
    let is_early = sources == 0
        && match host.reuse {
            Reuse::Never => false,
            Reuse::Loopback => is_here(subject),
            Reuse::Always => true,
        };
    let wait_s = if is_early {
        REUSED_AFTER_S
    } else {
        TIME_WAIT_S
    };
    // As long as there are fresh ones none is waited for.
    let value = ports / wait_s.min(plan.total().as_secs_f64());
    let sentence = format!(
        "each of {} local ports is free again {} after its connection, if our end closes it",
        format_number(ports),
        format_seconds(wait_s)
    );
    let demand = stated::demand(subject, of);
    let warning = demand.filter(|demand| *demand > value).map(|demand| {
        format!(
            "asks for up to {} new connections/s, more than the {}/s for which there are ports: {sentence}: keep connections (`connection_per: user`), add `sources`, or widen `net.ipv4.ip_local_port_range`; a target of several addresses, or one that closes first, carries more",
            format_number(demand),
            format_number(value)
        )
    });
    Some(Ceiling {
        source: Source::Ports,
        scenario: None,
        of,
        value,
        sentence,
        formula: "ports × source addresses / time until one is free",
        slack_per_s: 0.0,
        held_s: 0.0,
        warning,
    })
}

/// Unit that has a connection of its own.
fn connection_per(plan: &Plan) -> Option<Of> {
    if plan.connections.protocol != Protocol::Http1 {
        return None;
    }
    match plan.connections.policy {
        ConnectionPolicy::PerIteration => Some(Of::Iterations),
        ConnectionPolicy::PerExchange => Some(Of::Exchanges),
        ConnectionPolicy::PerUser | ConnectionPolicy::Shared(_) => None,
    }
}

/// Whether the target is on this host, as far as its name tells.
fn is_here(subject: &Subject<'_>) -> bool {
    let experiment = subject.experiment;
    let target = experiment.component(&subject.arm.target.component);
    target.is_some_and(|component| match &component.kind {
        ComponentKind::External(external) => {
            let host = experiment.route(&external.host);
            host == "localhost" || host.parse().is_ok_and(|it: IpAddr| it.is_loopback())
        }
        ComponentKind::Mock(_) | ComponentKind::Gateway(_) | ComponentKind::Command(_) => true,
    })
}
