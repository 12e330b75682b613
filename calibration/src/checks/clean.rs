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

fn run(bench: &Bench) -> Result<Vec<Bar>, Trouble> {
    let (wanted, most) = bench.pick((50, 250), (1, 2));
    let (mut judged, mut excused, mut alarmed) = (0, 0, Vec::new());
    let mut excused_alarmed = 0;
    while judged < wanted && judged + excused < most {
        let mark = bench.witness.mark();
        let mock = Mock::start(bench, &[])?;
        let load = json!({ "rate": "500/s", "connections": 20, "warmup": "1s", "duration": "4s" });
        let outcome = bench.run(&measure(mock.address, "/json/valid", load), 5.0)?;
        mock.stop()?;
        let alarms = outcome.alarms();
        let seen = bench.witness.since(&mark);
        if seen.quiet() {
            judged += 1;
            alarmed.extend((!alarms.is_empty()).then(|| format!("{alarms:?}")));
        } else {
            excused += 1;
            excused_alarmed += i32::from(!alarms.is_empty());
        }
    }
    let measured = format!(
        "{} in {judged} ({}); {excused} more excused, {excused_alarmed} of them with an alarm",
        alarmed.len(),
        alarmed.join(" ")
    );
    if judged < wanted {
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
