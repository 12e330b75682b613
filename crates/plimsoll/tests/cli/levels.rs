//! `method: levels` on a target whose limit is known: every answer takes a tenth of a second, and so many connections are allowed.

use crate::program::Workspace;
use serde_json::Value;

/// A mock that answers after 100 ms.
pub const SLOW: &str = r#"{"request":{"url":"/a","method":"GET"},"response":{"status":200,"fixedDelayMilliseconds":100}}"#;

/// An experiment on that mock with this load and method.
pub fn slow(load: &str, method: &str) -> Workspace {
    let workspace = Workspace::new();
    workspace.write("stubs/mappings/a.json", SLOW);
    workspace.write(
        "slow.yaml",
        &format!(
            "version: 1\nname: slow\ncomponents:\n  upstream: {{ mock: {{ root: stubs }} }}\n\
             scenario:\n  - {{ get: /a, check: {{ status: 200 }} }}\nload: {load}\nmethod: {{ {method} }}\n"
        ),
    );
    workspace
}

fn level(summary: &Value, number: usize) -> &Value {
    &summary["arms"]["main"]["levels"][number]
}

#[test]
fn a_rate_that_is_not_sustained_is_called_so_and_what_was_is_said() {
    // Five connections of 100 ms each: 50 a second and no more.
    let workspace = slow(
        "{ connections: 5, warmup: 500ms }",
        "levels: { rates: [20/s, 300/s], hold: 3s }",
    );
    let finished = workspace.experiment_until_valid("slow.yaml", &[]);
    let finished = finished.ended_with(0);
    let summary = workspace.json("run/summary.json");
    assert_eq!(summary["method"], "levels");
    let [held, beyond] = [0, 1].map(|number| level(&summary, number));
    assert_eq!(
        (&held["name"], &beyond["name"]),
        (&"20/s".into(), &"300/s".into())
    );
    assert_eq!(held["bearing"]["manner"], "sustains", "{held}");
    assert_eq!(beyond["bearing"]["manner"], "queues", "{beyond}");
    let answered = beyond["achieved_per_s"].as_f64().unwrap();
    assert!((30.0..=55.0).contains(&answered), "{answered}");
    assert!(
        finished.stdout.contains("300/s was not sustained"),
        "{}",
        finished.stdout
    );
    // Every level has its own histograms, and none is mixed with another.
    for file in ["run/hist/main@1.hlog", "run/hist/main@2.hlog"] {
        assert!(workspace.path().join(file).exists(), "{file}");
    }
    assert!(workspace.read("run/report.html").contains("Level by level"));
    let csv = workspace
        .run(&["report", "run", "--format", "csv"])
        .ended_with(0);
    assert!(csv.stdout.contains(",300,300/s,queues"), "{}", csv.stdout);
}

#[test]
fn numbers_of_users_are_levels_too() {
    let workspace = slow("{}", "levels: { users: [1, 4], hold: 2s }");
    workspace.experiment("slow.yaml", &[]);
    let summary = workspace.json("run/summary.json");
    let rates = [0, 1].map(|number| level(&summary, number)["achieved_per_s"].as_f64().unwrap());
    assert!(rates[0] <= 10.5 && rates[1] > 2.0 * rates[0], "{rates:?}");
    assert_eq!(level(&summary, 1)["users"], 4);
    assert_eq!(level(&summary, 1)["bearing"], Value::Null);
}

/// The first level is the seed's choice, and the report's order is not.
#[test]
fn levels_in_random_order_are_shown_ascending() {
    let workspace = slow(
        "{ warmup: 100ms }",
        "levels: { users: [1, 2, 3, 4], hold: 1s, order: random }",
    );
    let finished = workspace.experiment("slow.yaml", &[]);
    let summary = workspace.json("run/summary.json");
    let levels = summary["arms"]["main"]["levels"].as_array().unwrap();
    let of = |key: &str| -> Vec<u64> {
        let values = levels.iter().map(|level| level[key].as_u64().unwrap());
        values.collect()
    };
    assert_eq!(
        (of("level"), of("users")),
        (vec![1, 2, 3, 4], vec![1, 2, 3, 4])
    );
    // What ran when is told by the series too, where a level is the block of its rows.
    let series = workspace.read("run/series.jsonl");
    let mut ran: Vec<u64> = Vec::new();
    for line in series.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        if let Some(block) = row["block"].as_u64().filter(|_| row["arm"] == "main")
            && !ran.contains(&block)
        {
            ran.push(block);
        }
    }
    let mut turns: Vec<(u64, u64)> = of("turn").into_iter().zip(of("level")).collect();
    turns.sort_unstable();
    let turns: Vec<u64> = turns.into_iter().map(|(_, level)| level).collect();
    assert_eq!(turns, ran);
    assert_ne!(turns, [1, 2, 3, 4]);
    let order: Vec<String> = turns.iter().map(|users| format!("{users} users")).collect();
    let told = format!("levels ran in the order {}", order.join(", "));
    for text in [&finished.stdout, &workspace.read("run/report.html")] {
        assert!(text.contains(&told), "{told}: {text}");
    }
}

/// Every answer waits for less than the one before, through both levels. Users need sustain no rate, and two levels together show a trend although
/// a busy machine puts some of its seconds out of order.
#[test]
fn a_target_that_warms_up_is_called_so() {
    let workspace = slow("{ warmup: 100ms }", "levels: { users: [1, 2], hold: 9s }");
    workspace.write(
        "stubs/mappings/a.json",
        r#"{"request":{"url":"/a","method":"GET"},"response":{"status":200},
            "metadata":{"plimsoll":{"slowStart":{"duration":"20s","delay":"30ms"}}}}"#,
    );
    let finished = workspace.experiment_until_valid("slow.yaml", &[]);
    let summary = workspace.json("run/summary.json");
    let drift = &summary["arms"]["main"]["drift"];
    assert_eq!(drift["direction"], "faster", "{summary}");
    assert_eq!(drift["levels"][0]["level"], "1 users", "{drift}");
    let told = "the target got faster with time, not with its load";
    for text in [&finished.stdout, &workspace.read("run/report.html")] {
        assert!(text.contains(told), "{text}");
        assert!(text.contains("order: random"), "{text}");
    }
}

#[test]
fn a_threshold_judges_the_level_that_it_names() {
    let workspace = slow(
        "{ connections: 5, warmup: 500ms }",
        "levels: { rates: [10/s, 20/s], hold: 2s }",
    );
    let file = workspace.read("slow.yaml");
    workspace.write(
        "slow.yaml",
        &format!(
            "{file}thresholds:\n  - {{ metric: levels.20/s.response_time.p50, below: 50ms }}\n"
        ),
    );
    let finished = workspace.experiment("slow.yaml", &[]);
    assert!(matches!(finished.code, Some(3 | 4)), "{finished:?}");
    let summary = workspace.json("run/summary.json");
    assert_eq!(
        summary["thresholds"][0]["metric"],
        "levels.20/s.response_time.p50"
    );
    assert!(summary["thresholds"][0]["value"].as_f64().unwrap() >= 0.1);
}
