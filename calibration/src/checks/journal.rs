//! The mock's journal under ten million requests: it keeps as many as it says, its memory stays within its bound, and its totals are exact though it
//! has dropped most of them.

use super::Check;
use crate::bar::Bar;
use crate::bench::{Bench, Error, Outcome};
use crate::memory_of::Memory;
use crate::mock::Mock;
use plimsoll_base::counters::{Counter, Totals};
use serde_json::{Value, json};
use std::ops::RangeInclusive;

pub const CHECK: Check = Check {
    name: "journal",
    about: "10 million requests to a mock that keeps a journal, a million of them with bodies of 4 kB",
    run,
};

/// By how many bytes a mock may grow.
const GROWTH: f64 = 50e6;
/// The entries that the journal keeps, of short requests.
const ENTRIES: u64 = 10_000;
/// Bytes of a body.
const BODY: usize = 4_000;
/// The entries that it keeps at least with bodies: each shard has its own part of the memory, and may have got few requests.
const FEWEST: u64 = 4_000;
/// Requests that warm up nothing but the mock: its code is read, its buffers are there, its journal is as good as empty.
const FIRST: u32 = 100;

fn run(bench: &Bench) -> Result<Vec<Bar>, Error> {
    let many = bench.pick(10_000_000, 100_000);
    let small = json!({ "get": "/small" });
    let large = json!({ "post": "/small", "body": "x".repeat(BODY) });
    let parts = [
        Part {
            name: "without bodies",
            requests: many,
            step: small,
            kept: ENTRIES..=ENTRIES,
        },
        Part {
            name: "with bodies of 4 kB",
            requests: many / 10,
            step: large,
            // It may take 4 KiB of memory for each that it was asked to keep: not all of them have room.
            kept: FEWEST..=ENTRIES - 1,
        },
    ];
    let bars = parts
        .iter()
        .flat_map(|part| Bar::part(part.name, bench.witnessed(|| part.measured(bench))));
    Ok(bars.collect())
}

/// The part of one mock: its requests and its limits.
struct Part {
    name: &'static str,
    requests: u32,
    step: Value,
    /// How many of them its journal keeps.
    kept: RangeInclusive<u64>,
}

impl Part {
    fn measured(&self, bench: &Bench) -> Result<Vec<Bar>, Error> {
        let Self {
            name,
            requests,
            step,
            ..
        } = self;
        let stub = json!({ "request": { "url": "/small" }, "response": { "body": "small" } });
        let flag = format!("--max-request-journal-entries={ENTRIES}");
        let mock = Mock::start_with(bench, &[stub], &[&flag])?;
        ask(bench, &mock, FIRST, step)?;
        let before = mock.memory(Memory::Resident)?;
        bench.progress(&format!("journal {name}: {requests} requests"));
        let outcome = ask(bench, &mock, *requests, step)?;
        let after = mock.memory(Memory::LargestResident)?;
        let noted = number(&mock.ask("GET", "/requests?limit=1", "")?, "/meta/total")?;
        let all = mock.ask("POST", "/requests/count", r#"{"method": "ANY"}"#)?;
        let kept = number(&all, "/count")?;
        let totals = mock.stop()?;
        Ok(vec![
            growth(name, *requests, before, after),
            exact(name, &outcome, &totals, noted)?,
            self.keeps(kept),
        ])
    }

    fn keeps(&self, kept: u64) -> Bar {
        let (fewest, most) = (self.kept.start(), self.kept.end());
        let limit = if fewest == most {
            format!("{most}")
        } else {
            format!("{fewest} to {most}")
        };
        Bar::judged(
            format!("{}: requests that it kept", self.name),
            limit,
            kept.to_string(),
            self.kept.contains(&kept),
        )
    }
}

/// A number of an answer.
fn number(answer: &str, pointer: &str) -> Result<u64, Error> {
    let document: Option<Value> = serde_json::from_str(answer).ok();
    let number = document.and_then(|document| document.pointer(pointer)?.as_u64());
    number.ok_or_else(|| Error::Measured(format!("no number at {pointer} in {answer}")))
}

/// So many requests, as fast as they are answered.
fn ask(bench: &Bench, mock: &Mock, requests: u32, step: &Value) -> Result<Outcome, Error> {
    let experiment = json!({
        "version": 1,
        "name": "calibration",
        "components": { "target": { "external": format!("http://{}", mock.address), "probe": "none" } },
        "scenario": [step],
        "load": { "users": 50, "iterations": requests, "duration": "30m" },
        "arms": { "main": { "target": "target" } },
        "method": "measure",
    });
    bench.run(&experiment, 1800.0)
}

/// The memory that came, from what there was before to the most that there ever was, both in KiB.
fn growth(name: &str, requests: u32, before: f64, after: f64) -> Bar {
    let bytes = (after - before) * 1024.0;
    Bar::judged(
        format!("{name}: growth of resident memory in {requests} requests"),
        format!("less than {:.0} MB", GROWTH / 1e6),
        format!(
            "{:.1} MB, from {:.1} to {:.1} MiB",
            bytes / 1e6,
            before / 1024.0,
            after / 1024.0
        ),
        bytes < GROWTH,
    )
}

/// How many the journal has noted, beside the mock's counters and what the generator sent.
fn exact(name: &str, outcome: &Outcome, totals: &Totals, noted: u64) -> Result<Bar, Error> {
    let (sent, received) = (outcome.main("sent")?, totals.get(Counter::Received));
    // The two calls of the admin API are received and not noted.
    let asked = received - 2;
    #[expect(
        clippy::cast_precision_loss,
        reason = "requests of a run are far below 2^52"
    )]
    let held = noted == asked && (asked as f64 - f64::from(FIRST) - sent).abs() < 0.5;
    Ok(Bar::judged(
        format!("{name}: totals"),
        "as many noted as received and sent",
        format!("{noted} noted, {asked} received, {sent} sent beside the first {FIRST}"),
        held,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bar::Verdict;

    #[test]
    fn growth_is_judged_in_bytes() {
        let check = |after, verdict| assert_eq!(growth("", 1, 10_000.0, after).verdict, verdict);
        check(58_000.0, Verdict::Held);
        check(59_000.0, Verdict::Failed);
    }
    #[test]
    fn what_is_kept_is_judged_from_both_sides() {
        let part = Part {
            name: "",
            requests: 1,
            step: Value::Null,
            kept: 2..=3,
        };
        let check = |kept, verdict| assert_eq!(part.keeps(kept).verdict, verdict, "{kept}");
        check(1, Verdict::Failed);
        check(2, Verdict::Held);
        check(3, Verdict::Held);
        check(4, Verdict::Failed);
    }
}
