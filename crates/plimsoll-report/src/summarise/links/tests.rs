//! Links whose slopes, gains and bends are known by construction.

use super::*;
use crate::record::{Gain, LinkTurns};
use indexmap::IndexMap;

/// A load of an API with own work of 30 ms that asks a log (90 ms) and secrets (110 ms), in sequence, or the log in vain.
fn row(
    round: u32,
    purpose: DelayPurpose,
    delayed: &[(&str, f64)],
    waits_for_log: bool,
) -> DelayRow {
    let delay = |link: &str| {
        let found = delayed.iter().find(|(delayed, _)| *delayed == link);
        found.map_or(0.0, |(_, delay)| *delay)
    };
    let log = if waits_for_log {
        0.090 + delay("api -> log")
    } else {
        0.0
    };
    let noise = f64::from(round % 3) * 0.0001;
    let mean = 0.030 + log + 0.110 + delay("api -> secrets") + noise;
    let turns = |turn_time_s| LinkTurns {
        turns: 30,
        per_exchange: 1.0,
        turn_time_s: Some(turn_time_s),
    };
    DelayRow {
        arm: "main".to_owned(),
        round,
        delayed: delayed
            .iter()
            .map(|(link, delay)| ((*link).to_owned(), *delay))
            .collect(),
        purpose,
        exchanges: 30,
        failed: 0,
        void_for: Vec::new(),
        response_time: TimeStatistics {
            count: 30,
            mean: Some(mean),
            p50: Some(mean),
            p99: Some(mean),
            ..TimeStatistics::default()
        },
        by_step: IndexMap::new(),
        links: [("api -> log", 0.090), ("api -> secrets", 0.110)]
            .map(|(link, time)| (link.to_owned(), turns(time)))
            .into(),
        undelayed_peers: Vec::new(),
    }
}

fn rows(waits_for_log: bool) -> Vec<DelayRow> {
    let mut rows = Vec::new();
    for round in 1..=6 {
        rows.push(row(round, DelayPurpose::Slope(None), &[], waits_for_log));
        for link in ["api -> log", "api -> secrets"] {
            for delay in [0.004, 0.008, 0.014, 0.020] {
                let purpose = DelayPurpose::Slope(Some(link.to_owned()));
                rows.push(row(round, purpose, &[(link, delay)], waits_for_log));
            }
        }
        let both = [("api -> log", 0.110), ("api -> secrets", 0.110)];
        rows.push(row(round, DelayPurpose::Gain(None), &both, waits_for_log));
        for (link, own) in [("api -> log", 0.020), ("api -> secrets", 0.0)] {
            let delayed =
                both.map(|(other, delay)| (other, if other == link { own } else { delay }));
            let purpose = DelayPurpose::Gain(Some(link.to_owned()));
            rows.push(row(round, purpose, &delayed, waits_for_log));
        }
        rows.push(row(round, DelayPurpose::HalfRate(None), &[], waits_for_log));
        for link in ["api -> log", "api -> secrets"] {
            if waits_for_log || link == "api -> secrets" {
                let purpose = DelayPurpose::HalfRate(Some(link.to_owned()));
                rows.push(row(round, purpose, &[(link, 0.020)], waits_for_log));
            }
        }
    }
    rows
}

/// Whether a load is that of the log at half the rate.
fn is_half_of_log(row: &DelayRow) -> bool {
    row.purpose == DelayPurpose::HalfRate(Some("api -> log".to_owned()))
}

#[test]
fn calls_in_sequence_have_slope_one_and_gain_their_own_time() {
    let (links, critical) = summarise(&rows(true), 1);
    let names: Vec<&str> = links.iter().map(|link| link.name.as_str()).collect();
    assert_eq!(names, ["log", "secrets"]);
    for (link, time) in links.iter().zip([0.090, 0.110]) {
        let slope = link.slope.mean.unwrap();
        assert!((slope.value - 1.0).abs() < 1e-9, "{slope:?}");
        assert_eq!(link.shape, LinkShape::Straight);
        assert_eq!(link.turn_time_s, Some(time));
        let gain = link.gain.unwrap();
        assert!((gain.value - time).abs() < 1e-9, "{gain:?}");
        assert!(link.reading.starts_with("in sequence"), "{}", link.reading);
        assert!(link.slope.p99.is_none(), "180 exchanges are too few");
        assert_eq!(link.delays.len(), 5);
    }
    let critical = critical.unwrap();
    assert_eq!(critical.name.as_deref(), Some("secrets"));
    assert!(
        critical.sentence.contains("110 ms sooner of 230 ms"),
        "{}",
        critical.sentence
    );
    assert_eq!(with_slope(&rows(true)).len(), 2);
}

#[test]
fn a_link_that_nobody_waits_for_has_no_slope_and_no_gain() {
    let (links, _) = summarise(&rows(false), 1);
    assert_eq!(links[0].reading, "callers do not wait for it");
    assert!(links[0].gain.unwrap().value.abs() < 1e-9);
    assert_eq!(
        with_slope(&rows(false)),
        ["api -> secrets".to_owned()].into()
    );
}

#[test]
fn a_slope_that_is_another_at_half_the_rate_claims_no_gain() {
    let mut rows = rows(true);
    for half in rows.iter_mut().filter(|row| is_half_of_log(row)) {
        *half = row(
            half.round,
            half.purpose.clone(),
            &[("api -> log", 0.020)],
            false,
        );
    }
    let (links, critical) = summarise(&rows, 1);
    assert_eq!(
        (links[0].saturated, links[1].saturated),
        (Some(true), Some(false))
    );
    assert!(links[0].gain.is_none() && links[0].reading.starts_with("includes queueing"));
    let critical = critical.unwrap();
    assert_eq!(critical.name, None, "the log may cost more");
    assert!(
        critical
            .sentence
            .contains("callers may wait for log, whose gain is not known"),
        "{}",
        critical.sentence
    );
}

/// Half the rate was void: nobody knows whether the slope is that of a queue.
#[test]
fn a_slope_that_nothing_was_held_against_claims_no_gain() {
    let mut rows = rows(true);
    for half in rows.iter_mut().filter(|row| is_half_of_log(row)) {
        half.void_for = Statistic::ALL.to_vec();
    }
    let (links, critical) = summarise(&rows, 1);
    assert_eq!((links[0].saturated, links[0].gain), (None, None));
    assert!(links[1].gain.is_some());
    let reading = &links[0].reading;
    assert!(reading.ends_with(NOT_HELD_AGAINST_HALF), "{reading}");
    let critical = critical.unwrap();
    assert_eq!(critical.name, None);
    let expected = "callers may wait for log, whose gain is not known";
    assert!(
        critical.sentence.ends_with(expected),
        "{}",
        critical.sentence
    );
}

/// Nobody waits for the one whose gain is known; that of the other is not.
#[test]
fn no_gain_of_one_link_is_none_of_another() {
    let mut rows = rows(true);
    for half in rows.iter_mut().filter(|row| is_half_of_log(row)) {
        half.void_for = Statistic::ALL.to_vec();
    }
    let (mut links, _) = summarise(&rows, 1);
    links[1].gain = Some(Gain {
        value: 0.0,
        low: -0.001,
        high: 0.001,
        share: Some(0.0),
    });
    let sentence = Rows(&rows).critical(&links).unwrap().sentence;
    assert_eq!(
        sentence,
        "callers would gain nothing without secrets; callers may wait for log, whose gain is not known"
    );
    links[1].gain = None;
    let sentence = Rows(&rows).critical(&links).unwrap().sentence;
    assert_eq!(
        sentence,
        "which dependency is critical is not known; callers may wait for log, secrets, whose gain is not known"
    );
}

/// A slope that may be 0 or that of a queue: it is measured at no other rate, and allows no gain.
#[test]
fn a_slope_that_may_be_a_queue_claims_no_gain() {
    let mut rows = rows(false);
    for row in &mut rows {
        let delay = row.delayed.get("api -> log").copied().unwrap_or(0.0);
        if row.purpose == DelayPurpose::Slope(Some("api -> log".to_owned())) {
            let off = if row.round % 2 == 0 { 9.0 } else { -8.0 };
            row.response_time.mean = row.response_time.mean.map(|mean| mean + off * delay);
        }
    }
    let (links, critical) = summarise(&rows, 1);
    assert_eq!((links[0].saturated, links[0].gain), (None, None));
    let critical = critical.unwrap();
    assert_eq!(critical.name, None, "the log may cost more");
    assert!(
        critical
            .sentence
            .ends_with("callers may wait for log, whose gain is not known"),
        "{}",
        critical.sentence
    );
}

/// With all links delayed a second passes that no turn explains: the differences between such loads are no gains.
#[test]
fn a_queue_under_all_delays_claims_no_gain() {
    let mut rows = rows(true);
    let is_gain = |row: &&mut DelayRow| matches!(row.purpose, DelayPurpose::Gain(_));
    for row in rows.iter_mut().filter(is_gain) {
        row.response_time.mean = row.response_time.mean.map(|mean| mean + 1.0);
    }
    let (links, critical) = summarise(&rows, 1);
    assert!(links.iter().all(|link| link.gain.is_none()));
    assert!(critical.is_none());
    let said = notes(&rows);
    assert!(said[0].contains("the rest was queueing"), "{said:?}");
}

/// Two calls that overlap on one connection, one after the other, are one turn by its account: the slope tells that they are two.
#[test]
fn more_calls_than_turns_are_no_queue() {
    let mut rows = rows(true);
    for row in &mut rows {
        let delay = row.delayed.get("api -> log").copied().unwrap_or(0.0);
        row.response_time.mean = row.response_time.mean.map(|mean| mean + delay);
    }
    let (links, _) = summarise(&rows, 1);
    assert!((links[0].slope.mean.unwrap().value - 2.0).abs() < 1e-9);
    assert!(links.iter().all(|link| link.gain.is_some()));
    assert_eq!(notes(&rows), Vec::<String>::new());
}

/// A caller that gives up on the log and asks again, once all links are delayed.
#[test]
fn retries_under_all_delays_are_not_called_a_queue() {
    let mut rows = rows(true);
    let is_gain = |row: &&mut DelayRow| matches!(row.purpose, DelayPurpose::Gain(_));
    for row in rows.iter_mut().filter(is_gain) {
        let delay = row.delayed["api -> log"];
        row.response_time.mean = row.response_time.mean.map(|mean| mean + 2.0 * delay);
        row.links.get_mut("api -> log").unwrap().per_exchange = 3.0;
    }
    let (links, critical) = summarise(&rows, 1);
    assert!(links.iter().all(|link| link.gain.is_none()));
    assert!(critical.is_none());
    let said = notes(&rows);
    assert!(said[0].ends_with("as by retries"), "{said:?}");
}

#[test]
fn a_bend_alone_is_no_saturation() {
    let mut rows = rows(true);
    // Callers notice the log from 8 ms on, at either rate.
    for row in &mut rows {
        let delay = row.delayed.get("api -> log").copied().unwrap_or(0.0);
        let mean = row.response_time.mean.unwrap() - delay.min(0.008);
        row.response_time.mean = Some(mean);
    }
    let (links, _) = summarise(&rows, 1);
    assert_eq!(links[0].saturated, Some(false));
    assert_eq!(links[0].shape, LinkShape::Bends);
    assert!((links[0].hinge_s.unwrap().value - 0.008).abs() < 0.001);
}

#[test]
fn a_load_that_is_void_or_fails_enters_nothing() {
    let mut rows = rows(true);
    let distorted = rows.iter_mut().filter(|row| row.round == 3);
    for row in distorted {
        row.response_time.mean = Some(9.0);
        row.void_for = Statistic::ALL.to_vec();
    }
    let failing = rows
        .iter_mut()
        .find(|row| row.purpose == DelayPurpose::Gain(None))
        .unwrap();
    (failing.failed, failing.response_time.mean) = (5, Some(0.0));
    let (links, _) = summarise(&rows, 1);
    assert!((links[1].slope.mean.unwrap().value - 1.0).abs() < 1e-9);
    assert!((links[1].gain.unwrap().value - 0.110).abs() < 1e-9);
    assert_eq!(notes(&rows).len(), 2);
}

/// One step waits for the log, the other does not; of the second there are enough exchanges for a p99.
#[test]
fn each_step_has_slopes_of_its_own() {
    let mut rows = rows(true);
    for row in &mut rows {
        let delay = row.delayed.get("api -> log").copied().unwrap_or(0.0);
        let times = |count, mean| TimeStatistics {
            count,
            mean: Some(mean),
            p50: Some(mean),
            p99: Some(mean),
            ..TimeStatistics::default()
        };
        let order = times(30, 0.2 + 2.0 * delay);
        let look = times(299, 0.02);
        row.by_step = [("order".to_owned(), order), ("look".to_owned(), look)].into();
    }
    let (links, _) = summarise(&rows, 1);
    let log = &links[0];
    let found = |step: &str| log.by_step[step].mean.unwrap().value;
    assert!((found("order") - 2.0).abs() < 1e-9, "{log:?}");
    assert!(found("look").abs() < 1e-9, "{log:?}");
    assert!(log.by_step["order"].p99.is_none() && log.by_step["look"].p99.is_some());
    assert_eq!(log.by_step.keys().collect::<Vec<_>>(), ["order", "look"]);
}

#[test]
fn a_gain_that_is_not_told_is_not_called_none() {
    let mut rows = rows(true);
    let is_gain = |row: &&mut DelayRow| matches!(row.purpose, DelayPurpose::Gain(Some(_)));
    for row in rows.iter_mut().filter(is_gain) {
        let off = if row.round % 2 == 0 { 0.5 } else { -0.5 };
        row.response_time.mean = row.response_time.mean.map(|mean| mean + off);
    }
    let (_, critical) = summarise(&rows, 1);
    let critical = critical.unwrap();
    assert_eq!(critical.name, None);
    let begins = "whether callers would gain anything without log or secrets is not told";
    assert!(
        critical.sentence.starts_with(begins),
        "{}",
        critical.sentence
    );
}
