//! Accounts: what the generator says it sent against what the other end counted, when all goes well and when it does not.

use super::Check;
use crate::bar::Bar;
use crate::bench::{Bench, Error, Outcome, Running, measure};
use crate::clock;
use crate::mock::Mock;
use crate::target::resetting::Resetting;
use plimsoll_base::counters::{Counter, Totals};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::Duration;

pub const CHECK: Check = Check {
    name: "counts",
    about: "clean, mock killed, mock stopped, connections reset: every exchange accounted for",
    run,
};

fn run(bench: &Bench) -> Result<Vec<Bar>, Error> {
    let seconds = bench.pick(10.0, 3.0);
    let parts: [(&str, Part); 4] = [
        ("clean", clean),
        ("mock killed", killed),
        ("mock stopped", stopped),
        ("connections reset", reset),
    ];
    let bars = parts.iter().flat_map(|(name, part)| {
        bench.progress(name);
        Bar::part(name, bench.witnessed(|| part(bench, seconds)))
    });
    Ok(bars.collect())
}

/// One part: a run of so many seconds.
type Part = fn(&Bench, f64) -> Result<Vec<Bar>, Error>;

fn experiment(target: SocketAddr, seconds: f64) -> Value {
    // No warm-up: the other end counts from its first request.
    let load = json!({ "rate": "1000/s", "duration": format!("{seconds}s"), "timeout": "500ms" });
    measure(target, "/json/valid", load)
}

fn clean(bench: &Bench, seconds: f64) -> Result<Vec<Bar>, Error> {
    let mock = Mock::start(bench, &[])?;
    let outcome = bench.run(&experiment(mock.address, seconds), seconds)?;
    let totals = mock.stop()?;
    let sent = outcome.main("sent")?;
    let received = received(&totals);
    Ok(vec![
        own("clean", &outcome)?,
        Bar::judged(
            "clean: against the mock",
            "sent = received",
            format!("{sent} sent, {received} received"),
            same(sent, received),
        ),
    ])
}

fn killed(bench: &Bench, seconds: f64) -> Result<Vec<Bar>, Error> {
    let mock = Mock::start(bench, &[])?;
    let running = halfway(bench, &mock, seconds)?;
    let totals = mock.bury()?;
    let outcome = running.finish()?;
    Ok(vec![
        own("mock killed", &outcome)?,
        bounds("mock killed", &outcome, &totals)?,
    ])
}

fn stopped(bench: &Bench, seconds: f64) -> Result<Vec<Bar>, Error> {
    let mock = Mock::start(bench, &[])?;
    let running = halfway(bench, &mock, seconds)?;
    mock.signal(Signal::STOP)?;
    let outcome = running.finish()?;
    mock.signal(Signal::CONT)?;
    let totals = mock.stop()?;
    let timeouts = outcome.main("outcomes/timed_out")?;
    Ok(vec![
        own("mock stopped", &outcome)?,
        bounds("mock stopped", &outcome, &totals)?,
        Bar::judged(
            "mock stopped: timeouts",
            "more than none",
            timeouts.to_string(),
            timeouts > 0.0,
        ),
    ])
}

fn reset(bench: &Bench, seconds: f64) -> Result<Vec<Bar>, Error> {
    let target = Resetting::start(100)?;
    let outcome = bench.run(&experiment(target.address(), seconds), seconds)?;
    let (received, reset) = target.stop();
    let (sent, seen) = (outcome.main("sent")?, outcome.main("outcomes/reset")?);
    let measured =
        format!("{sent} sent, {received} received; {seen} seen as reset, {reset} were reset");
    Ok(vec![
        own("connections reset", &outcome)?,
        Bar::judged(
            "connections reset: against the target",
            "both equal",
            measured,
            same(sent, received) && same(seen, reset),
        ),
    ])
}

/// A run that has half of its load behind it.
fn halfway(bench: &Bench, mock: &Mock, seconds: f64) -> Result<Running, Error> {
    let running = bench.start(&experiment(mock.address, seconds), seconds)?;
    running.generator()?;
    clock::pause(Duration::from_secs_f64(seconds / 2.0));
    Ok(running)
}

/// `intended = sent + dropped` and `sent = Σ outcomes + in flight`, exactly.
fn own(name: &str, outcome: &Outcome) -> Result<Bar, Error> {
    let arm = |path: &str| outcome.main(path);
    let answered: f64 = outcome.summary["arms"]["main"]["outcomes"]["answered"]
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(_, count)| count.as_f64())
        .sum();
    let mut outcomes = answered;
    for class in [
        "timed_out",
        "unfinished",
        "refused",
        "exhausted",
        "closed",
        "reset",
        "tls_failed",
        "malformed",
        "aborted",
    ] {
        outcomes += arm(&format!("outcomes/{class}"))?;
    }
    let (intended, sent, dropped) = (arm("intended")?, arm("sent")?, arm("dropped")?);
    let in_flight = arm("in_flight")?;
    let measured = format!(
        "{intended} intended, {sent} sent, {dropped} dropped; {outcomes} outcomes, {in_flight} in flight"
    );
    let gap = (intended - sent - dropped).abs() + (sent - outcomes - in_flight).abs();
    Ok(Bar::judged(
        format!("{name}: own accounts"),
        "intended = sent + dropped; sent = outcomes + in flight",
        measured,
        gap < 0.5,
    ))
}

/// A mock that was killed or stopped has received at least what was answered and at most what was sent.
fn bounds(name: &str, outcome: &Outcome, totals: &Totals) -> Result<Bar, Error> {
    let answered = outcome.main("outcomes/answered/200")?;
    let (sent, received) = (outcome.main("sent")?, received(totals));
    #[expect(
        clippy::cast_precision_loss,
        reason = "counts of a run of seconds are far below 2^52"
    )]
    let held = answered <= received as f64 && received as f64 <= sent;
    Ok(Bar::judged(
        format!("{name}: against the mock"),
        "answered ≤ received ≤ sent",
        format!("{answered} answered, {received} received, {sent} sent"),
        held,
    ))
}

fn received(totals: &Totals) -> u64 {
    totals.get(Counter::Received)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of a run of seconds are far below 2^52"
)]
fn same(reported: f64, counted: u64) -> bool {
    (reported - counted as f64).abs() < 0.5
}
