//! Words of others in our messages: what files, their names and programs say cannot steer the terminal of whoever reads it.

use crate::program::Workspace;

/// Characters that a terminal would obey: the title, the screen, the way back over a line, the direction of the text after.
const STEERING: [char; 6] = ['\u{1b}', '\u{7}', '\u{9b}', '\r', '\u{7f}', '\u{202e}'];

/// Fails if the command says something that steers, or does not say these texts.
fn check(workspace: &Workspace, args: &[&str], expected: &[&str]) {
    let finished = workspace.run(args);
    for text in [&finished.stdout, &finished.stderr] {
        assert!(!text.contains(STEERING), "{text:?}");
    }
    for text in expected {
        assert!(finished.stderr.contains(text), "{}", finished.stderr);
    }
}

#[test]
fn the_last_lines_of_a_component() {
    let workspace = Workspace::new();
    let script =
        r"printf '\033]0;owned\007\033[2J\302\233A\rgone\177 \342\200\256kcab\n' >&2; exit 3";
    workspace.write("last.sh", script);
    let text = "version: 1\nname: last\ncomponents:\n  part: { command: [sh, last.sh] }\nscenario:\n  - { get: / }\n\
        load: { rate: 50/s, connections: 2, duration: 30s }\n";
    workspace.write("last.yaml", text);
    let line = r"    \u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}A\rgone\u{7f} \u{202e}kcab";
    check(&workspace, &["run", "last.yaml"], &[line]);
}

#[test]
fn names_of_files_and_keys_within_them() {
    let workspace = Workspace::new();
    let name = "a\u{1b}[2J\u{202e}.yaml";
    workspace.write(name, "version: 1\n\"na\\e[31m\\x9b\\nforged: line\": 1\n");
    let shown = r"a\u{1b}[2J\u{202e}.yaml:2:1";
    let key = r"unknown key `na\u{1b}[31m\u{9b}\nforged: line`";
    check(&workspace, &["validate", name], &[shown, key]);
    let absent = "absent\u{1b}]0;x\u{7}";
    let shown = [r"absent\u{1b}]0;x\u{7}"];
    check(&workspace, &["validate", absent], &shown);
    check(&workspace, &["import", "har", absent], &shown);
    check(&workspace, &["diagnose", absent], &shown);
    check(&workspace, &["gateway", "--config", absent], &shown);
    workspace.write(absent, "");
    let below = format!("{absent}/root");
    check(&workspace, &["mock", "--root-dir", &below], &shown);
    check(&workspace, &["report", absent], &shown);
    let found = workspace.write(
        "stubs/mappings/b\u{9b}.json",
        "{\"request\":{\"me\\u001bthod\":1},\"response\":{}}",
    );
    assert!(found.exists());
    check(&workspace, &["validate", "stubs"], &[r"b\u{9b}.json"]);
}

#[test]
fn what_an_import_takes_over() {
    let workspace = Workspace::new();
    let name = "a\nversion: 2\u{1b}.yaml";
    let description = "openapi: 3.0.0\ninfo: { title: \"x\\e\" }\nservers: [{ url: \"http://localhost:1\" }]\n\
        paths:\n  /a: { \"trace\": {}, get: { parameters: [{ name: \"p\\e\\x9b\", in: query }] } }\n";
    workspace.write(name, description);
    check(
        &workspace,
        &["import", "openapi", name],
        &[r"`p\u{1b}\u{9b}`"],
    );
    // A line end in the name of the file does not end the comment that holds it.
    workspace
        .run(&["import", "openapi", name, "-o", "out.yaml"])
        .ended_with(0);
    let first = workspace.read("out.yaml");
    let first = first.lines().next().unwrap();
    assert_eq!(first, r"# Imported from a\nversion: 2\u{1b}.yaml.");
}
