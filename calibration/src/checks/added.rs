//! Half a millisecond that the mock adds in one arm must be found, and the interval must cover it.

use super::Check;
use crate::bar::Bar;
use crate::bench::{Bench, Outcome, Trouble};
use crate::mock::Mock;
use serde_json::{Value, json};
use std::net::SocketAddr;

pub const CHECK: Check = Check {
    name: "added",
    about: "0.5 ms added by the mock's delay in one arm; found, and covered by the interval",
    run,
};

/// What one arm adds, in milliseconds.
const ADDED_MS: f64 = 0.5;

fn run(bench: &Bench) -> Result<Vec<Bar>, Trouble> {
    let (comparisons, blocks, seconds) = bench.pick((20, 6, 4), (1, 2, 1));
    let mock = Mock::start(bench, &[stub()])?;
    let (mut found, mut covered, mut seen) = (0, 0, Vec::new());
    for _ in 0..comparisons {
        let experiment = experiment(mock.address, blocks, seconds);
        let outcome = bench.run(&experiment, f64::from(2 * blocks * (seconds + 3)))?;
        let Some((value, low, high)) = interval(&outcome) else {
            seen.push("none".to_owned());
            continue;
        };
        found += u32::from(low > 0.0);
        covered += u32::from(low <= ADDED_MS / 1e3 && ADDED_MS / 1e3 <= high);
        seen.push(format!(
            "{:.2} [{:.2}, {:.2}]",
            value * 1e3,
            low * 1e3,
            high * 1e3
        ));
    }
    mock.stop()?;
    let needed = (comparisons * 9_u32).div_ceil(10);
    let seen = seen.join("; ");
    Ok(vec![
        Bar::judged(
            format!("p50 found in {comparisons} comparisons of {blocks} blocks"),
            format!("≥ {needed}: the interval lies above zero"),
            format!("{found} of {comparisons}; ms: {seen}"),
            found >= needed,
        ),
        Bar::judged(
            "0.5 ms covered by the interval",
            format!("≥ {needed}"),
            format!("{covered} of {comparisons}"),
            covered >= needed,
        ),
    ])
}

/// A log-normal delay without spread is a fixed one that need not be a whole number of milliseconds.
fn stub() -> Value {
    json!({
        "request": { "url": "/json/valid", "method": "GET", "headers": { "X-Arm": { "equalTo": "slow" } } },
        "response": { "status": 200, "delayDistribution": { "type": "lognormal", "median": ADDED_MS, "sigma": 0 } },
    })
}

fn experiment(target: SocketAddr, blocks: u32, seconds: u32) -> Value {
    json!({
        "version": 1,
        "name": "added",
        "components": { "target": { "external": format!("http://{target}"), "probe": "none" } },
        "scenario": [{ "name": "step", "get": "/json/valid" }],
        "load": { "rate": "500/s", "warmup": "1s", "duration": format!("{seconds}s") },
        "arms": {
            "fast": { "target": "target", "headers": { "X-Arm": "fast" } },
            "slow": { "target": "target", "headers": { "X-Arm": "slow" } },
        },
        "method": { "compare": { "baseline": "fast", "blocks": blocks } },
    })
}

/// Value, low and high of the added median in seconds.
fn interval(outcome: &Outcome) -> Option<(f64, f64, f64)> {
    let added = outcome.summary.pointer("/arms/slow/added/p50")?;
    let number = |key: &str| added[key].as_f64();
    Some((number("value")?, number("low")?, number("high")?))
}
