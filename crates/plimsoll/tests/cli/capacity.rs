//! `method: capacity` on targets whose capacity is known, and on those of which none can be found.

use crate::levels::slow;
use crate::processes::wait_until_nothing_runs;
use crate::program::Workspace;
use serde_json::Value;

/// Five connections of 100 ms each carry 50 a second.
const LOAD: &str = "{ connections: 5, warmup: 400ms }";

fn found(workspace: &Workspace) -> Value {
    workspace.json("run/summary.json")["arms"]["main"]["capacity"].clone()
}

#[test]
fn a_capacity_is_enclosed() {
    let workspace = slow(
        LOAD,
        "capacity: { objective: { p90: 400ms }, from: 25/s, precision: 30%, trial: 2s, budget: 60s }",
    );
    let finished = workspace.experiment_until_valid("slow.yaml", &[]);
    let found = found(&workspace);
    let [lower, upper, width] =
        ["lower_per_s", "upper_per_s", "width"].map(|key| found[key].as_f64().unwrap());
    // What was found decides what the run ends with.
    let code = match found["result"].as_str() {
        Some("found") => {
            assert!(width <= 0.3 + 1e-9, "{found}");
            0
        }
        Some("wide") => 6,
        _ => panic!("{found}"),
    };
    assert_eq!(finished.code, Some(code), "{finished:?}");
    // The first rate is carried and four times as much is not. A queue takes a moment to grow beyond the limit: a little more than 50
    // passes in two seconds.
    assert!((25.0..=58.0).contains(&lower), "{found}");
    assert!((48.0..=100.0).contains(&upper), "{found}");
    assert!(found["trials"].as_array().unwrap().len() >= 5, "{found}");
    assert!(found["spent_s"].as_f64().unwrap() <= 66.0, "{found}");
    let finished = finished
        .saying("a budget of 60.0 s holds")
        .saying("trial 1: 25/s");
    assert!(
        finished
            .stdout
            .contains("capacity with these connections is between"),
        "{}",
        finished.stdout
    );
    assert!(workspace.read("run/report.html").contains("Capacity curve"));
    let bottleneck = &workspace.json("run/summary.json")["arms"]["main"]["bottleneck"];
    assert_eq!(
        bottleneck["causes"][0]["kind"], "connections",
        "{bottleneck}"
    );
}

#[test]
fn an_objective_that_no_rate_meets_is_called_that() {
    let workspace = slow(
        LOAD,
        "capacity: { objective: { p50: 20ms }, from: 10/s, trial: 2s, budget: 60s }",
    );
    let finished = workspace
        .experiment_until_valid("slow.yaml", &[])
        .ended_with(6);
    assert!(
        finished.stdout.contains("no rate meets p50 ≤ 20.0 ms"),
        "{}",
        finished.stdout
    );
    let found = found(&workspace);
    assert_eq!(found["result"], "unmet", "{found}");
    assert_eq!(found["lower_per_s"], Value::Null);
}

#[test]
fn where_every_rate_is_carried_capacity_was_not_found() {
    let workspace = slow(
        "{ connections: 20, warmup: 400ms }",
        "capacity: { objective: { p50: 2s }, from: 10/s, to: 15/s, trial: 2s, budget: 60s }",
    );
    let finished = workspace
        .experiment_until_valid("slow.yaml", &[])
        .ended_with(6);
    assert!(
        finished.stdout.contains("capacity is at least 15/s"),
        "{}",
        finished.stdout
    );
    let found = found(&workspace);
    assert_eq!(
        (&found["result"], &found["ended_by"]),
        (&"at_least".into(), &"highest_rate".into())
    );
    assert_eq!(found["upper_per_s"], Value::Null);
}

#[test]
fn a_component_that_dies_during_a_search_ends_it() {
    let workspace = Workspace::new();
    workspace.write_mortal_server("dies.py", 60);
    workspace.write(
        "dies.yaml",
        "version: 1\nname: dies\ncomponents:\n  part: { command: [python3, dies.py, \"${self.port}\"] }\n\
         scenario:\n  - { get: / }\nload: { connections: 2, warmup: 200ms }\n\
         method: { capacity: { objective: { p50: 2s }, from: 10/s, trial: 2s } }\n",
    );
    workspace
        .experiment("dies.yaml", &[])
        .ended_with(4)
        .saying("component `part` died")
        .saying("in a trial at")
        .saying("which ends the search")
        .saying("out of luck");
    assert_eq!(workspace.json("run/manifest.json")["state"], "interrupted");
    let found = &workspace.json("run/summary.json")["arms"]["part"];
    assert_eq!(found, &Value::Null);
    assert_eq!(self::found(&workspace)["ended_by"], "failure");
}

#[test]
fn an_interrupted_search_goes_on_from_its_trials() {
    let method = "capacity: { objective: { p90: 400ms }, from: 25/s, precision: 50%, trial: 2s, budget: 60s }";
    let workspace = slow(LOAD, method);
    let args = ["run", "slow.yaml", "--out", "run", "--no-ui"];
    workspace
        .run_until(&args, |line| line.starts_with("trial 3:"))
        .ended_with(130);
    wait_until_nothing_runs(&workspace);
    let before = workspace.read("run/trials.jsonl");
    assert_eq!(before.lines().count(), 2);
    assert_eq!(found(&workspace)["ended_by"], "interrupted");

    let again = ["run", "slow.yaml", "--resume", "run", "--out", "again"];
    let finished = workspace.run(&again);
    assert!(matches!(finished.code, Some(0 | 6)), "{finished:?}");
    assert!(workspace.read("again/trials.jsonl").starts_with(&before));
    let trials = &workspace.json("again/summary.json")["arms"]["main"]["capacity"]["trials"];
    assert_eq!(trials[2]["trial"], 3);

    // The trials of other files, or with other values, say nothing of these.
    let other = ["--set", "method.capacity.from=30/s"];
    let resumed = ["run", "slow.yaml", "--resume", "run", "--out", "third"];
    workspace
        .run(&[&resumed[..], &other].concat())
        .ended_with(2)
        .saying("`--set` values");
    let text = workspace.read("slow.yaml").replace("25/s", "30/s");
    workspace.write("slow.yaml", &text);
    workspace
        .run(&resumed)
        .ended_with(2)
        .saying("this run had other files");
}

/// A server that works 8 ms for each request, in a control group that gives it 0.3 of a processor: the quota gives way, and with 80 % of it
/// the capacity is 80 % of what it was. With other tests beside it the server does not always get its share, which is no defect.
#[test]
#[ignore = "takes minutes and the machine: cargo test -p plimsoll --test cli at_length -- --ignored"]
fn a_confirmed_cause_moves_the_capacity_with_it_at_length() {
    let workspace = Workspace::new();
    workspace.write(
        "works.py",
        "import http.server,sys,time\n\
         class H(http.server.BaseHTTPRequestHandler):\n\
         \x20   protocol_version='HTTP/1.1'\n\
         \x20   def do_GET(self):\n\
         \x20       end=time.thread_time()+0.008\n\
         \x20       while time.thread_time()<end: pass\n\
         \x20       self.send_response(200); self.send_header('Content-Length','0'); self.end_headers()\n\
         \x20   def log_message(self,*a): pass\n\
         http.server.ThreadingHTTPServer(('127.0.0.1',int(sys.argv[1])),H).serve_forever()\n",
    );
    workspace.write(
        "works.yaml",
        "version: 1\nname: works\ncomponents:\n  worker: { command: [python3, works.py, \"${self.port}\"], cpu_quota: 0.3 }\n\
         scenario:\n  - { get: / }\nload: { connections: 8, warmup: 300ms }\narms:\n  main: { target: worker }\n\
         method: { capacity: { objective: { p90: 500ms, errors: 1% }, from: 20/s, precision: 10%, trial: 2s, budget: 100s, confirm: true } }\n",
    );
    for _ in 0..3 {
        let finished = workspace.experiment("works.yaml", &[]);
        if finished.stderr.contains("control group") {
            println!("ignored: control groups are not ours to make: {finished:?}");
            return;
        }
        let found = found(&workspace);
        let is_confirmed = found["intervention"]["moved"] == "as_predicted";
        let trials = workspace.read("run/trials.jsonl");
        // A generator that is short of processors says nothing, and so does a server that does not get its share.
        let was_disturbed = trials.contains(r#""outcome":"void""#);
        if is_confirmed || !was_disturbed {
            check_confirmed(&workspace, &found);
            assert!(trials.contains(r#""held_to_cores":0.24"#), "{trials}");
            return;
        }
        std::fs::remove_dir_all(workspace.path().join("run")).unwrap();
    }
    println!("ignored: other programs leave the generator no processor");
}

fn check_confirmed(workspace: &Workspace, found: &Value) {
    let intervention = &found["intervention"];
    assert_eq!(intervention["component"], "worker", "{found}");
    let number = |key: &str| intervention[key].as_f64().unwrap();
    assert!((number("cores") - 0.3).abs() < 1e-9, "{intervention}");
    assert!(
        (number("held_to_cores") - 0.24).abs() < 1e-9,
        "{intervention}"
    );
    assert_eq!(intervention["moved"], "as_predicted", "{intervention}");
    let used = intervention["trials"].as_array().unwrap().iter();
    let used = used.filter_map(|trial| trial["components"]["worker"]["cpu_cores_mean"].as_f64());
    assert!(used.fold(0.0, f64::max) < 0.27, "{intervention}");
    let sentence = intervention["sentence"].as_str().unwrap();
    assert!(
        sentence.starts_with("confirmed: with `worker` held to 0.24"),
        "{sentence}"
    );
    let cause = &workspace.json("run/summary.json")["arms"]["main"]["bottleneck"]["causes"][0];
    assert_eq!(
        (&cause["kind"], &cause["component"]),
        (&"quota".into(), &"worker".into())
    );
    let evidence = cause["evidence"].to_string();
    assert!(evidence.contains("confirmed: with `worker`"), "{evidence}");
}
