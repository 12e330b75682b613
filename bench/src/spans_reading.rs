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
/// How many each gateway has.
const TURNS: usize = 20;

/// A gateway, and what was done with it.
struct Side {
    server: Server,
    account: Option<Account>,
    /// Processor time that it had used before.
    before: Duration,
    sent: f64,
}

/// Takes one at so many requests per second: microseconds of processor time per request, for each of these gateways. What spans cost when
/// the load is over belongs to it, and every span must have arrived.
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
            account: Account::open(kind, &server)?,
            before: server.processor_time(),
            server,
            sent: 0.0,
        });
    }
    let watch = bench.watch();
    let turns = if bench.lengths.short { 1 } else { TURNS };
    for number in 0..turns * N {
        // Each round begins with another one.
        let side = &mut sides[(number + number / N) % N];
        let sent = drive(bench, &side.server, rate, TURN)?;
        let failed = || Trouble::Measured("something failed or was dropped".to_owned());
        side.sent += sent.ok_or_else(failed)?;
    }
    let watched = watch.ends(());
    let mut costs = [0.0; N];
    for (cost, side) in costs.iter_mut().zip(sides) {
        side.account.map_or(Ok(()), Account::close)?;
        let used = side.server.processor_time().saturating_sub(side.before);
        *cost = used.as_secs_f64() * 1e6 / side.sent;
    }
    Ok(watched.with(costs))
}
