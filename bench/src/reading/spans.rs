//! One reading of what spans cost: gateways with and without them run together.

use crate::Error;
use crate::bench::{Bench, Reading};
use crate::client::wrk::Visit;
use crate::reading::server::{drive, start};
use crate::reading::together::{TURN, by_turns, used};
use crate::server::Kind;
use crate::server::mock::Setting;
use crate::spans::Account;

/// How many turns each gateway has.
const TURNS: usize = 20;

/// Takes one at so many requests per second: microseconds of processor time per request, for each of these gateways. What spans cost when
/// the load is over belongs to it, and every span must have arrived. So does what a gateway uses while the others have their turns, which of
/// one that has nothing to do is some hundredths of a microsecond (docs/bench.md).
pub fn read<const N: usize>(
    bench: &Bench,
    kinds: [Kind; N],
    rate: u32,
) -> Result<Reading<[f64; N]>, Error> {
    let collector = Kind::MockWith(Setting::Collector);
    let upstream = collector.start(bench, bench.placement.clients, None)?;
    let parts = kinds.map(|kind| (kind, Visit::Constant.into()));
    let cpus = bench.placement.server.into();
    let gateways = start(bench, &parts, cpus, Some(&upstream))?;
    let mut accounts = Vec::with_capacity(N);
    for (kind, gateway) in kinds.iter().zip(&gateways) {
        accounts.push(Account::open(*kind, gateway)?);
    }
    let watch = bench.watch();
    let before = used(&gateways);
    let sent = by_turns(bench, &gateways, TURNS, |_, gateway| {
        drive(bench, gateway, rate, TURN)
    })?;
    for account in accounts.into_iter().flatten() {
        account.close()?;
    }
    let after = used(&gateways);
    let mut costs = [0.0; N];
    for (index, turns) in sent.into_iter().enumerate() {
        let sent: Option<f64> = turns.into_iter().sum();
        let kind = kinds[index];
        let failed = || Error::Measured(format!("{kind:?}: something failed or was dropped"));
        let used = after[index].saturating_sub(before[index]);
        costs[index] = used.as_secs_f64() * 1e6 / sent.ok_or_else(failed)?;
    }
    Ok(watch.ends(costs))
}
