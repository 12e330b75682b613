//! Descriptors: every connection takes one, and what the generator cannot hold ends as `exhausted`.

use super::Subject;
use super::ceiling::{Ceiling, Of, Source};
use super::host::HostFacts;
use plimsoll_base::units::format_number;
use plimsoll_load::plan::{ConnectionPolicy, Plan, Protocol};

/// Descriptors of the generator besides its connections: standard streams, pipes, files.
const OWN: u64 = 16;
/// Descriptors of each of its threads: poll, wake-up, timer.
const OF_SHARD: u64 = 4;

/// The share of a limit from which on it is worth a word.
const NEAR: f64 = 0.5;

/// The ceiling of an arm; `None` where there is no limit, and where it is far away.
#[expect(clippy::cast_precision_loss, reason = "limits are far below 2^53")]
pub(super) fn ceiling(subject: &Subject<'_>, host: &HostFacts) -> Option<Ceiling> {
    let limit = host.descriptors?;
    let shards = subject.experiment.generator.shards as u64;
    let room = limit.saturating_sub(OWN + OF_SHARD * shards) as f64;
    let wanted = f64::from(wanted(&subject.plan));
    if wanted < room * NEAR {
        return None;
    }
    let sentence = format!(
        "the generator may hold {} descriptors and needs some for itself",
        format_number(limit as f64)
    );
    let warning = (wanted > room).then(|| {
        format!(
            "may hold {} connections at once, and the generator has descriptors for about {}, so the exchanges beyond end as `exhausted`: write fewer users or connections, or raise the hard limit (`ulimit -Hn`, LimitNOFILE=)",
            format_number(wanted),
            format_number(room)
        )
    });
    Some(Ceiling {
        source: Source::Descriptors,
        scenario: None,
        of: Of::Connections,
        value: room,
        sentence,
        formula: "hard limit of descriptors − the generator's own",
        slack_per_s: 0.0,
        held_s: 0.0,
        warning,
    })
}

/// Connections that may be open at once.
fn wanted(plan: &Plan) -> u32 {
    let users = plan.users();
    match (plan.connections.protocol, plan.connections.policy) {
        (Protocol::Http2 { streams }, _) => users.div_ceil(streams.max(1)),
        (Protocol::Http1, ConnectionPolicy::Shared(connections)) => connections,
        (Protocol::Http1, _) => users,
    }
}
