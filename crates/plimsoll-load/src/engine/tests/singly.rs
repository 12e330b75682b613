//! Exchanges one by one: each is told once, and they say what the histograms say.

use super::rig::{Answer, Server, count, plan};
use crate::exchange::Exchange;
use crate::fragment::Message;
use plimsoll_base::outcome::{Outcome, OutcomeClass};
use std::time::Duration;
use tokio::sync::watch;

#[test]
fn every_exchange_is_told_once_with_its_times() {
    let server = Server::start(|number| match number % 3 {
        0 => Answer::Status(200),
        1 => Answer::ThenClose,
        _ => Answer::Status(503),
    });
    let mut plan = plan(server.address);
    plan.warmup = Duration::from_millis(100);
    let mut exchanges: Vec<Exchange> = vec![];
    let mut accounts = None;
    let (_stop, stopped) = watch::channel(false);
    crate::run_singly(
        plan,
        stopped,
        &mut |message| {
            if let Message::Finished(totals) = message {
                accounts = Some(totals);
            }
        },
        &mut |some| {
            assert_eq!(some.left_out, 0);
            exchanges.extend(&some.list);
        },
    )
    .unwrap();
    let measured = &accounts.unwrap().measured;
    let with = |status| {
        let alike = |one: &&Exchange| !one.warmup && one.outcome == Outcome::Answered(status);
        exchanges.iter().filter(alike).count() as u64
    };
    assert_eq!(
        (with(200), with(503)),
        (
            count(measured, OutcomeClass::Passed),
            count(measured, OutcomeClass::CheckFailed)
        )
    );
    let answered = |one: &&Exchange| matches!(one.outcome, Outcome::Answered(_));
    for one in exchanges.iter().filter(answered) {
        assert!(
            one.service.unwrap() <= one.response && one.body_bytes == 2,
            "{one:?}"
        );
    }
    // A connection whose exchange we ended is not among them.
    let connected = exchanges.iter().filter(|one| one.connect.is_some()).count() as u64;
    let connections = server.connections();
    assert!(
        (connections - 3..=connections).contains(&connected),
        "{connected} of {connections}"
    );
    assert!(exchanges.iter().any(|one| one.warmup));
}
