//! `plimsoll report`: every format from the record alone, the same bytes each time.

use crate::examples::example;
use crate::program::Workspace;

/// A workspace with the record of a short run.
fn recorded() -> Workspace {
    let workspace = Workspace::new();
    let shorter = [
        "--set",
        "load.warmup=0",
        "--set",
        "load.duration=1s",
        "--set",
        "load.rate=100/s",
    ];
    workspace.experiment(&example("quick"), &shorter);
    workspace
}

#[test]
fn every_format_renders_from_the_record() {
    let workspace = recorded();
    let rendered = |format: &str| {
        workspace
            .run(&["report", "run", "--format", format])
            .ended_with(0)
            .stdout
    };
    assert_eq!(rendered("html"), workspace.read("run/report.html"));
    assert_eq!(rendered("md"), workspace.read("run/report.md"));
    assert_eq!(
        rendered("json").trim_end(),
        workspace.read("run/summary.json").trim_end()
    );
    assert!(rendered("junit").starts_with("<?xml"));
    assert!(rendered("csv").lines().count() >= 2);
    assert_eq!(rendered("text"), rendered("text"));
}

/// Names that hold what separates cells come back whole from a reader that is not ours, and every row has a cell for each column.
#[test]
fn a_spreadsheet_reads_the_rows_as_they_are_meant() {
    const READER: &str = "import csv,json,sys\nrows=list(csv.DictReader(sys.stdin,strict=True,restkey='more'))\n\
        print(json.dumps([[row['step'],row['group'],row['time'],row['count'],row['p99'],'more' in row or None in row.values()] for row in rows]))\n";
    let workspace = Workspace::new();
    workspace.write(
        "named.yaml",
        "version: 1\nname: named\ncomponents: { upstream: { mock: {} } }\n\
         scenario:\n  - { get: /json/valid, name: 'say \"x\", y' }\n  - { group: 'a, b', steps: [{ get: /xml }] }\n\
         load: { users: 1, iterations: 20, duration: 60s }\n",
    );
    workspace.experiment("named.yaml", &["--no-ui"]);
    let csv = workspace
        .run(&["report", "run", "--format", "csv"])
        .ended_with(0)
        .stdout;
    workspace.write("rows.csv", &csv);
    let read = std::process::Command::new("python3")
        .args(["-c", READER])
        .stdin(std::fs::File::open(workspace.path().join("rows.csv")).unwrap())
        .output()
        .unwrap();
    assert!(read.status.success(), "{read:?}");
    let rows: Vec<(String, String, String, String, String, bool)> =
        serde_json::from_slice(&read.stdout).unwrap();
    assert!(rows.iter().all(|row| !row.5), "{rows:?}");
    let summary = workspace.json("run/summary.json");
    let main = &summary["arms"]["main"];
    let p99 = |times: &serde_json::Value| times["p99"].as_f64().unwrap();
    let row = |step: &str, group: &str, time: &str| {
        let found = rows
            .iter()
            .find(|row| (row.0.as_str(), row.1.as_str(), row.2.as_str()) == (step, group, time));
        let (.., count, p99, _) =
            found.unwrap_or_else(|| panic!("{step}, {group}, {time}: {rows:?}"));
        (count.parse().unwrap(), p99.parse().unwrap())
    };
    let of_step = p99(&main["by_step"]["say \"x\", y"]["response_time"]);
    assert_eq!(row("say \"x\", y", "", "response_time"), (20, of_step));
    let of_group = p99(&main["by_group"]["a, b"]["duration"]);
    assert_eq!(row("", "a, b", "duration"), (20, of_group));
}

/// `tests/data/record` has the shapes of the first version that recorded runs, without what was added to them since.
#[test]
fn every_format_renders_from_a_record_of_the_first_version() {
    let record = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/record");
    let rendered = |format: &str| {
        Workspace::new()
            .run(&["report", record, "--format", format])
            .ended_with(0)
            .stdout
    };
    for format in ["text", "html", "md"] {
        let shown = rendered(format);
        for arm in ["direct", "gateway", "everything"] {
            assert!(shown.contains(arm), "{format}: {shown}");
        }
        assert!(shown.contains("423 µs"), "{format}: {shown}");
    }
    let json: serde_json::Value = serde_json::from_str(&rendered("json")).unwrap();
    let direct = &json["arms"]["direct"];
    assert_eq!(direct["outcomes"]["answered"]["200"], direct["sent"]);
    assert_eq!(direct["outcomes"]["unfinished"], 0);
    assert!(rendered("junit").contains("<testsuite "));
    assert!(rendered("csv").lines().count() > 3 * 6);
}

#[test]
fn a_directory_that_is_no_run_is_refused() {
    let workspace = Workspace::new();
    workspace
        .run(&["report", "."])
        .ended_with(2)
        .saying("manifest.json");
}

#[test]
#[ignore = "needs chromium: run scripts/test"]
fn a_browser_shows_the_page_and_has_nothing_to_complain_about() {
    let workspace = recorded();
    let profile = format!(
        "--user-data-dir={}",
        workspace.path().join("profile").display()
    );
    let page = format!(
        "file://{}",
        workspace.path().join("run/report.html").display()
    );
    let quiet = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--enable-logging=stderr",
        "--dump-dom",
    ];
    let browser = std::process::Command::new("timeout")
        .args(["60", "chromium"])
        .args(quiet)
        .args([&profile, &page])
        .output()
        .unwrap();
    let shown = String::from_utf8_lossy(&browser.stdout);
    assert!(shown.contains("Validity"), "{shown}");
    let complaints = String::from_utf8_lossy(&browser.stderr);
    assert!(!complaints.contains("CONSOLE"), "{complaints}");
}
