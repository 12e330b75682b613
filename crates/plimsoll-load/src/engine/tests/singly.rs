//! Exchanges one by one: each is told once, and they say what the histograms say.

use super::rig::{Answer, Server, count, plan};
use crate::fragment::{Fragment, Message};
use crate::plan::{Extract, Source};
use crate::results::exchange::Exchange;
use plimsoll_base::outcome::Outcome;
use plimsoll_base::outcome_class::OutcomeClass;
use plimsoll_base::tally::StepTally;
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

/// Throughput is what ends within the measured time, wherever in a second that begins and ends.
#[test]
fn fragments_and_single_exchanges_agree_on_what_ended_within_the_measured_time() {
    let check = |warmup: u64, duration: u64, stop: bool| {
        let server = Server::start(|_| Answer::After(Duration::from_millis(30)));
        let mut plan = plan(server.address);
        plan.warmup = Duration::from_millis(warmup);
        plan.duration = Duration::from_millis(duration);
        let begin = plan.warmup;
        let (ended, within) = both_counts(plan, stop);
        let end = Duration::from_secs_f64(within.ended_s);
        let of_list = ended.iter().filter(|at| (begin..end).contains(*at)).count() as u64;
        // A thread that hears of a stop too late counts what it has done since then.
        let off = if stop { of_list / 10 } else { 0 };
        assert!(
            of_list > 0 && within.answered.abs_diff(of_list) <= off,
            "{} and {of_list} of {warmup} ms and {duration} ms, stopped: {stop}",
            within.answered
        );
    };
    check(0, 1_100, false);
    check(250, 700, false);
    check(300, 60_000, true);
}

/// Sums of fragments over the measured time.
struct Within {
    answered: u64,
    ended_s: f64,
}

/// When each answered exchange ended, and what the fragments say; stopped after the first of them if so wanted.
fn both_counts(plan: crate::plan::Plan, stop: bool) -> (Vec<Duration>, Within) {
    let begin_s = plan.warmup.as_secs_f64();
    let (mut ended, mut fragments, mut ended_s) = (Vec::new(), Vec::<Fragment>::new(), 0.0);
    let (stopping, stopped) = watch::channel(false);
    crate::run_singly(
        plan,
        stopped,
        &mut |message| match message {
            Message::Fragment(fragment) => {
                stopping.send_replace(stop);
                fragments.push(fragment);
            }
            Message::Finished(totals) => ended_s = totals.ended_s,
            _ => {}
        },
        &mut |some| {
            assert_eq!(some.left_out, 0);
            let answered = some.list.iter();
            let answered = answered.filter(|one| matches!(one.outcome, Outcome::Answered(_)));
            ended.extend(answered.map(|one| one.intended + one.response));
        },
    )
    .unwrap();
    let within = fragments.iter().filter(|own| {
        let of_warmup = own.warmup && own.length_s == 0.0;
        own.start_s >= begin_s && own.start_s < ended_s && (!own.warmup || of_warmup)
    });
    let steps = within.flat_map(|own| &own.steps);
    let answered = steps.map(StepTally::answered).sum();
    (ended, Within { answered, ended_s })
}

/// A plan that asks for it gets every exchange among its messages, before the last.
#[test]
fn a_plan_may_ask_for_single_exchanges() {
    let server = Server::start(|number| match number % 2 {
        0 => Answer::Status(200),
        _ => Answer::Status(503),
    });
    let mut plan = plan(server.address);
    plan.singly = true;
    let (mut single, mut accounts) = (vec![], None);
    let (_stop, stopped) = watch::channel(false);
    crate::run(plan, stopped, &mut |message| match message {
        Message::Exchanges(some) => single.extend(some),
        Message::Finished(totals) => accounts = Some((totals, single.len())),
        _ => {}
    })
    .unwrap();
    let (accounts, before) = accounts.unwrap();
    assert_eq!(single.len(), before);
    let measured = &accounts.measured;
    let of = |class| single.iter().filter(|one| one.class == class).count() as u64;
    for (class, status) in [
        (OutcomeClass::Passed, 200),
        (OutcomeClass::CheckFailed, 503),
    ] {
        assert!(of(class) > 0);
        assert_eq!(of(class), count(measured, class));
        let mut alike = single.iter().filter(|one| one.class == class);
        assert!(alike.all(|one| one.status == Some(status)));
    }
}

/// An exchange that we cut off at the end is told, too: whoever judges arrivals one by one must not take it for none.
#[test]
fn exchanges_that_are_cut_off_are_told() {
    let server = Server::start(|number| match number {
        0..20 => Answer::Status(200),
        _ => Answer::Never,
    });
    let mut plan = plan(server.address);
    plan.singly = true;
    plan.timeout = Duration::from_secs(60);
    let (mut single, mut accounts) = (vec![], None);
    let (stop, stopped) = watch::channel(false);
    crate::run(plan, stopped, &mut |message| match message {
        Message::Exchanges(some) => {
            single.extend(some);
            stop.send_replace(true);
        }
        Message::Finished(totals) => accounts = Some(totals),
        _ => {}
    })
    .unwrap();
    let aborted = single
        .iter()
        .filter(|one| one.class == OutcomeClass::Aborted);
    let expected = count(&accounts.unwrap().measured, OutcomeClass::Aborted);
    assert!(expected > 0);
    assert_eq!(aborted.count() as u64, expected);
}

/// Values that a step takes out of answers stand with the exchange, as far as they were found.
#[test]
fn extracted_values_are_told() {
    let server = Server::start(|number| match number % 2 {
        0 => Answer::Status(200),
        _ => Answer::Status(503),
    });
    let mut plan = plan(server.address);
    plan.singly = true;
    let extract = |name: &str, from: Source, default: Option<&str>| Extract {
        name: name.to_owned(),
        from,
        default: default.map(str::to_owned),
    };
    let absent = || Source::Header("x-absent".to_owned());
    plan.steps[0].extract = vec![
        extract("length", Source::Header("content-length".to_owned()), None),
        extract("absent", absent(), None),
        extract("assumed", absent(), Some(&"ab".repeat(200))),
    ];
    let mut single = vec![];
    let (_stop, stopped) = watch::channel(false);
    crate::run(plan, stopped, &mut |message| {
        if let Message::Exchanges(some) = message {
            single.extend(some);
        }
    })
    .unwrap();
    let answered = single.iter().filter(|one| one.status.is_some());
    let answered: Vec<_> = answered.map(|one| one.extracted.clone()).collect();
    assert!(!answered.is_empty());
    let expected = [
        ("assumed".to_owned(), "ab".repeat(50)),
        ("length".to_owned(), "2".to_owned()),
    ];
    for found in answered {
        assert_eq!(found, expected.clone().into());
    }
}
