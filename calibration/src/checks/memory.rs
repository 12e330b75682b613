//! The generator's memory must not grow with the length of a run.

use super::Check;
use crate::bar::Bar;
use crate::bench::{Bench, Trouble, measure};
use crate::mock::Mock;
use serde_json::json;

pub const CHECK: Check = Check {
    name: "memory",
    about: "the generator's largest memory in a short and a long run at 20,000/s",
    run,
};

/// Allowed difference.
const SHARE: f64 = 0.05;

fn run(bench: &Bench) -> Result<Vec<Bar>, Trouble> {
    let (short, long) = bench.pick((10, 120), (3, 5));
    let (first, second) = (resident(bench, short)?, resident(bench, long)?);
    let growth = second / first - 1.0;
    Ok(vec![Bar::judged(
        format!("resident memory for {short} s and {long} s"),
        "the same ± 5 %",
        format!(
            "{:.1} MiB and {:.1} MiB ({:+.1} %)",
            first / 1_048_576.0,
            second / 1_048_576.0,
            growth * 100.0
        ),
        growth.abs() <= SHARE,
    )])
}

fn resident(bench: &Bench, seconds: u32) -> Result<f64, Trouble> {
    let mock = Mock::start(bench, &[])?;
    let load = json!({ "rate": "20000/s", "duration": format!("{seconds}s") });
    let outcome = bench.run(
        &measure(mock.address, "/json/valid", load),
        f64::from(seconds),
    )?;
    mock.stop()?;
    outcome.main("components/generator/rss_bytes_max")
}
