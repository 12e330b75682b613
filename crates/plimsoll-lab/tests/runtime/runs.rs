//! Runs, and what they leave behind.

use plimsoll_experiment::{Disk, Experiment};
use plimsoll_lab::{Earlier, ErrorKind, LabError, Progress, RunOptions, RunOutcome, load_run};
use plimsoll_report::record::{EventKind, RunState, SeriesRow, VerdictResult};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use tokio::sync::watch;

pub const TESTS: [(&str, fn()); 7] = [
    (
        "measure_leaves_a_whole_record",
        measure_leaves_a_whole_record,
    ),
    (
        "compare_restarts_only_our_components",
        compare_restarts_only_our_components,
    ),
    (
        "a_command_gets_ports_files_and_secrets",
        a_command_gets_ports_files_and_secrets,
    ),
    (
        "failures_name_the_component_and_leave_nothing",
        failures_name_the_component_and_leave_nothing,
    ),
    (
        "a_stopped_run_keeps_what_it_measured",
        a_stopped_run_keeps_what_it_measured,
    ),
    (
        "a_threshold_that_may_do_so_ends_the_run",
        a_threshold_that_may_do_so_ends_the_run,
    ),
    ("a_run_is_never_overwritten", a_run_is_never_overwritten),
];

const MEASURE: &str = r"
version: 1
name: measure
components:
  upstream: { mock: {} }
scenario:
  - { get: /a, name: a }
load: { rate: 5/s, connections: 1, warmup: 1s, duration: 2s }
";

fn measure_leaves_a_whole_record() {
    let run = Run::of(MEASURE);
    let outcome = run.expect_ok();
    assert!(!outcome.interrupted);
    let view = load_run(&outcome.dir).unwrap();
    assert_eq!(view.manifest.state, RunState::Complete);
    assert_eq!(view.summary, outcome.summary);
    let arm = &view.summary.arms["main"];
    assert_eq!((arm.intended, arm.sent, arm.seconds), (10, 10, 2.0));
    assert_eq!(arm.outcomes.answered["200"], 10);
    // What the stand-in says is sound; the rest depends on the machine.
    let said = view.summary.validity.iter();
    let mut said = said.filter(|row| matches!(row.criterion, 1 | 2 | 8));
    assert!(said.all(|row| row.ok), "{:#?}", view.summary.validity);
    let ledger = view.summary.validity.iter();
    assert!(
        ledger
            .into_iter()
            .any(|row| row.name == "accounts against the target")
    );
    let kinds: Vec<&str> = view.histograms["main"]
        .times
        .keys()
        .map(|kind| kind.name())
        .collect();
    assert_eq!(kinds, ["response_time", "pacing_lag"]);
    let loads = view
        .series
        .iter()
        .filter(|row| matches!(row, SeriesRow::Load(_)));
    assert_eq!(loads.count(), 3);
    let dir = run.dir.path().join("run");
    assert!(dir.join("logs/upstream.log").exists() && dir.join("logs/generator.log").exists());
    let told = run.told.borrow();
    assert!(matches!(&told[0], Progress::ComponentStarting { name } if name == "upstream"));
    assert_eq!(told.last(), Some(&Progress::Finished));
    assert_eq!(
        told.iter()
            .filter(|told| matches!(told, Progress::Second(_)))
            .count(),
        3
    );
}

fn compare_restarts_only_our_components() {
    let run = Run::of(
        r#"
version: 1
name: compare
components:
  upstream: { mock: {} }
  proxy: { command: ["EXECUTABLE", foreign, "${self.port}"] }
scenario:
  - { get: /a, name: a }
load: { rate: 5/s, connections: 1, duration: 1s }
arms:
  direct: { target: upstream }
  proxied: { target: proxy }
method:
  compare: { baseline: direct, blocks: 3 }
"#,
    );
    let outcome = run.expect_ok();
    let view = load_run(&outcome.dir).unwrap();
    let starts = |name: &str| {
        let events = view.events.iter();
        let starts = events.filter(|event| event.kind == EventKind::ComponentReady);
        starts
            .filter(|event| event.component.as_deref() == Some(name))
            .count()
    };
    assert_eq!((starts("upstream"), starts("proxy")), (3, 1));
    for arm in ["direct", "proxied"] {
        assert_eq!(view.summary.arms[arm].by_block.len(), 3);
    }
    assert_eq!(view.summary.comparison.unwrap().blocks, 3);
}

fn a_command_gets_ports_files_and_secrets() {
    let run = Run::with(
        r#"
version: 1
name: command
components:
  upstream: { mock: {} }
  server:
    command: ["EXECUTABLE", foreign, shows, "${self.port}", "${upstream.url}", "${self.dir}/server.conf", "${secret.key.sha256}"]
    render: [server.conf.in]
    ready: { http: /health }
scenario:
  - { get: /a, name: a }
load: { target: server, rate: 5/s, connections: 1, duration: 1s }
arms:
  main: { headers: { Authorization: "${secret.key}" } }
"#,
        &[(
            "server.conf.in",
            "upstream ${upstream.port} key ${secret.key}",
        )],
    );
    let outcome = run.expect_ok();
    let log = std::fs::read_to_string(outcome.dir.join("logs/server.log")).unwrap();
    let shown: Vec<&str> = log.lines().collect();
    assert!(shown[0].starts_with("http://127.0.0.1:"), "{log}");
    assert!(shown[1].ends_with("/server/server.conf"), "{log}");
    assert_eq!(shown[2].len(), 64, "{log}");
    assert!(
        !Path::new(shown[1]).exists(),
        "a rendered file holds secrets and was left"
    );
}

fn failures_name_the_component_and_leave_nothing() {
    let held = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = held.local_addr().unwrap().port();
    let command = |component: &str| {
        format!(
            "
version: 1
name: failing
components:
  server: {{ {component} }}
scenario:
  - {{ get: /a, name: a }}
load: {{ rate: 5/s, connections: 1, duration: 1s }}
"
        )
    };
    let scenario = |path: &str| MEASURE.replace("get: /a", &format!("get: {path}"));
    check(
        &command("command: [plimsoll-has-no-such-command]"),
        ErrorKind::Environment,
        "component `server` did not start: command `plimsoll-has-no-such-command` was not found: install it, or give its full path",
    );
    check(
        &command("command: [EXECUTABLE, foreign, exits]"),
        ErrorKind::Environment,
        "component `server` did not start: it ended with status 3; the end of its log:\n    there is nothing to do",
    );
    check(
        &command("command: [EXECUTABLE, foreign, sleeps], ready: { within: 50ms }"),
        ErrorKind::Environment,
        "component `server` did not start: it was not ready within 0.05 s: 127.0.0.1:PORT: Connection refused (os error 111) (its log is empty)",
    );
    check(
        &command(&format!(
            "command: [EXECUTABLE, foreign, '${{self.port}}'], listeners: {{ main: {port} }}"
        )),
        ErrorKind::Environment,
        "component `server` did not start: port PORT is in use by another process",
    );
    check(
        &scenario("/die"),
        ErrorKind::ComponentDied,
        "component `upstream` died: it ended with status 9; the end of its log:\n    told to die",
    );
    check(
        &scenario("/crash"),
        ErrorKind::ComponentDied,
        "component `generator` died: it ended with status 70; the end of its log:\n    crashing as asked",
    );
    check(
        &scenario("/miscount"),
        ErrorKind::Internal,
        "internal error: the accounts do not hold: warm-up: intended = sent + dropped: 6 is not 5; warm-up: intended of all seconds: 5 is not 6; measured: intended = sent + dropped: 11 is not 10; measured: intended of all seconds: 10 is not 11",
    );
}

fn check(experiment: &str, kind: ErrorKind, message: &str) {
    let run = Run::of(experiment);
    let error = run.result.as_ref().expect_err(message);
    let ports = |text: &str| {
        let words = text.split_inclusive([' ', ':']);
        let masked = words.map(|word| {
            let digits = word.trim_end_matches([' ', ':']);
            let port = digits.parse::<u16>().is_ok_and(|number| number > 1024);
            if port {
                word.replace(digits, "PORT")
            } else {
                word.to_owned()
            }
        });
        masked.collect::<String>()
    };
    assert_eq!(
        (error.kind(), ports(&error.to_string())),
        (kind, message.to_owned())
    );
    let manifest = std::fs::read_to_string(run.dir.path().join("run/manifest.json")).unwrap();
    assert!(manifest.contains(r#""state": "interrupted""#), "{manifest}");
}

fn a_stopped_run_keeps_what_it_measured() {
    let stop = watch::Sender::new(false);
    let run = Run::stopping(&MEASURE.replace("get: /a", "get: /wait"), &stop);
    let outcome = run.expect_ok();
    assert!(outcome.interrupted);
    let view = load_run(&outcome.dir).unwrap();
    assert_eq!(view.manifest.state, RunState::Interrupted);
    assert_eq!(view.summary.arms["main"].sent, 10);
}

fn a_threshold_that_may_do_so_ends_the_run() {
    let waiting = MEASURE.replace("get: /a", "get: /wait");
    let thresholds = "thresholds:\n  - { metric: failed, below: 1 }\n  \
        - { metric: achieved_per_s, above: 100/s, abort: true, window: 1s }\n";
    let run = Run::of(&format!("{waiting}{thresholds}"));
    let outcome = run.expect_ok();
    assert!(!outcome.interrupted, "nobody told it to stop");
    let view = load_run(&outcome.dir).unwrap();
    assert_eq!(view.manifest.state, RunState::Aborted);
    assert_eq!(view.summary.verdict.result, VerdictResult::Failed);
    let [kept, broken] = view.summary.thresholds.as_slice() else {
        panic!("{:#?}", view.summary.thresholds);
    };
    assert_eq!(kept.breach, None);
    let breach = broken.breach.unwrap();
    assert_eq!((breach.window_s, breach.value), (1, 5.0));
    assert!(
        broken
            .reason
            .contains("not above 100/s: the load was ended")
    );
    let aborted = view.events.iter();
    let mut aborted = aborted.filter(|event| event.kind == EventKind::Aborted);
    let event = aborted.next().unwrap();
    assert_eq!(
        event.message,
        "threshold 2 was not met over the last 1 s: the load is ended"
    );
    assert_eq!(aborted.next(), None);
}

fn a_run_is_never_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("run")).unwrap();
    std::fs::write(dir.path().join("run/kept"), "").unwrap();
    let run = Run::inside(dir, MEASURE, &[], &watch::Sender::new(false), |_, _| {});
    assert_eq!(run.result.as_ref().unwrap_err().kind(), ErrorKind::Input);
    assert!(run.dir.path().join("run/kept").exists());
}

/// A run that is over.
struct Run {
    dir: tempfile::TempDir,
    result: Result<RunOutcome, LabError>,
    told: RefCell<Vec<Progress>>,
}

impl Run {
    fn of(experiment: &str) -> Self {
        Self::with(experiment, &[])
    }

    fn with(experiment: &str, files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self::inside(
            dir,
            experiment,
            files,
            &watch::Sender::new(false),
            |_, _| {},
        )
    }

    /// Told to stop when the last second of its plan is over.
    fn stopping(experiment: &str, stop: &watch::Sender<bool>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self::inside(dir, experiment, &[], stop, |progress, stop| {
            if matches!(progress, Progress::Second(second) if second.t >= second.total) {
                stop.send_replace(true);
            }
        })
    }

    fn inside(
        dir: tempfile::TempDir,
        experiment: &str,
        files: &[(&str, &str)],
        stop: &watch::Sender<bool>,
        react: impl Fn(&Progress, &watch::Sender<bool>),
    ) -> Self {
        let executable = std::env::current_exe().unwrap();
        let text = experiment.replace("EXECUTABLE", &executable.display().to_string());
        let file = dir.path().join("experiment.yaml");
        std::fs::write(&file, text).unwrap();
        for (name, text) in files {
            std::fs::write(dir.path().join(name), text).unwrap();
        }
        let surroundings = Disk(variable);
        let experiment =
            Experiment::load(&file, &[], &surroundings).unwrap_or_else(|e| panic!("{e}"));
        let options = RunOptions {
            out: PathBuf::from(dir.path()).join("run"),
            seed: 1,
            executable,
            surroundings: &surroundings,
            warnings: &[],
            totals: None,
            earlier: Earlier::default(),
        };
        let told = RefCell::new(Vec::new());
        let mut progress = |progress: Progress| {
            react(&progress, stop);
            told.borrow_mut().push(progress);
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let run = plimsoll_lab::run(&experiment, &options, &mut progress, stop.subscribe());
        let result = runtime.block_on(run);
        Self { dir, result, told }
    }

    fn expect_ok(&self) -> &RunOutcome {
        self.result
            .as_ref()
            .unwrap_or_else(|error| panic!("{error}"))
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test stands in for the binary, which reads the environment"
)]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
