//! Requests, choices and extractions of virtual users, as a server sees them.

use super::rig::{LONG, Outcome, open, plan, run, step};
use crate::plan::*;
use plimsoll_base::outcome_class::OutcomeClass;
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Requests that a server received, whole, as text.
type Seen = Arc<Mutex<Vec<String>>>;

/// A server that keeps every request. `/login` sets a cookie and gives a token, `/old` redirects to `/new`, `/nothing` gives an empty object.
fn echo() -> (SocketAddr, Seen) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let seen = Seen::default();
    let kept = Arc::clone(&seen);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let seen = Arc::clone(&kept);
            std::thread::spawn(move || converse(stream, &seen));
        }
    });
    (address, seen)
}

fn converse(stream: TcpStream, seen: &Seen) {
    let mut output = stream.try_clone().unwrap();
    let mut input = BufReader::new(stream);
    loop {
        let mut request = String::new();
        let mut length = 0;
        loop {
            let start = request.len();
            if input.read_line(&mut request).unwrap_or(0) == 0 {
                return;
            }
            let line = request[start..].trim_end().to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.parse().unwrap();
            }
            if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        input.read_exact(&mut body).unwrap();
        request.push_str(&String::from_utf8(body).unwrap());
        let path = request.split(' ').nth(1).unwrap().to_owned();
        seen.lock().unwrap().push(request);
        let (status, fields, body) = match path.as_str() {
            "/login" => (
                "200 OK",
                "Set-Cookie: sid=abc; Path=/\r\n",
                r#"{"token":"t&1"}"#,
            ),
            "/old" => ("302 Found", "Location: new?x=1\r\n", ""),
            "/nothing" => ("200 OK", "", "{}"),
            _ => ("200 OK", "X-Kind: echo\r\n", r#"{"ok":true}"#),
        };
        let answer = format!(
            "HTTP/1.1 {status}\r\n{fields}Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        if output.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

fn value(expression: &str) -> Piece {
    let none = |name: &str| Err(name.to_owned());
    Piece::Value(Expression::parse(expression, none).unwrap())
}

fn literal(text: &str) -> Piece {
    Piece::Literal(text.to_owned())
}

/// So many iterations in all: the rows of a feeder whose one column is `id`.
fn rows(count: u32, order: Order) -> FeederPlan {
    let rows: Vec<String> = (0..count).map(|row| row.to_string()).collect();
    FeederPlan {
        name: "ids".to_owned(),
        format: Format::Csv,
        text: format!("id\n{}\n", rows.join("\n")),
        order,
        at_end: AtEnd::Stop,
    }
}

/// A plan that goes on until its feeder ends it.
fn until_the_rows_end(address: SocketAddr) -> Plan {
    Plan {
        duration: Duration::from_secs(100),
        ..plan(address)
    }
}

fn users(count: u32) -> Load {
    Load::closed(count, Duration::ZERO, LONG)
}

fn first_line(request: &str) -> String {
    request.lines().next().unwrap().to_owned()
}

#[test]
fn rows_and_values_are_the_same_whatever_the_number_of_shards() {
    let requests = |shards| {
        let (address, seen) = echo();
        let mut plan = until_the_rows_end(address);
        plan.shards = shards;
        plan.scenarios[0].load = users(4);
        plan.data.feeders = vec![rows(40, Order::Shuffled)];
        plan.steps[0].path = Text(vec![
            literal("/item/"),
            value("id"),
            literal("?u="),
            value("uuid()"),
        ]);
        let outcome = run(plan);
        assert_eq!(outcome.accounts.measured.sent, 40);
        let mut lines: Vec<String> = seen
            .lock()
            .unwrap()
            .iter()
            .map(|request| first_line(request))
            .collect();
        lines.sort();
        lines
    };
    let of_one = requests(1);
    assert_eq!(of_one.len(), 40);
    let mut ids: Vec<&str> = of_one
        .iter()
        .map(|line| line.split(['/', '?']).nth(2).unwrap())
        .collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 40, "each row is dealt once");
    assert_eq!(requests(2), of_one);
}

/// The rows that a server saw, in ascending order; paths are `/NAME/ROW`.
fn rows_seen(seen: &Seen) -> Vec<u32> {
    let seen = seen.lock().unwrap();
    let rows = seen.iter().filter_map(|request| {
        let path = request.split(' ').nth(1)?;
        path.split('/').nth(2)?.parse().ok()
    });
    let mut rows: Vec<u32> = rows.collect();
    rows.sort_unstable();
    rows
}

/// Two scenarios that run unevenly share a feeder, a third does without: each row goes out once and none is left out, in the open model and
/// in the closed one, whatever the number of shards.
#[test]
fn scenarios_leave_no_row_out() {
    let feeder = FeederPlan {
        at_end: AtEnd::Repeat,
        ..rows(10_000, Order::Sequential)
    };
    let check = |shards, loads: [Load; 3]| {
        let (address, seen) = echo();
        let mut plan = plan(address);
        plan.shards = shards;
        plan.duration = Duration::from_millis(500);
        plan.data.feeders = vec![feeder.clone()];
        plan.data.dealing = Dealing::Needed;
        plan.steps = ["often", "seldom", "never"].map(step).to_vec();
        for step in &mut plan.steps[..2] {
            step.path = Text(vec![literal(&format!("/{}/", step.name)), value("id")]);
        }
        let scenarios = loads.into_iter().enumerate().map(|(index, load)| Scenario {
            name: index.to_string(),
            load,
            program: vec![Action::Step(index)],
            iterations: None,
        });
        plan.scenarios = scenarios.collect();
        let outcome = run(plan);
        let seen = rows_seen(&seen);
        let sent = |step: usize| outcome.accounts.measured.steps[step].sent;
        assert!(sent(0) > sent(1) && sent(1) > 0 && sent(2) > 0);
        let expected: Vec<u32> = (0..).take(seen.len()).collect();
        assert_eq!(seen, expected, "{shards} shards");
        assert_eq!(seen.len() as u64, sent(0) + sent(1));
    };
    for shards in [1, 2] {
        check(
            shards,
            [open(200.0, 4, 100), open(20.0, 4, 100), open(100.0, 4, 100)],
        );
        let thinking = |ms| Load::closed(2, Duration::from_millis(ms), LONG);
        check(shards, [thinking(5), thinking(50), thinking(20)]);
    }
}

/// Rows are dealt to the ways of one mix, each of which gets rows of the feeders that it needs; a feeder that ends stops those that would need a row.
#[test]
fn ways_leave_no_row_out() {
    let (address, seen) = echo();
    let mut plan = until_the_rows_end(address);
    plan.shards = 2;
    plan.scenarios[0].load = users(4);
    plan.data.feeders = vec![rows(200, Order::Sequential)];
    plan.data.dealing = Dealing::Needed;
    plan.steps = ["reads", "writes"].map(step).to_vec();
    plan.steps[1].path = Text(vec![literal("/writes/"), value("id")]);
    let way = |index: usize, weight| Choice {
        weight,
        actions: vec![Action::Group {
            name: index.to_string(),
            actions: vec![Action::Step(index)],
        }],
    };
    plan.scenarios[0].program = vec![Action::Mix(vec![way(0, 3), way(1, 1)])];
    let outcome = run(plan);
    assert_eq!(rows_seen(&seen), (0..200).collect::<Vec<u32>>());
    let steps = &outcome.accounts.measured.steps;
    assert_eq!(steps[1].sent, 200);
    assert_eq!(outcome.accounts.measured.sent, steps[0].sent + 200);
}

/// On as many shards as one likes, and whichever notices: what was carried out is counted, and nothing is begun after.
#[test]
fn a_feeder_whose_end_is_an_error_ends_the_load_and_keeps_the_accounts() {
    // At the higher rate arrivals wait for users who have stopped.
    for (shards, rate) in [(1, 200.0), (2, 200.0), (1, 20_000.0), (2, 20_000.0)] {
        let (address, seen) = echo();
        let mut plan = until_the_rows_end(address);
        plan.shards = shards;
        plan.scenarios[0].load = open(rate, 2, 1_000);
        plan.data.feeders = vec![FeederPlan {
            at_end: AtEnd::Error,
            ..rows(20, Order::Sequential)
        }];
        plan.steps[0].path = Text(vec![literal("/item/"), value("id")]);
        let outcome = run(plan);
        let accounts = &outcome.accounts;
        let sent = accounts.measured.sent;
        assert_eq!(seen.lock().unwrap().len() as u64, sent);
        // What waited for a user when the end was noticed was not begun any more.
        assert!((1..=20).contains(&sent), "{sent}");
        assert!(accounts.stopped && accounts.ended_s < 50.0, "{accounts:?}");
        let [end] = accounts.feeders_ended.as_slice() else {
            panic!("{accounts:?}");
        };
        assert_eq!(
            (end.feeder.as_str(), end.rows, end.failed),
            ("ids", 20, true)
        );
        assert!(end.at_s > 0.0 && end.at_s <= accounts.ended_s, "{end:?}");
    }
}

/// One scenario's users have no row left and stop, and with them a shard perhaps; those of the other go on until the plan's end.
#[test]
fn a_load_lasts_as_long_as_one_scenario_goes_on() {
    let (address, _) = echo();
    let mut plan = plan(address);
    plan.shards = 2;
    plan.duration = Duration::from_secs(1);
    plan.steps = vec![step("fed"), step("free")];
    plan.steps[0].path = Text(vec![literal("/item/"), value("id")]);
    plan.data.feeders = vec![rows(3, Order::Sequential)];
    plan.data.dealing = Dealing::Needed;
    plan.scenarios = vec![
        Scenario::of_steps("fed", users(1), 1),
        Scenario {
            program: vec![Action::Step(1)],
            ..Scenario::of_steps("free", Load::closed(1, Duration::from_millis(10), LONG), 1)
        },
    ];
    let outcome = run(plan);
    let accounts = &outcome.accounts;
    assert_eq!(accounts.measured.steps[0].sent, 3);
    assert!(accounts.measured.steps[1].sent > 3);
    assert!(!accounts.stopped, "{accounts:?}");
    assert_eq!(accounts.feeders_ended.len(), 1);
    assert!(!accounts.feeders_ended[0].failed);
}

#[test]
fn requests_are_sent_as_they_are_written() {
    let (address, seen) = echo();
    let mut plan = until_the_rows_end(address);
    plan.target.authority = "shop.example".to_owned();
    plan.scenarios[0].load = users(1);
    plan.data.feeders = vec![rows(1, Order::Sequential)];
    plan.data.cookies = Cookies::Keep;
    plan.data.values = vec![("tenant".to_owned(), "a b".to_owned())];
    plan.steps[0].path = "/login".into();
    plan.steps[0].extract = vec![Extract {
        name: "token".to_owned(),
        from: Source::JsonPath("$.token".to_owned()),
        default: None,
    }];
    let mut second = step("order");
    second.method = "POST".to_owned();
    second.path = Text(vec![
        literal("/o/"),
        value("tenant"),
        literal("?t="),
        value("urlencode(token)"),
    ]);
    second.headers = vec![
        ("X-Bad".to_owned(), Text(vec![value(r"'a\r\nB: c'")])),
        (
            "X-Sign".to_owned(),
            Text(vec![value("hmac(sha1, 'k', join(method, path, body))")]),
        ),
    ];
    second.body = Text(vec![literal("{\"t\":\""), value("token"), literal("\"}")]);
    second.check.also = vec![
        Predicate::Header {
            name: "x-kind".to_owned(),
            value: Some(Match::Equals("echo".into())),
        },
        Predicate::JsonPath {
            path: "$.ok".to_owned(),
            equals: Some("false".into()),
        },
    ];
    plan.steps.push(second);
    plan.scenarios[0].program.push(Action::Step(1));
    let outcome = run(plan);
    let seen = seen.lock().unwrap();
    let sent = seen[1]
        .replace(env!("CARGO_PKG_VERSION"), "V")
        .replace('\r', "");
    insta::assert_snapshot!(sent, @r#"
    POST /o/a%20b?t=t%261 HTTP/1.1
    Host: shop.example
    User-Agent: plimsoll/V
    X-Bad: a  B: c
    X-Sign: e20034320f74655d2c00b756a429403ee121984e
    Cookie: sid=abc
    Content-Length: 11

    {"t":"t&1"}
    "#);
    let checks: BTreeMap<_, _> = outcome
        .measured()
        .flat_map(|fragment| fragment.steps[1].checks.clone())
        .map(|(name, count)| (name, (count.passed, count.failed)))
        .collect();
    insta::assert_snapshot!(format!("{checks:?}"), @r#"{"header x-kind equals echo": (1, 0), "jsonpath $.ok equals": (0, 1)}"#);
}

#[test]
fn a_redirect_is_an_exchange_of_its_own() {
    let (address, seen) = echo();
    let mut plan = until_the_rows_end(address);
    plan.target.authority = "shop.example".to_owned();
    plan.scenarios[0].load = users(1);
    plan.data.feeders = vec![rows(3, Order::Sequential)];
    plan.steps[0].path = "/old".into();
    plan.steps[0].check.status = Some(vec![200]);
    plan.steps[0].follow = Some(Follow { most: 2, series: 1 });
    let mut hops = plan.steps[0].clone();
    hops.name = "hops".to_owned();
    plan.steps.push(hops);
    let outcome = run(plan);
    let lines: Vec<String> = seen
        .lock()
        .unwrap()
        .iter()
        .map(|request| first_line(request))
        .collect();
    assert_eq!(lines[..2], ["GET /old HTTP/1.1", "GET /new?x=1 HTTP/1.1"]);
    for step in &outcome.accounts.measured.steps {
        assert_eq!(step.sent, 3);
        assert_eq!(step.classes.get(&OutcomeClass::Passed), Some(&3));
    }
}

#[test]
fn what_cannot_be_extracted_fails_and_ends_the_iteration() {
    let (address, seen) = echo();
    let mut plan = until_the_rows_end(address);
    plan.scenarios[0].load = users(1);
    plan.data.feeders = vec![rows(5, Order::Sequential)];
    plan.steps[0].path = "/nothing".into();
    plan.steps[0].extract = vec![Extract {
        name: "token".to_owned(),
        from: Source::JsonPath("$.token".to_owned()),
        default: None,
    }];
    plan.steps.push(step("never"));
    plan.scenarios[0].program.push(Action::Step(1));
    let outcome = run(plan);
    assert_eq!(seen.lock().unwrap().len(), 5);
    let steps = &outcome.accounts.measured.steps;
    assert_eq!(steps[0].classes.get(&OutcomeClass::CheckFailed), Some(&5));
    assert_eq!(steps[1].sent, 0);
}

/// So many requests over three steps whose weights are 1, 2 and 7 are chi-square distributed with 2 degrees of freedom: beyond 13.8 once in a
/// thousand seeds.
fn check_weights(program: impl FnOnce(Vec<Choice>) -> Vec<Action>) -> Outcome {
    let (address, seen) = echo();
    let mut plan = until_the_rows_end(address);
    plan.scenarios[0].load = users(2);
    plan.data.feeders = vec![rows(3_000, Order::Sequential)];
    let weights = [1_u32, 2, 7];
    plan.steps = (0..weights.len())
        .map(|index| Step {
            path: format!("/{index}").into(),
            ..step(&index.to_string())
        })
        .collect();
    let choices = (0..).zip(weights).map(|(index, weight)| Choice {
        weight,
        actions: vec![Action::Step(index)],
    });
    plan.scenarios[0].program = program(choices.collect());
    let outcome = run(plan);
    assert_eq!(seen.lock().unwrap().len(), 3_000);
    let steps = &outcome.accounts.measured.steps;
    let chi: f64 = steps
        .iter()
        .zip(weights)
        .map(|(step, weight)| {
            let expected = f64::from(weight) * 300.0;
            #[expect(clippy::cast_precision_loss, reason = "at most 3,000")]
            let seen = step.sent as f64;
            (seen - expected).powi(2) / expected
        })
        .sum();
    assert!(chi < 13.8, "{chi}: {steps:?}");
    outcome
}

#[test]
fn a_program_that_is_one_choice_keeps_its_weights() {
    check_weights(|choices| vec![Action::Mix(choices)]);
}

/// And the ways around the choice are gone as often as the plan says.
#[test]
fn choices_keep_their_weights() {
    let condition = Condition {
        left: Text(vec![value("id")]),
        comparison: Comparison::Less,
        right: "0".into(),
    };
    let outcome = check_weights(|choices| {
        vec![Action::Group {
            name: "all".to_owned(),
            actions: vec![Action::If {
                condition,
                then: vec![Action::Step(0)],
                otherwise: vec![Action::Mix(choices)],
            }],
        }]
    });
    let grouped: u64 = outcome
        .measured()
        .filter_map(|fragment| fragment.groups.get("all"))
        .map(|group| group.count)
        .sum();
    assert_eq!(grouped, 3_000);
}
