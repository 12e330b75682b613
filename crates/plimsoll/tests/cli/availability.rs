//! Outages: trials of faults are made, recorded, gone on from, and read again from their record alone.

use crate::processes::wait_until_nothing_runs;
use crate::program::Workspace;
use serde_json::Value;

/// A mock that is killed for 600 ms: nothing answers meanwhile, and until it has started again.
fn workspace() -> Workspace {
    let workspace = Workspace::new();
    workspace.write(
        "outage.yaml",
        "version: 1
name: outage
components: { app: { mock: {} } }
scenario: [{ get: /json/valid }]
load: { rate: 100/s, target: app }
faults: { crash: { kill: app, for: 600ms } }
method:
  availability:
    faults: { the application: { fault: crash, per_year: 2 } }
    trials: 5
    deadline: 300ms
    settle: 300ms
    phase: 100ms
    abort: 20s
    repair: 30m
thresholds: [{ metric: availability.faults.the application.outage.max, below: 20s }]
",
    );
    workspace
}

fn rows(text: &str) -> Vec<Value> {
    let lines = text.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().unwrap()
}

#[test]
fn outages_are_recorded_gone_on_from_and_read_again() {
    let workspace = workspace();
    let args = [
        "run",
        "outage.yaml",
        "--out",
        "begun",
        "--no-ui",
        "--seed",
        "7",
    ];
    workspace
        .run_until(&args, |line| line.starts_with("round 2 of 5"))
        .ended_with(130);
    wait_until_nothing_runs(&workspace);
    let before = workspace.read("begun/trials.jsonl");
    assert!(!before.is_empty());
    let arm = &workspace.json("begun/summary.json")["arms"]["main"];
    assert!(arm["availability"]["faults"].is_array(), "{arm}");

    let again = ["run", "outage.yaml", "--resume", "begun", "--out", "run"];
    let finished = workspace.run(&[&again[..], &["--no-ui", "--seed", "7"]].concat());
    // Whether enough trials stand is the machine's doing.
    assert!(matches!(finished.code, Some(0 | 4 | 6)), "{finished:?}");
    wait_until_nothing_runs(&workspace);
    let trials = workspace.read("run/trials.jsonl");
    assert!(trials.starts_with(&before));
    let trials = rows(&trials);
    let numbers: Vec<u64> = trials
        .iter()
        .map(|row| row["number"].as_u64().unwrap())
        .collect();
    assert!(
        numbers.iter().copied().eq(1..=numbers.len() as u64),
        "{numbers:?}"
    );
    let of = |name: &str| trials.iter().filter(|row| row["fault"] == name).count();
    assert!(of("the application") >= 5 && of("sham") >= 5, "{numbers:?}");
    for row in &trials {
        let file = format!("run/trials/{}.jsonl.gz", row["number"]);
        assert!(workspace.path().join(file).exists(), "{row}");
        assert!(row["control"]["exchanges"].as_u64() > Some(100), "{row}");
    }

    let summary = workspace.json("run/summary.json");
    let found = &summary["arms"]["main"]["availability"];
    assert_eq!(found["trials"].as_array().unwrap().len(), trials.len());
    for trial in found["trials"].as_array().unwrap() {
        let high = trial["outage"]["high_s"].as_f64().unwrap();
        match trial["fault"].as_str() {
            // It was dead for 600 ms at least, which a start lengthens.
            Some("the application") => assert!((0.5..20.0).contains(&high), "{trial}"),
            _ if trial["void"] == serde_json::json!([]) => assert!(high < 0.3, "{trial}"),
            _ => {}
        }
    }
    // Byte for byte from trials.jsonl and the exchanges: what the summary says of them is not asked.
    let mut forged = summary.clone();
    forged["arms"]["main"]["availability"]["faults"] = serde_json::json!([]);
    forged["arms"]["main"]["availability"]["annual"] = Value::Null;
    workspace.write("run/summary.json", &forged.to_string());
    let read = workspace.run(&["report", "run", "--format", "json"]);
    let read: Value = serde_json::from_str(&read.stdout).unwrap();
    assert_eq!(read, summary);
}

/// Who leads is asked as a fault is injected; where nobody ever does, the run ends before its first trial.
#[test]
fn victims_are_chosen_by_their_role() {
    let workspace = Workspace::new();
    workspace.write(
        "roles.yaml",
        "version: 1
name: roles
components: { app: { mock: {} }, a: { mock: {} }, b: { mock: {} } }
scenario: [{ get: /json/valid }]
load: { rate: 100/s, target: app }
faults: { pause: { freeze: a, for: 200ms } }
method:
  availability:
    faults: { db: { fault: pause, among: [a, b], role: follower, leader: { command: [cat, leader] } } }
    trials: 5
    settle: 200ms
    phase: 100ms
",
    );
    workspace.write("leader", "b\n");
    let args = ["run", "roles.yaml", "--out", "run", "--no-ui"];
    // Elected while the second trial is under way, before its fault.
    let seen = |line: &str| {
        if line.starts_with("round 2 of 5, db") {
            workspace.write("leader", "a\n");
        }
        line.starts_with("round 3 of 5")
    };
    let _ = workspace.run_until(&args, seen);
    let trials = rows(&workspace.read("run/trials.jsonl"));
    let of_round = |round: u32| {
        let mut trials = trials.iter();
        let trial = trials.find(|row| row["fault"] == "db" && row["round"] == round);
        let trial = trial.unwrap();
        (trial["victim"].clone(), trial["role"].clone())
    };
    assert_eq!(of_round(1), ("a".into(), "follower".into()));
    assert_eq!(of_round(2), ("b".into(), "follower".into()));

    workspace.write("leader", "nobody\n");
    let args = ["run", "roles.yaml", "--out", "second", "--no-ui"];
    let finished = workspace.run(&args).ended_with(5);
    assert!(
        finished.stderr.contains("who leads is not known"),
        "{finished:?}"
    );
    wait_until_nothing_runs(&workspace);
}

/// A program that dies though nobody broke it ends no run: all start anew, and later trials find it healthy.
#[test]
fn a_component_that_dies_by_itself_is_started_anew() {
    let workspace = Workspace::new();
    // About a trial and a half.
    workspace.write_mortal_server("mortal.py", 700);
    workspace.write(
        "mortal.yaml",
        "version: 1
name: mortal
components: { up: { mock: {} }, app: { command: [python3, mortal.py, \"${self.port}\", \"${up.url}\"] } }
scenario: [{ get: / }]
load: { rate: 100/s, target: app }
faults: { slow: { link: app -> up, delay: 50ms, for: 100ms } }
method:
  availability:
    faults: { link: { fault: slow } }
    trials: 5
    settle: 200ms
    phase: 100ms
    abort: 1s
",
    );
    let args = ["run", "mortal.yaml", "--out", "run", "--no-ui"];
    workspace
        .run_until(&args, |line| line.starts_with("round 4 of 5"))
        .ended_with(130);
    wait_until_nothing_runs(&workspace);
    let trials = rows(&workspace.read("run/trials.jsonl"));
    let events = workspace.read("run/events.jsonl");
    assert!(events.contains("component_died"), "{events}");
    let summary = workspace.json("run/summary.json");
    let read = summary["arms"]["main"]["availability"]["trials"]
        .as_array()
        .unwrap();
    let failed = |row: &Value| {
        row["outage"]["failed"].as_u64() > Some(50)
            || row["void"].to_string().contains("before anything")
    };
    let died = read.iter().position(failed).unwrap();
    let healthy = |row: &Value| !row["void"].to_string().contains("before anything");
    assert!(read[died + 1..].iter().any(healthy), "{trials:?}");
    // The proxy in the link is a new one, too.
    assert!(
        trials.iter().all(|row| row["proved"].is_number()),
        "{trials:?}"
    );
}
