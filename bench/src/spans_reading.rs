//! One reading of what spans cost: gateways with and without them are started together and driven by turns of a second, so that whatever
//! the machine does meanwhile it does to all of them.

use crate::Trouble;
use crate::bench::{Bench, Reading};
use crate::client::wrk::Visit;
use crate::server::mock::Setting;
use crate::server::{Kind, Server};
use crate::server_reading::{drive, warm};
use crate::spans::Account;
use std::time::Duration;

/// How long a turn takes.
const TURN: Duration = Duration::from_secs(1);
/// How many turns each gateway has: an even number, for whoever went before it in one cycle goes after it in the next.
const CYCLES: usize = 20;

/// A gateway, and what was done with it.
struct Side {
    kind: Kind,
    server: Server,
    account: Option<Account>,
    /// Processor time that it had used before.
    before: Duration,
    sent: f64,
}

/// Takes one at so many requests per second: microseconds of processor time per request, for each of these gateways. What spans cost when
/// the load is over belongs to it, and every span must have arrived. So does what a gateway uses while the others have their turns, which of
/// one that has nothing to do is some hundredths of a microsecond (docs/bench.md).
pub fn read<const N: usize>(
    bench: &Bench,
    kinds: [Kind; N],
    rate: u32,
) -> Result<Reading<[f64; N]>, Trouble> {
    let collector = Kind::MockWith(Setting::Collector);
    let upstream = collector.start(bench, bench.placement.clients, None)?;
    let mut sides = Vec::with_capacity(N);
    for kind in kinds {
        let server = kind.start(bench, bench.placement.server, Some(upstream.address))?;
        warm(bench, kind, &server, Visit::Constant)?;
        sides.push(Side {
            kind,
            account: Account::open(kind, &server)?,
            before: server.processor_time(),
            server,
            sent: 0.0,
        });
    }
    let watch = bench.watch();
    let cycles = if bench.lengths.short { 1 } else { CYCLES };
    for turn in turns(N).take(cycles * N) {
        let side = &mut sides[turn];
        let sent = drive(bench, &side.server, rate, TURN)?;
        let failed =
            || Trouble::Measured(format!("{:?}: something failed or was dropped", side.kind));
        side.sent += sent.ok_or_else(failed)?;
    }
    let mut costs = [0.0; N];
    for (cost, side) in costs.iter_mut().zip(sides) {
        side.account.map_or(Ok(()), Account::close)?;
        let used = side.server.processor_time().saturating_sub(side.before);
        *cost = used.as_secs_f64() * 1e6 / side.sent;
    }
    Ok(watch.ends(costs))
}

/// Whose turn it is of so many: each cycle begins with another one, and goes back by the way that the last one came.
fn turns(sides: usize) -> impl Iterator<Item = usize> {
    (0..).flat_map(move |cycle| {
        (0..sides).map(move |place| {
            let forth = cycle % 2 == 0;
            let place = if forth { place } else { sides - 1 - place };
            (place + cycle / 2) % sides
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_side_always_follows_the_same_one() {
        let turns: Vec<usize> = turns(3).take(3 * CYCLES).collect();
        assert_eq!(turns[..9], [0, 1, 2, 2, 1, 0, 1, 2, 0]);
        let follows = |one, other| {
            turns
                .windows(2)
                .filter(|pair| **pair == [other, one])
                .count()
        };
        for side in 0..3 {
            assert_eq!(turns.iter().filter(|turn| **turn == side).count(), CYCLES);
            for other in (0..3).filter(|other| *other != side) {
                let times = follows(side, other);
                assert!(
                    (6..=10).contains(&times),
                    "{side} follows {other} {times} times"
                );
            }
        }
    }
}
