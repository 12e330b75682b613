//! Tests of the run directory on a real file system.

use super::*;
use crate::ErrorKind;
use plimsoll_report::record::{EventKind, Host, MANIFEST_SCHEMA, MethodName, RunState};

fn manifest() -> Manifest {
    Manifest {
        schema: MANIFEST_SCHEMA.into(),
        id: "id".into(),
        experiment: "x".into(),
        method: MethodName::Measure,
        state: RunState::Running,
        started_at: "2026-01-01T00:00:00+00:00".into(),
        ended_at: None,
        seed: 1,
        versions: IndexMap::new(),
        host: Host {
            os: "os".into(),
            kernel: "1".into(),
            cpu_model: "cpu".into(),
            cpus: 1,
            memory_bytes: 1,
            virtualisation: None,
        },
        inputs: Vec::new(),
        arms: Vec::new(),
        components: Vec::new(),
    }
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_run_is_never_overwritten() {
    let parent = tempfile::tempdir().unwrap();
    let root = parent.path().join("deep/run");
    let dir = RunDir::create(&root, &manifest()).unwrap();
    dir.release_reserve();
    let error = RunDir::create(&root, &manifest()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Input);
    assert_eq!(
        names(&root),
        [
            "events.jsonl",
            "hist",
            "logs",
            "manifest.json",
            "series.jsonl"
        ]
    );
}

#[test]
fn rows_and_histograms_grow_line_by_line() {
    let parent = tempfile::tempdir().unwrap();
    let mut dir = RunDir::create(&parent.path().join("run"), &manifest()).unwrap();
    let event = EventRow {
        t: 0.5,
        kind: EventKind::RunStarted,
        message: "began".into(),
        component: None,
        arm: None,
        block: None,
    };
    dir.append_event(&event).unwrap();
    dir.append_event(&event).unwrap();
    let mut histogram = TimeHistogram::new();
    histogram.record_nanos(5_000_000);
    let empty = TimeHistogram::new();
    for second in [0.0, 1.0] {
        let tagged = [
            ("response_time".to_owned(), &histogram),
            ("connect_time".to_owned(), &empty),
        ];
        dir.append_histograms("main", second, 1.0, tagged).unwrap();
    }
    let text = |name: &str| fs::read_to_string(dir.root().join(name)).unwrap();
    assert_eq!(text("events.jsonl").lines().count(), 2);
    let log = text("hist/main.hlog");
    assert_eq!(
        log.lines().filter(|l| l.starts_with("Tag=")).count(),
        2,
        "{log}"
    );
}

#[test]
fn a_file_that_cannot_be_written_leaves_nothing() {
    let parent = tempfile::tempdir().unwrap();
    // A directory in its place: the rename fails after everything was written.
    fs::create_dir_all(parent.path().join("summary.json/x")).unwrap();
    let error = write_atomically(&parent.path().join("summary.json"), b"{}").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Environment);
    assert_eq!(names(parent.path()), ["summary.json"]);
}

#[test]
fn a_directory_that_is_no_run_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let error = load(dir.path()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Input);
}
