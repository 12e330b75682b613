//! M/D/1: one server of a known constant service time under Poisson arrivals, whose mean response time has a closed form.

use super::Check;
use crate::bar::Bar;
use crate::bench::{Bench, Trouble, measure};
use crate::queueing::md1_mean_response;
use crate::target::single_server::SingleServer;
use serde_json::json;
use std::time::Duration;

pub const CHECK: Check = Check {
    name: "single-server",
    about: "M/D/1 at 50, 80 and 95 % load; mean response time against Pollaczek and Khinchine",
    run,
};

/// Allowed difference from theory.
const SHARE: f64 = 0.05;

/// Utilisation in percent, service time, and the length of both forms in seconds. The mean converges like 1/(1 − ρ)², hence the lengths.
const LEVELS: [(u32, u64, u32, u32); 3] = [(50, 10, 300, 3), (80, 5, 600, 3), (95, 2, 1800, 3)];

fn run(bench: &Bench) -> Result<Vec<Bar>, Trouble> {
    let mut bars = Vec::new();
    for (percent, service_ms, long, short) in LEVELS {
        bars.extend(level(bench, percent, service_ms, bench.pick(long, short))?);
    }
    Ok(bars)
}

fn level(bench: &Bench, percent: u32, service_ms: u64, seconds: u32) -> Result<Vec<Bar>, Trouble> {
    let service = Duration::from_millis(service_ms);
    let utilisation = f64::from(percent) / 100.0;
    let rate = utilisation / service.as_secs_f64();
    let target = SingleServer::start(service)?;
    // No warm-up: the figure is over the same arrivals that the target saw.
    let load = json!({
        "rate": format!("{rate:.3}/s"), "profile": "poisson", "connections": 200, "duration": format!("{seconds}s"),
    });
    let outcome = bench.run(&measure(target.address(), "/", load), f64::from(seconds))?;
    let path = target.stop()?;
    let mean = outcome.main("response_time/mean")?;
    let theory = md1_mean_response(service.as_secs_f64(), utilisation);
    #[expect(
        clippy::cast_precision_loss,
        reason = "requests of one run are far below 2^52"
    )]
    let own = path.sum_s / path.served.max(1) as f64;
    let name = format!("{percent} % load, {service_ms} ms service");
    Ok(vec![
        Bar::within(
            format!("{name}, {} served: formula", path.served),
            mean,
            theory,
            SHARE,
        ),
        Bar::within(
            format!("{name}: the recursion over the arrivals that came"),
            mean,
            own,
            SHARE,
        ),
    ])
}
