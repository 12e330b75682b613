//! Names of files that are no files: each command says so at once, and what to write instead.

use crate::program::{Finished, Workspace};
use std::process::Command;

const DIRECTORY: &str = "this is a directory, not a file";
const PIPE: &str = "this is a pipe, not a file: write what comes out of it into a file";
const DEVICE: &str = "this is a device, not a file";

/// A workspace with a pipe that nobody writes to, and a file beyond every limit of documents that takes no space.
fn workspace() -> Workspace {
    let workspace = Workspace::new();
    let made = Command::new("mkfifo")
        .arg(workspace.path().join("pipe"))
        .status();
    assert!(made.unwrap().success());
    let long = std::fs::File::create(workspace.path().join("long")).unwrap();
    long.set_len(300 << 20).unwrap();
    std::fs::create_dir(workspace.path().join("directory")).unwrap();
    workspace
}

/// Fails unless the command refuses its input with these words.
fn check(workspace: &Workspace, args: &[&str], expected: &str) {
    let finished = workspace.run_within("200000", args);
    assert_eq!(finished.code, Some(2), "{args:?}: {}", finished.stderr);
    assert!(
        finished.stderr.contains(expected),
        "{args:?}: {}",
        finished.stderr
    );
}

#[test]
fn files_of_commands() {
    let workspace = workspace();
    let commands: [&[&str]; 8] = [
        &["validate"],
        &["diagnose"],
        &["import", "har"],
        &["import", "openapi"],
        &["run"],
        &["gateway", "--config"],
        &["gateway", "--tyk"],
        &["mock", "--port", "0", "--proxy-ca"],
    ];
    for command in commands {
        for (name, expected) in [
            ("pipe", PIPE),
            ("/dev/zero", DEVICE),
            ("long", "the file is too large: at most "),
        ] {
            check(&workspace, &[command, &[name]].concat(), expected);
        }
    }
    check(&workspace, &["diagnose", "directory"], DIRECTORY);
    check(&workspace, &["import", "har", "directory"], DIRECTORY);
    check(&workspace, &["gateway", "--config", "directory"], DIRECTORY);
}

#[test]
fn files_of_an_experiment() {
    let workspace = workspace();
    for (name, expected) in [
        ("pipe", PIPE),
        ("/dev/zero", DEVICE),
        ("directory", DIRECTORY),
    ] {
        let text = format!(
            "version: 1\nname: x\ncomponents: {{ upstream: {{ mock: {{}} }} }}\n\
             scenario: [{{ post: /, body_file: \"{name}\" }}]\nload: {{ rate: 1/s, duration: 1s }}\n"
        );
        workspace.write("body.yaml", &text);
        check(&workspace, &["validate", "body.yaml"], expected);
        check(&workspace, &["validate", "body.yaml"], "body.yaml:4:");
    }
}

#[test]
fn files_of_a_recorded_run() {
    let workspace = workspace();
    std::fs::create_dir(workspace.path().join("run")).unwrap();
    std::os::unix::fs::symlink("../pipe", workspace.path().join("run/manifest.json")).unwrap();
    check(&workspace, &["report", "run"], PIPE);
    check(&workspace, &["compare", "run", "run"], PIPE);
}

#[test]
fn bodies_for_a_moment_may_come_from_a_pipe() {
    let workspace = workspace();
    let server = crate::program::Server::that_remembers(&workspace);
    let url = format!("http://{}/", server.main());
    let plimsoll = env!("CARGO_BIN_EXE_plimsoll");
    let piped = |command: &str| {
        let mut shell = Command::new("bash");
        shell
            .args(["-c", command, plimsoll, &url])
            .current_dir(workspace.path());
        let finished = Finished::of(shell.output().unwrap());
        // A busy machine makes a load invalid, and it is one all the same.
        assert!(matches!(finished.code, Some(0 | 4)), "{finished:?}");
    };
    piped("\"$0\" hey -n 1 -c 1 -m POST -D <(echo of hey) \"$1\"");
    piped(
        "echo of curl | \"$0\" load --no-ui --out a --rate 5/s --duration 1s --curl \"curl -d @/dev/stdin $1\"",
    );
    piped(
        "\"$0\" load --no-ui --out b --rate 5/s --duration 1s -m POST -b @<(echo of load) \"$1\"",
    );
    let bodies: Vec<String> = (server.requests().iter())
        .map(|request| request["body"].as_str().unwrap_or_default().to_owned())
        .collect();
    for sent in ["of hey\n", "of curl", "of load\n"] {
        assert!(bodies.contains(&sent.to_owned()), "{sent}: {bodies:?}");
    }
    // As hey ends.
    let endless = ["hey", "-n", "1", "-c", "1", "-D", "/dev/zero", &url];
    workspace.run(&endless).ended_with(1).saying(DEVICE);
}
