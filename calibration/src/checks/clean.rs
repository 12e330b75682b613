//! Runs in which nothing is wrong must not be called wrong. A run in which the witness saw the machine stall is excused.

use super::Check;
use crate::bar::Bar;
use crate::bench::{Bench, Trouble, measure};
use crate::mock::Mock;
use serde_json::json;

pub const CHECK: Check = Check {
    name: "clean",
    about: "clean runs on an idle machine; no criterion of validity may fail",
    run,
};

/// Seconds of warm-up and, below, of load. A machine that stalls every 15 s leaves three of four such runs alone; a longer one would
/// hardly ever be.
const WARMUP_S: f64 = 0.5;
const LOAD_S: f64 = 3.0;

fn run(bench: &Bench) -> Result<Vec<Bar>, Trouble> {
    let (wanted, most) = bench.pick((50, 180), (1, 4));
    let (mut judged, mut excused) = (0, 0);
    let (mut alarmed, mut excused_alarmed) = (Vec::new(), 0);
    while judged < wanted && judged + excused < most {
        let (alarms, seen) = bench.witnessed(|| alarms(bench));
        let alarms = alarms?;
        let words = alarms.join(", ");
        bench.progress(&format!(
            "clean {judged}/{wanted}: [{words}]{}",
            seen.aside()
        ));
        if seen.quiet() {
            judged += 1;
            alarmed.extend((!alarms.is_empty()).then(|| format!("{words} (machine: {seen})")));
        } else {
            excused += 1;
            excused_alarmed += usize::from(!alarms.is_empty());
        }
    }
    let measured = format!(
        "{} in {judged}{}{}; {excused} more excused, {excused_alarmed} of them with an alarm",
        alarmed.len(),
        if alarmed.is_empty() { "" } else { ": " },
        alarmed.join("; ")
    );
    if judged < wanted && alarmed.is_empty() {
        return Ok(vec![Bar::not_measured(
            "false alarms",
            format!("the machine was too restless: {measured}"),
        )]);
    }
    Ok(vec![Bar::judged(
        "false alarms",
        format!("0 in {wanted}"),
        measured,
        alarmed.is_empty(),
    )])
}

/// One run in which nothing is wrong.
fn alarms(bench: &Bench) -> Result<Vec<String>, Trouble> {
    let mock = Mock::start(bench, &[])?;
    let load = json!({
        "rate": "500/s", "connections": 20,
        "warmup": format!("{WARMUP_S}s"), "duration": format!("{LOAD_S}s"),
    });
    let outcome = bench.run(
        &measure(mock.address, "/json/valid", load),
        WARMUP_S + LOAD_S,
    )?;
    mock.stop()?;
    Ok(outcome.alarms_in_full())
}
