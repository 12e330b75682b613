//! The mock delays each answer by a draw from a known distribution; its quantiles must come back.

use super::Check;
use crate::bar::Bar;
use crate::bench::{Bench, Trouble, measure};
use crate::mock::Mock;
use crate::queueing::lognormal_quantile;
use serde_json::json;

pub const CHECK: Check = Check {
    name: "lognormal",
    about: "a log-normal delay of median 20 ms and sigma 0.5; quantiles against theory",
    run,
};

/// Allowed difference from theory.
const SHARE: f64 = 0.02;
/// Figures and their standard normal quantiles.
const FIGURES: [(&str, f64); 3] = [("p50", 0.0), ("p90", 1.281_552), ("p99", 2.326_348)];

fn run(bench: &Bench) -> Result<Vec<Bar>, Trouble> {
    let seconds = bench.pick(110, 4);
    let stub = json!({
        "request": { "url": "/delayed", "method": "GET" },
        "response": { "status": 200, "delayDistribution": { "type": "lognormal", "median": 20, "sigma": 0.5 } },
    });
    let mock = Mock::start(bench, &[stub])?;
    bench.progress(&format!("lognormal: one run of {seconds} s"));
    let load = json!({ "rate": "1000/s", "connections": 300, "warmup": "1s", "duration": format!("{seconds}s") });
    let outcome = bench.run(
        &measure(mock.address, "/delayed", load),
        f64::from(seconds) + 1.0,
    )?;
    mock.stop()?;
    let count = outcome.main("response_time/count")?;
    let mut bars = vec![Bar::judged(
        "answers",
        "at least 100,000",
        format!("{count}; {}", outcome.verdict()),
        count >= 100_000.0,
    )];
    for (figure, z) in FIGURES {
        let measured = outcome.main(&format!("response_time/{figure}"))?;
        bars.push(Bar::within(
            figure,
            measured,
            lognormal_quantile(0.020, 0.5, z),
            SHARE,
        ));
    }
    Ok(bars)
}
