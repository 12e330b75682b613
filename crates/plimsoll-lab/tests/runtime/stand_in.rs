//! Program that the lab starts in these tests in place of the mock, a foreign server and the generator.

use plimsoll_base::counters::{Counter, HEADER_BYTES, Totals};
use plimsoll_base::histogram::TimeHistogram;
use plimsoll_base::outcome_class::OutcomeClass;
use plimsoll_base::tally::{ClassTally, StepTally};
use plimsoll_base::time_kind::TimeKind;
use plimsoll_load::fragment::{Accounts, Fragment, Message, PhaseAccounts, Started, StepAccounts};
use plimsoll_load::plan::Plan;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::FileExt as _;
use std::process::ExitCode;
use std::time::Duration;

/// Exchanges in each second of a plan.
const EXCHANGES: u64 = 5;

/// Serves, counts into its counters file, and says where it listens.
pub fn mock(arguments: &[String]) -> ExitCode {
    let value = |flag: &str| {
        let prefix = format!("--{flag}=");
        let found = arguments.iter().find_map(|a| a.strip_prefix(&prefix));
        found.unwrap_or_else(|| panic!("no {flag}")).to_owned()
    };
    let listener = TcpListener::bind(("127.0.0.1", value("port").parse().unwrap())).unwrap();
    let counters = File::create(value("counters")).unwrap();
    counters.write_all_at(&Totals::empty_file(1), 0).unwrap();
    println!(
        r#"{{"listening":{{"main":"{}"}}}}"#,
        listener.local_addr().unwrap()
    );
    let mut count = 0_u64;
    serve(&listener, move || {
        count += 1;
        for counter in [Counter::Received, Counter::Served] {
            // In place, as in a mapped file: the lab reads it meanwhile.
            let at = HEADER_BYTES + counter as usize * 8;
            counters
                .write_all_at(&count.to_le_bytes(), at as u64)
                .unwrap();
        }
    })
}

/// Serves on the port that it is given, unless it is told to do worse.
pub fn foreign(arguments: &[String]) -> ExitCode {
    match arguments[1].as_str() {
        "exits" => {
            eprintln!("there is nothing to do");
            ExitCode::from(3)
        }
        "sleeps" => loop {
            std::thread::park();
        },
        "shows" => {
            for shown in &arguments[3..] {
                println!("{shown}");
            }
            listen(&arguments[2])
        }
        port => listen(port),
    }
}

fn listen(port: &str) -> ExitCode {
    let listener = TcpListener::bind(("127.0.0.1", port.parse().unwrap())).unwrap();
    serve(&listener, || {})
}

fn serve(listener: &TcpListener, mut note: impl FnMut()) -> ExitCode {
    for stream in listener.incoming() {
        let mut stream = stream.unwrap();
        let path = read_head(&mut stream);
        if path.is_empty() {
            // A readiness check that only connects.
            continue;
        }
        if path == "/die" {
            eprintln!("told to die");
            return ExitCode::from(9);
        }
        note();
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            .unwrap();
    }
    ExitCode::SUCCESS
}

fn read_head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    let mut chunk = [0; 1024];
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut chunk) {
            Ok(count) if count > 0 => head.extend_from_slice(&chunk[..count]),
            _ => return String::new(),
        }
    }
    let text = String::from_utf8(head).unwrap();
    text.split(' ').nth(1).unwrap_or_default().to_owned()
}

/// Carries out a plan of whole seconds at once. The first step's path may ask for more: `/crash` ends the generator in the middle,
/// `/wait` goes on until it is told to stop, `/miscount` says wrong totals.
pub fn generator() -> ExitCode {
    let mut stdin = std::io::stdin().lock();
    let mut line = String::new();
    stdin.read_line(&mut line).unwrap();
    let plan: Plan = serde_json::from_str(&line).unwrap();
    plan.check().unwrap();
    let path = plan.steps[0].path.constant().unwrap();
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    say(&Message::Started(Started {
        shards: plan.shards,
        users: plan.users(),
        start_monotonic_ns: u64::try_from(now.tv_sec * 1_000_000_000 + now.tv_nsec).unwrap(),
    }));
    let warmup = plan.warmup.as_secs();
    if path == "/die" {
        // Only what is below the lab may end this run now.
        exchange(&plan);
        let mut rest = String::new();
        stdin.read_to_string(&mut rest).unwrap();
    }
    for second in 0..plan.total().as_secs() {
        let fragment = second_of(&plan, second, second < warmup);
        say(&Message::Fragment(fragment));
        if path == "/crash" {
            eprintln!("crashing as asked");
            return ExitCode::from(70);
        }
    }
    if path == "/wait" {
        let mut rest = String::new();
        stdin.read_to_string(&mut rest).unwrap();
    }
    let phase = |seconds: u64| PhaseAccounts {
        intended: seconds * EXCHANGES + u64::from(path == "/miscount"),
        sent: seconds * EXCHANGES,
        steps: vec![StepAccounts {
            sent: seconds * EXCHANGES,
            classes: [(OutcomeClass::Passed, seconds * EXCHANGES)].into(),
        }],
        ..PhaseAccounts::default()
    };
    say(&Message::Finished(Accounts {
        warmup: phase(warmup),
        measured: phase(plan.duration.as_secs()),
        ended_s: plan.total().as_secs_f64(),
        stopped: path == "/wait",
        feeders_ended: Vec::new(),
    }));
    ExitCode::SUCCESS
}

fn second_of(plan: &Plan, second: u64, warmup: bool) -> Fragment {
    let mut times = TimeHistogram::new();
    for _ in 0..EXCHANGES {
        exchange(plan);
        times.record(Duration::from_millis(2));
    }
    let mut lag = TimeHistogram::new();
    lag.record(Duration::from_micros(10));
    let lag: BTreeMap<_, _> = [(TimeKind::PacingLag, lag)].into();
    let passed = ClassTally {
        count: EXCHANGES,
        times: [(TimeKind::ResponseTime, times)].into(),
        ..ClassTally::default()
    };
    #[expect(clippy::cast_precision_loss, reason = "seconds of a short plan")]
    let start_s = second as f64;
    Fragment {
        second: u32::try_from(second).unwrap(),
        start_s,
        length_s: 1.0,
        covered_s: 1.0,
        warmup,
        intended: EXCHANGES,
        sent: EXCHANGES,
        iterations: lag,
        steps: vec![StepTally {
            sent: EXCHANGES,
            statuses: [(200, EXCHANGES)].into(),
            classes: [(OutcomeClass::Passed, passed)].into(),
            ..StepTally::default()
        }],
        ..Fragment::default()
    }
}

fn exchange(plan: &Plan) {
    let mut stream = TcpStream::connect(plan.target.addresses[0]).unwrap();
    let step = &plan.steps[0];
    let headers = step.headers.iter();
    let headers: String = headers
        .map(|(name, value)| format!("{name}: {}\r\n", value.constant().unwrap()))
        .collect();
    let path = step.path.constant().unwrap();
    let (method, host) = (&step.method, &plan.target.authority);
    let head = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n{headers}\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
}

fn say(message: &Message) {
    println!("{}", serde_json::to_string(message).unwrap());
}
