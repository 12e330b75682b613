//! Experiment files as users write them: examples load, every refused file is refused with its full message.

use std::io;
use std::path::{Path, PathBuf};

use plimsoll_base::document::Problems;
use plimsoll_experiment::{Disk, Experiment, Surroundings};

/// The environment of these tests: one variable.
fn variable(name: &str) -> Option<String> {
    (name == "API_KEY").then(|| "s3cret".to_owned())
}

fn load(path: &Path, overrides: &[&str]) -> Result<Experiment, Problems> {
    let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
    Experiment::load(path, &overrides, &Disk(variable))
}

/// Files below `directory` that `wanted` accepts, in order.
fn files(directory: &Path, wanted: &dyn Fn(&Path) -> bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).expect("the directory exists") {
        let path = entry.expect("the directory can be read").path();
        if path.is_dir() {
            found.extend(files(&path, wanted));
        } else if wanted(&path) {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn every_example_loads() {
    let examples = files(Path::new("../../examples"), &|path| {
        path.ends_with("experiment.yaml")
    });
    assert!(!examples.is_empty());
    for path in examples {
        let made = with_certificates(&path);
        let path = made
            .as_ref()
            .map_or(path, |made| made.path().join("experiment.yaml"));
        if let Err(problems) = load(&path, &[]) {
            panic!("{problems}");
        }
    }
}

/// A copy of an example that makes certificates before it runs, with these; nothing if it does not.
fn with_certificates(path: &Path) -> Option<tempfile::TempDir> {
    let directory = path.parent()?;
    if !directory.join("make-certificates").exists() {
        return None;
    }
    let copy = tempfile::tempdir().expect("a directory");
    for file in files(directory, &|path| {
        !path.ends_with("certificates") && path.is_file()
    }) {
        let name = file.strip_prefix(directory).expect("it lies there");
        if name.components().count() == 1 {
            std::fs::copy(&file, copy.path().join(name)).expect("it can be copied");
        }
    }
    let made = std::process::Command::new(copy.path().join("make-certificates")).status();
    assert!(made.expect("it starts").success());
    Some(copy)
}

#[test]
fn every_refused_file_says_where_and_what_to_write() {
    let cases = files(Path::new("tests/data/invalid"), &|path| {
        path.extension()
            .is_some_and(|extension| extension == "yaml")
            && path
                .parent()
                .is_some_and(|parent| parent.ends_with("invalid"))
    });
    assert!(cases.len() >= 25);
    for path in cases {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let problems = load(&path, &[]).map(|_| ()).expect_err(&name);
        let settings = {
            let mut settings = insta::Settings::clone_current();
            settings.set_snapshot_path("data/invalid");
            settings.set_prepend_module_to_snapshot(false);
            settings.set_omit_expression(true);
            settings.add_filter("tests/data/invalid/", "");
            settings
        };
        settings.bind(|| insta::assert_snapshot!(name, problems));
    }
}

/// An experiment with this `load`; every file beside it is a list of arrival times.
struct Shown(String);

impl Shown {
    fn loads(load: &str) {
        let text = format!(
            "version: 1\nname: x\ncomponents: {{ upstream: {{ mock: {{}} }} }}\nscenario: [{{ get: / }}]\n{load}"
        );
        if let Err(problems) = Self::read_as_experiment(text) {
            panic!("{load}\n{problems}");
        }
    }

    fn read_as_experiment(text: String) -> Result<Experiment, Problems> {
        Experiment::load(Path::new("shown.yaml"), &[], &Self(text))
    }
}

/// Code in the second column of the table below this heading of the page for users of other tools, row by row.
fn equivalents(heading: &str) -> Vec<Vec<String>> {
    let page = std::fs::read_to_string("../../docs/coming-from.md").expect("the page is there");
    let (_, section) = page
        .split_once(&format!("### {heading}\n"))
        .expect("it has the section");
    let rows = section.split("\n#").next().unwrap_or_default().lines();
    let cells = rows.filter_map(|row| row.strip_prefix("| ")?.split(" | ").nth(1));
    let codes = |cell: &str| {
        cell.split('`')
            .skip(1)
            .step_by(2)
            .map(str::to_owned)
            .collect()
    };
    cells.skip(1).map(codes).collect()
}

#[test]
fn every_executor_has_a_form_that_is_taken() {
    let codes = equivalents("Executors").concat();
    let mut loads = 0;
    for code in codes.iter().filter(|code| code.contains(": ")) {
        let length = if code.contains("duration") {
            ""
        } else {
            ", duration: 5m"
        };
        match code.strip_prefix("nothing") {
            Some(_) => Shown::loads(&format!(
                "load: {{ stages: [{{ {code} }}, {{ rate: 1/s, for: 1s }}] }}\n"
            )),
            None => Shown::loads(&format!("load: {{ {code}{length} }}\n")),
        }
        loads += 1;
    }
    assert!(loads >= 9, "{codes:?}");
}

#[test]
fn every_metric_that_is_named_exists() {
    let codes = equivalents("Metrics and thresholds").concat();
    let mut metrics = 0;
    for code in codes
        .iter()
        .filter(|code| !code.contains(": ") && !code.starts_with('.'))
    {
        let metric = code
            .replace("checks.<name>", "checks.status")
            .replace("<name>", "login");
        let is_taken = |metric: &str, bound: &str| {
            Shown::read_as_experiment(format!(
                "version: 1\nname: x\ncomponents: {{ upstream: {{ mock: {{}} }} }}\n\
                 scenario: [{{ group: checkout, steps: [{{ name: login, get: /, check: {{ status: 200 }} }}] }}]\n\
                 load: {{ rate: 10/s, duration: 5s }}\nthresholds: [{{ metric: {metric}, {bound} }}]\n"
            ))
            .is_ok()
        };
        let figures = [metric.clone(), format!("{metric}.p95")];
        let bounds = ["below: 1s", "below: 1", "below: 1%", "above: 1/s"];
        let exists = figures
            .iter()
            .any(|metric| bounds.iter().any(|bound| is_taken(metric, bound)));
        assert!(exists, "{code}");
        metrics += 1;
    }
    assert!(metrics >= 18, "{codes:?}");
}

#[test]
fn a_check_of_what_only_a_run_knows_is_taken_by_its_beginning() {
    let is_taken = |check: &str| {
        Shown::read_as_experiment(format!(
            "version: 1\nname: x\ncomponents: {{ upstream: {{ mock: {{}} }} }}\n\
             scenario: [{{ name: a, get: /, check: {{ body: {{ contains: \"at ${{upstream.url}}/\" }} }} }}]\n\
             load: {{ rate: 10/s, duration: 5s }}\nthresholds: [{{ metric: \"checks.{check}.failed\", below: 1 }}]\n"
        ))
        .is_ok()
    };
    assert!(is_taken("body contains at http://127.0.0.1:8080/"));
    assert!(!is_taken("body contains from http://127.0.0.1:8080/"));
}

impl Surroundings for Shown {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        Ok(match path == Path::new("shown.yaml") {
            true => self.0.clone().into_bytes(),
            false => b"0\n0.5\n".to_vec(),
        })
    }

    fn is_directory(&self, _: &Path) -> bool {
        false
    }

    fn variable(&self, _: &str) -> Option<String> {
        None
    }
}

#[test]
fn every_load_that_the_documents_show_is_taken() {
    let mut shown = 0;
    for page in files(Path::new("../../docs"), &|path| {
        path.extension().is_some_and(|extension| extension == "md")
    }) {
        let text = std::fs::read_to_string(page).unwrap();
        let blocks = text.split("```yaml\n").skip(1);
        let blocks = blocks.filter_map(|block| block.split("```").next());
        for load in blocks.filter(|block| block.starts_with("load:")) {
            Shown::loads(load);
            shown += 1;
        }
    }
    assert!(shown >= 2);
}

/// The lines of `stages` in the tables for who comes from Gatling. After arrivals at the very end stands `nothing`.
#[test]
fn every_injection_profile_has_a_form_that_is_taken() {
    let page = std::fs::read_to_string("../../docs/coming-from.md").unwrap();
    let (_, section) = page.split_once("### Injection profiles\n").unwrap();
    let section = section.split("\n## ").next().unwrap();
    let mut profiles = 0;
    for row in section.lines() {
        let lines: Vec<&str> = row
            .split('`')
            .filter(|code| code.starts_with("- {"))
            .collect();
        if !lines.is_empty() {
            let rated = lines.iter().all(|line| !line.contains("nothing:"));
            let before = if rated { "" } else { "- { at_once: 1 }\n    " };
            let lines = lines.join("\n    ");
            Shown::loads(&format!(
                "load:\n  stages:\n    {before}{lines}\n    - {{ nothing: 1s }}\n"
            ));
            profiles += 1;
        }
    }
    assert!(profiles >= 14, "{profiles}");
}
