//! The bottleneck: which resource gives way first, and how that is known.
//!
//! ```text
//! ArmData of one or several loads --Point::of--> Case --laws--> causes, what is ruled out --conclude--> Bottleneck
//! ```
//!
//! Each law is a file below `law`: it says which causes its evidence shows, and what it excludes. Laws stand in the order in which
//! their causes are read: what is wrong with the measurement before what is wrong with the plan, and a resource that is used up before a
//! wait that nobody works in; a suspicion comes last. No law guesses: where none speaks, the answer is that it is unknown. The order and most of the laws are
//! those of the operational analysis of queueing networks (Denning and Buzen 1978; Jain, *The Art of Computer Systems Performance
//! Analysis*, 1991, ch. 33); the limits stand in `docs/truth.md`.

mod case;
mod law;
mod search;
#[cfg(test)]
mod tests;

pub use case::{Case, Point};
pub use search::of_search;

use crate::record::{Bottleneck, BottleneckConclusion, Cause, CauseKind};
use law::{LAWS, first_used_up, lock, said};
use plimsoll_base::units::format_number;

/// No more causes than anybody acts upon.
const MOST_CAUSES: usize = 3;

/// Decides.
#[must_use]
pub fn attribute(case: &Case) -> Bottleneck {
    let mut unseen = case.unseen();
    if !case.gave_way() {
        if case.limit().good_per_s <= 0.0 {
            return Bottleneck {
                conclusion: BottleneckConclusion::Unknown,
                statement: "No exchange succeeded, so no limit can be determined: see what failed."
                    .to_owned(),
                causes: Vec::new(),
                ruled_out: Vec::new(),
                unseen,
            };
        }
        return Bottleneck {
            conclusion: BottleneckConclusion::NothingGaveWay,
            statement: carried(case),
            causes: Vec::new(),
            ruled_out: Vec::new(),
            unseen,
        };
    }
    let (mut causes, mut ruled_out): (Vec<Cause>, Vec<String>) = (Vec::new(), Vec::new());
    for law in &LAWS {
        let ruling = law(case);
        let decisive = ruling.decisive;
        causes.extend(ruling.causes);
        ruled_out.extend(ruling.ruled_out);
        if decisive {
            // Nothing follows about what lies behind it.
            ruled_out.clear();
            unseen.clear();
            break;
        }
    }
    weigh(case, &mut causes);
    for cause in &mut causes {
        said::add(case.limit(), cause);
    }
    match causes.first() {
        Some(first) => Bottleneck {
            conclusion: BottleneckConclusion::Found,
            statement: first.statement.clone(),
            causes,
            ruled_out,
            unseen,
        },
        None => Bottleneck {
            conclusion: BottleneckConclusion::Unknown,
            statement: format!(
                "{}, but the observations do not show the cause: see what was ruled out and what was not observed.",
                gave_way_at(case)
            ),
            causes,
            ruled_out,
            unseen,
        },
    }
}

/// Drops the causes that do not stand, and adds a suspicion where one is due.
fn weigh(case: &Case, causes: &mut Vec<Cause>) {
    // That all connections are busy follows from whatever makes answers slow, be it somewhere that nobody looked at; beside a slow
    // dependency it says what to do instead.
    let stands = match causes.first().map(|cause| cause.kind) {
        Some(CauseKind::Dependency) => true,
        Some(CauseKind::Connections) => case.limit().is_all_seen(),
        _ => false,
    };
    if !stands {
        causes.retain(|cause| cause.kind != CauseKind::Connections);
    }
    if causes
        .iter()
        .all(|cause| cause.kind == CauseKind::Connections)
    {
        causes.extend(lock::rule(case).causes);
    }
    causes.truncate(MOST_CAUSES);
}

/// Where it was that something gave way: at what was offered, which is where it began, and what was good of that.
fn gave_way_at(case: &Case) -> String {
    let point = case.limit();
    let good = format_number(point.good_per_s);
    match point.offered_per_s {
        Some(offered) => format!(
            "Something gave way at {}{}/s, of which {good}/s were good",
            format_number(offered),
            point.unit
        ),
        None => format!("Something gave way at {good}{}/s", point.unit),
    }
}

/// Sentence on a load that was carried.
fn carried(case: &Case) -> String {
    let point = case.limit();
    let at = format_number(point.good_per_s);
    let next = first_used_up(case).map_or_else(String::new, |first| {
        format!(
            " Of what was looked at, the processors of {} would be used up first, at {} to {}/s ({:.2} of {:.2} cores are used at {at}/s).",
            first.component,
            format_number(first.low_per_s),
            format_number(first.high_per_s),
            first.cores,
            first.usable,
        )
    });
    format!(
        "Nothing gave way at {at}{}/s: the limit lies higher.{next}",
        point.unit
    )
}
