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
    assert!(shown.contains("Can it be trusted?"), "{shown}");
    let complaints = String::from_utf8_lossy(&browser.stderr);
    assert!(!complaints.contains("CONSOLE"), "{complaints}");
}
