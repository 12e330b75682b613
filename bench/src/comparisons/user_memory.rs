//! Memory of our generator, with all that belongs to its run, while many users are connected; and what each of them adds.

use super::{Comparison, Findings, Round};
use crate::bench::{Bench, Reading};
use crate::client::{Protocol, ours};
use crate::figures::rounds::{MEMORY, interleave};
use crate::figures::row::{Bar, Limit, Quantity, Row};
use crate::figures::statistics::Rounds;
use crate::program::Program;
use crate::server::{Kind, Server};
use crate::{Error, clock, process};
use serde_json::json;
use std::time::Duration;

pub const COMPARISON: Comparison = Comparison {
    name: "user-memory",
    about: "memory of connected users of the generator",
    round: Round {
        starts: 5,
        leads: 11,
        measured_times: 0,
    },
    run,
};

/// A crowd: users, and by which protocol they are connected.
#[derive(Debug, Clone, Copy)]
struct Crowd {
    users: u32,
    protocol: Protocol,
}

impl Crowd {
    /// Its name in notes.
    fn name(self) -> String {
        let tls = match self.protocol {
            Protocol::Tls | Protocol::MutualTls => " over TLS",
            Protocol::Clear | Protocol::Http2 => "",
        };
        format!("{} users{tls}", self.users)
    }
}

/// Each protocol's crowd is compared with a few users of the same. A handshake takes both processors' time: fewer users over TLS.
const CROWDS: [Crowd; 4] = [
    Crowd {
        users: 10_000,
        protocol: Protocol::Clear,
    },
    Crowd {
        users: FEW,
        protocol: Protocol::Clear,
    },
    Crowd {
        users: 2_000,
        protocol: Protocol::Tls,
    },
    Crowd {
        users: FEW,
        protocol: Protocol::Tls,
    },
];
const FEW: u32 = 100;
const ALL: Bar = Bar::new(80.0, 50.0);
const EACH_CLEAR: Bar = Bar::new(5.0, 2.0);
const EACH_TLS: Bar = Bar::at_most(48.0);
/// The longest that the rest of a run may take.
const OVERHEAD: Duration = Duration::from_secs(30);

fn run(bench: &Bench) -> Result<Findings, Error> {
    let sides = interleave(bench, &CROWDS, MEMORY, Crowd::name, |crowd| {
        megabytes(bench, crowd).map(Reading::unmoved)
    })?;
    let of = |index: usize| sides[index].rounds(|megabytes: &f64| *megabytes);
    let absent = |index: usize| sides[index].absent();
    let mut rows = Vec::new();
    let work = "generator, 10,000 connected users";
    let quantity = Quantity::Memory("memory");
    rows.push(match absent(0) {
        Some(reason) => {
            let limit = Some(Limit::Figure(ALL));
            Row::absent(work, quantity, ("plimsoll", &reason), limit)
        }
        None => Row::alone(work, quantity, &of(0), Some(ALL)),
    });
    for (many, work, bar) in [
        (0, "generator, each connected user", EACH_CLEAR),
        (2, "generator, each connected user, TLS", EACH_TLS),
    ] {
        let quantity = Quantity::SmallMemory("memory");
        rows.push(match absent(many).or_else(|| absent(many + 1)) {
            Some(reason) => {
                let limit = Some(Limit::Figure(bar));
                Row::absent(work, quantity, ("plimsoll", &reason), limit)
            }
            None => {
                let users = CROWDS[many].users - FEW;
                let each = each_kilobytes(&of(many), &of(many + 1), users);
                Row::alone(work, quantity, &each, Some(bar))
            }
        });
    }
    Ok(Findings::of(rows, &sides))
}

/// The memory that each further user adds, in kB, by round.
fn each_kilobytes(many: &Rounds, few: &Rounds, users: u32) -> Rounds {
    let pairs = many.iter().zip(few);
    pairs
        .map(|(many, few)| Some(((*many)? - (*few)?) * 1e3 / f64::from(users)))
        .collect()
}

/// Megabytes of the generator, with all that belongs to its run, while every user is connected.
fn megabytes(bench: &Bench, crowd: Crowd) -> Result<f64, Error> {
    let target = match crowd.protocol {
        Protocol::Clear => Kind::NginxReturn,
        protocol => Kind::NginxBeside(protocol),
    };
    let target = target.start(bench, bench.placement.server, None)?;
    let directory = bench.directory()?;
    // First iterations are spread over one think time, so that every user is connected when half of the run is over.
    let spread = if crowd.users == FEW { 1 } else { 2 };
    let think = bench.lead() * spread;
    let experiment = experiment(&target, crowd, think);
    let command = ours::run(bench, &experiment, directory.path())?;
    let mut client = Program::client(bench, &command, directory.path())?;
    clock::pause(think * 2 + think / 2);
    client.check_alive()?;
    let megabytes = process::proportional_megabytes(client.pid());
    client.wait(think * 3 + OVERHEAD)?;
    let summary = ours::summary(directory.path())?;
    let failed = ours::number(&summary, "/arms/main/failed")?;
    let connected = ours::number(&summary, "/arms/main/connect_time/count")?;
    if failed > 0.0 || connected < f64::from(crowd.users) {
        return Err(Error::Measured(format!(
            "{connected} connections, {failed} exchanges failed"
        )));
    }
    Ok(megabytes)
}

fn experiment(target: &Server, crowd: Crowd, think: Duration) -> serde_json::Value {
    let mut experiment = ours::experiment(target.listener, &target.authority());
    experiment["scenario"] = json!([ours::step()]);
    let load = &mut experiment["load"];
    load["users"] = crowd.users.into();
    load["think"] = format!("{}ms", think.as_millis()).into();
    load["warmup"] = "0s".into();
    load["duration"] = format!("{}ms", (think * 3).as_millis()).into();
    experiment
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_user_adds_is_the_difference_by_user() {
        let many = vec![Some(110.0), None];
        let few = vec![Some(11.0), Some(11.0)];
        assert_eq!(each_kilobytes(&many, &few, 9_900), [Some(10.0), None]);
    }
}
