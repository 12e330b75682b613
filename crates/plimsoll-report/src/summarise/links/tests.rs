//! Links whose slopes, gains and bends are known by construction.

mod late;

use super::*;
use crate::record::LinkTurns;
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
        late_s: None,
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

fn found(rows: &[DelayRow]) -> (Vec<LinkSummary>, CriticalLink) {
    let found = summarise(rows, 1);
    (found.links, found.critical.unwrap())
}

fn notes(rows: &[DelayRow]) -> Vec<String> {
    summarise(rows, 1).notes
}

/// Whether a load is that of the log at half the rate.
fn is_half_of_log(row: &DelayRow) -> bool {
    row.purpose == DelayPurpose::HalfRate(Some("api -> log".to_owned()))
}

#[test]
fn calls_in_sequence_have_slope_one_and_gain_their_own_time() {
    let (links, critical) = found(&rows(true));
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
    assert_eq!(critical.name.as_deref(), Some("secrets"));
    assert!(
        critical.sentence.contains("110 ms sooner of 230 ms"),
        "{}",
        critical.sentence
    );
    assert_eq!(may_be_waited_for(&rows(true)).len(), 2);
}

/// As the lab writes them: a load that was spoiled, and behind it the one that was run again in its place.
#[test]
fn a_spoiled_load_that_was_run_again_changes_nothing() {
    let usable = rows(true);
    let whole = found(&usable);
    let spoiled = usable.iter().flat_map(|row| {
        let mut spoiled = row.clone();
        spoiled.void_for = vec![Statistic::Mean, Statistic::P50, Statistic::P99];
        spoiled.response_time.mean = Some(7.0);
        [spoiled, row.clone()]
    });
    let both: Vec<DelayRow> = spoiled.collect();
    let (links, critical) = found(&both);
    assert_eq!(critical, whole.1);
    assert_eq!(
        notes(&both),
        [
            "90 of 180 loads are left out where criteria of validity reach their figures",
            "90 loads whose mean could not be used ran again"
        ]
    );
    for (link, known) in links.iter().zip(&whole.0) {
        assert_eq!(link.slope, known.slope);
        assert_eq!(link.gain, known.gain);
        assert!(link.gain.is_some() && link.why_no_gain.is_none());
        assert_eq!((link.shape, link.saturated), (known.shape, known.saturated));
        assert_eq!(link.delays, known.delays);
    }
}

#[test]
fn a_link_that_nobody_waits_for_has_no_slope_and_no_gain() {
    let (links, _) = found(&rows(false));
    assert_eq!(links[0].reading, "callers do not wait for it");
    assert!(links[0].gain.unwrap().value.abs() < 1e-9);
    assert_eq!(
        may_be_waited_for(&rows(false)),
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
    let (links, critical) = found(&rows);
    assert_eq!(
        (links[0].saturated, links[1].saturated),
        (Some(true), Some(false))
    );
    assert!(links[0].gain.is_none() && links[0].reading.starts_with("includes queueing"));
    assert_eq!(critical.name, None, "the log may cost more");
    let ends = "Not known: log, for its slope includes queueing";
    assert!(critical.sentence.ends_with(ends), "{}", critical.sentence);
}

/// Half the rate was void: nobody knows whether the slope is that of a queue.
#[test]
fn a_slope_that_nothing_was_held_against_claims_no_gain() {
    let mut rows = rows(true);
    for half in rows.iter_mut().filter(|row| is_half_of_log(row)) {
        half.void_for = Statistic::ALL.to_vec();
    }
    let (links, critical) = found(&rows);
    assert_eq!((links[0].saturated, links[0].gain), (None, None));
    assert!(links[1].gain.is_some());
    assert_eq!(critical.name, None);
    let ends = "Not known: log, for no valid load at half the rate says whether its slope is that of a queue";
    assert!(critical.sentence.ends_with(ends), "{}", critical.sentence);
}

/// Nobody waits for secrets, and nothing says whether the slope of the log is that of a queue.
#[test]
fn no_gain_without_one_link_says_nothing_of_another() {
    let mut rows = rows(true);
    for row in &mut rows {
        let delay = row.delayed.get("api -> secrets").copied().unwrap_or(0.0);
        row.response_time.mean = row.response_time.mean.map(|mean| mean - delay);
        row.response_time.p50 = row.response_time.mean;
        if row.purpose == DelayPurpose::Gain(Some("api -> secrets".to_owned())) {
            add(row, if row.round % 2 == 0 { 0.0005 } else { -0.0005 });
        }
        if is_half_of_log(row) {
            row.void_for = Statistic::ALL.to_vec();
        }
    }
    let (links, critical) = found(&rows);
    assert_eq!(links[1].reading, "callers do not wait for it");
    let sentence = critical.sentence;
    let begins = "callers would gain next to nothing without secrets: ";
    assert!(sentence.starts_with(begins), "{sentence}");
    assert!(sentence.contains("Not known: log, for "), "{sentence}");
    for row in &mut rows {
        if matches!(row.purpose, DelayPurpose::HalfRate(_)) {
            row.void_for = Statistic::ALL.to_vec();
        }
        row.links.remove("api -> secrets");
        row.delayed.remove("api -> secrets");
    }
    let sentence = found(&rows).1.sentence;
    let begins = "no dependency's gain is known: log, for no valid load";
    assert!(sentence.starts_with(begins), "{sentence}");
}

/// The caller gives up on the log before that answers, and does without: a later answer costs it no more.
#[test]
fn a_link_without_an_answer_may_cost_callers_all_the_same() {
    let mut rows = rows(false);
    for row in &mut rows {
        row.links.get_mut("api -> log").unwrap().turn_time_s = None;
    }
    rows.retain(|row| row.purpose != DelayPurpose::Gain(Some("api -> log".to_owned())));
    assert!(may_be_waited_for(&rows).contains("api -> log"));
    let (_, critical) = found(&rows);
    assert_eq!(critical.name, None);
    let ends = "Not known: log, for no turn on it was answered";
    assert!(critical.sentence.ends_with(ends), "{}", critical.sentence);
}

/// Neither is told from the other, and the third is not known.
#[test]
fn what_is_not_known_stands_beside_what_is_not_told_apart() {
    let mut rows = rows(true);
    let is_gain = |row: &&mut DelayRow| matches!(row.purpose, DelayPurpose::Gain(Some(_)));
    for row in rows.iter_mut().filter(is_gain) {
        let off = if row.round % 2 == 0 { 0.02 } else { -0.02 };
        row.response_time.mean = row.response_time.mean.map(|mean| mean + off);
    }
    let third = LinkTurns {
        turns: 30,
        per_exchange: 1.0,
        turn_time_s: None,
        late_s: None,
    };
    for row in &mut rows {
        row.links.insert("api -> third".to_owned(), third);
    }
    let (_, critical) = found(&rows);
    let sentence = critical.sentence;
    let begins = "which dependency is critical is not told apart: secrets: ";
    assert!(sentence.starts_with(begins), "{sentence}");
    assert!(
        sentence.contains("; about ") && sentence.contains(" more rounds would tell. Not"),
        "{sentence}"
    );
    assert!(
        sentence.ends_with("Not known: third, for no turn on it was answered"),
        "{sentence}"
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
    assert!(may_be_waited_for(&rows).contains("api -> log"));
    let (links, critical) = found(&rows);
    assert_eq!((links[0].saturated, links[0].gain), (None, None));
    assert_eq!(critical.name, None, "the log may cost more");
    let ends = "Not known: log, for no valid load at half the rate says whether its slope is that of a queue";
    assert!(critical.sentence.ends_with(ends), "{}", critical.sentence);
}

/// Of loads with all links delayed, with another response time and other turns of the log: no gain is claimed, and this is why.
fn doubt(change: impl Fn(&mut DelayRow)) -> String {
    let mut rows = rows(true);
    let is_gain = |row: &&mut DelayRow| matches!(row.purpose, DelayPurpose::Gain(_));
    rows.iter_mut().filter(is_gain).for_each(change);
    let (links, critical) = found(&rows);
    assert!(links.iter().all(|link| link.gain.is_none()));
    assert!(links.iter().all(|link| link.why_no_gain.is_some()));
    assert_eq!(critical.name, None);
    critical.sentence
}

fn add(row: &mut DelayRow, seconds: f64) {
    row.response_time.mean = row.response_time.mean.map(|mean| mean + seconds);
}

#[test]
fn a_queue_under_all_delays_claims_no_gain() {
    let said = doubt(|row| add(row, 1.0));
    assert!(said.starts_with("no gain is claimed: "), "{said}");
    assert!(said.ends_with("the rest was queueing"), "{said}");
    // More turns in a load that enters nothing are no reason.
    let said = doubt(|row| {
        add(row, 1.0);
        if row.round == 3 {
            row.void_for = Statistic::ALL.to_vec();
            row.links.get_mut("api -> log").unwrap().per_exchange = 20.0;
        }
    });
    assert!(said.ends_with("the rest was queueing"), "{said}");
}

/// A caller that gives up on the log and asks again, once all links are delayed.
#[test]
fn retries_under_all_delays_are_not_called_a_queue() {
    let said = doubt(|row| {
        let delay = row.delayed["api -> log"];
        add(row, 2.0 * delay);
        row.links.get_mut("api -> log").unwrap().per_exchange = 3.0;
    });
    assert!(said.ends_with("as by retries"), "{said}");
}

/// A caller that gives up on either after 20 ms more than they take.
#[test]
fn delays_that_were_cut_short_claim_no_gain() {
    let said = doubt(|row| {
        let beyond = |link: &str| (row.delayed[link] - 0.02).max(0.0);
        let beyond = beyond("api -> log") + beyond("api -> secrets");
        add(row, -beyond);
    });
    assert!(
        said.ends_with("it was cut short, as by a timeout"),
        "{said}"
    );
}

/// Two calls one after the other whose bytes cross on one connection are one turn by its account: the slope tells that they are two.
#[test]
fn more_calls_than_turns_are_no_queue() {
    let twice = |noise: f64| {
        let mut rows = rows(true);
        for row in &mut rows {
            let delay = row.delayed.get("api -> log").copied().unwrap_or(0.0);
            let of_slope = matches!(row.purpose, DelayPurpose::Slope(_));
            let off = if row.round % 2 == 0 { noise } else { -noise };
            add(row, delay * if of_slope { 1.0 + off } else { 1.0 });
        }
        rows
    };
    let (links, _) = found(&twice(0.0));
    assert!((links[0].slope.mean.unwrap().value - 2.0).abs() < 1e-9);
    assert!(links.iter().all(|link| link.gain.is_some()));
    // An interval that reaches from 1 to 3 explains no more.
    let mut rows = twice(1.0);
    let is_gain = |row: &&mut DelayRow| matches!(row.purpose, DelayPurpose::Gain(_));
    rows.iter_mut()
        .filter(is_gain)
        .for_each(|row| add(row, 0.12));
    let (links, critical) = found(&rows);
    assert_eq!(links[0].saturated, Some(false));
    assert!(links.iter().all(|link| link.gain.is_none()));
    assert!(
        critical.sentence.ends_with("the rest was queueing"),
        "{}",
        critical.sentence
    );
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
    let (links, _) = found(&rows);
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
    let (links, _) = found(&rows);
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
    let (links, _) = found(&rows);
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
    let (_, critical) = found(&rows);
    assert_eq!(critical.name, None);
    let begins = "whether callers would gain anything without log or secrets is not told";
    assert!(
        critical.sentence.starts_with(begins),
        "{}",
        critical.sentence
    );
}
