//! The files that the documentation shows are files that the program takes.

use crate::program::{Server, Workspace};
use std::fs;

/// The first YAML block of a page of the documentation.
fn shown(page: &str) -> String {
    let path = format!("{}/../../docs/{page}", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(path).unwrap();
    let (_, rest) = text.split_once("```yaml\n").unwrap();
    rest.split_once("```").unwrap().0.to_owned()
}

#[test]
fn the_experiment_of_its_page_is_valid() {
    let workspace = Workspace::new();
    workspace.write("shown.yaml", &shown("experiment.md"));
    for (name, text) in [
        ("cart.json", "{}"),
        ("gateway.yaml", ""),
        ("nginx.conf.in", ""),
        ("stubs/mappings/a.json", "{}"),
    ] {
        workspace.write(name, text);
    }
    workspace.run(&["validate", "shown.yaml"]).ended_with(0);
}

#[test]
fn the_gateway_of_its_page_is_valid() {
    let workspace = Workspace::new();
    let digest = "0".repeat(64);
    workspace.write(
        "shown.yaml",
        &shown("gateway.md").replace("…64 hexadecimal digits…", &digest),
    );
    workspace.run(&["validate", "shown.yaml"]).ended_with(0);
}

/// Every YAML block of the page for who comes from another tool is a whole file.
#[test]
fn the_experiments_for_who_comes_from_another_tool_are_valid() {
    let path = format!("{}/../../docs/coming-from.md", env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(path).unwrap();
    let workspace = Workspace::new();
    workspace.write("people.csv", "mail\na@example.com\n");
    let blocks = page.split("```yaml\n").skip(1);
    let blocks: Vec<&str> = blocks
        .map(|block| block.split("```").next().unwrap())
        .collect();
    assert!(blocks.len() >= 3, "k6, Gatling and Locust have one each");
    for (number, block) in blocks.iter().enumerate() {
        let name = format!("shown{number}.yaml");
        workspace.write(&name, block);
        workspace.run(&["validate", &name]).ended_with(0);
    }
}

/// The words of a line of a shell, quotes of both kinds removed.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, ' ') => words.push(String::new()),
            (_, c) => words.last_mut().unwrap().push(c),
        }
    }
    words
}

/// Every command line of docs/load.md, shortened in time, against our mock.
#[test]
fn the_command_lines_of_the_load_page_run() {
    let path = format!("{}/../../docs/load.md", env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(path).unwrap();
    let workspace = Workspace::new();
    workspace.write("body.json", "{}");
    let data = format!("{}/tests/data/import", env!("CARGO_MANIFEST_DIR"));
    workspace.write(
        "pets.yaml",
        &fs::read_to_string(format!("{data}/pets.yaml")).unwrap(),
    );
    workspace.write(
        "session.har",
        &fs::read_to_string(format!("{data}/shop.har")).unwrap(),
    );
    let mock = Server::start(&workspace, &["mock", "--port", "0"]);
    let blocks = page.split("```sh\n").skip(1);
    let lines: Vec<&str> = blocks
        .flat_map(|block| block.split("```").next().unwrap().lines())
        .collect();
    assert!(lines.len() >= 10);
    for (number, line) in lines.into_iter().enumerate() {
        let line = line.replace("127.0.0.1:8080", &mock.main().to_string());
        let mut args = words(&line);
        assert_eq!(args.remove(0), "plimsoll", "{line}");
        for (flag, short) in [("-z", "1s"), ("--warmup", "0s")] {
            if let Some(at) = args.iter().position(|arg| arg == flag) {
                args[at + 1] = short.to_owned();
            } else if args[0] == "load" && !args.iter().any(|arg| arg == "-n") {
                args.extend([flag, short].map(str::to_owned));
            }
        }
        if args[0] == "import" {
            // Each line writes the page's one file, which is not overwritten.
            let _first = fs::remove_file(workspace.path().join("experiment.yaml"));
        }
        let out = format!("run{number}");
        if args[0] == "load" {
            // The seed fixes where a Poisson process puts its arrivals: at a low rate a second may well be without one.
            args.extend(["--no-ui", "--seed", "1", "--out", &out].map(str::to_owned));
        }
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let finished = workspace.run(&args);
        // What this host is busy with may make a measurement invalid; that is no fault of the line.
        assert!(matches!(finished.code, Some(0 | 4)), "{line}\n{finished:?}");
    }
}
