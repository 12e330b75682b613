//! Clients of Toxiproxy in other languages, unmodified: `tests/clients/` has a program for each, which uses every toxic that it knows.

use crate::serving::Serving;
use std::path::Path;
use std::process::Command;

/// Toxiproxy's own command line, which comes with its client in Go.
const CLI: &str = "cli";

/// Installs these clients where they are missing, and runs them.
fn run(names: &[&str]) {
    let serving = Serving::start();
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let cache = here.join("../../target/peers/toxiproxy");
    let succeeds = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(here.join("tests/clients").join(program));
        let output = command.args(arguments).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let complained = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program}: {said}{complained}");
        said
    };
    let cache = cache.to_str().unwrap();
    let installed = names.iter().filter(|name| **name != CLI).copied();
    let arguments: Vec<&str> = [cache].into_iter().chain(installed).collect();
    succeeds("install", &arguments);
    let address = serving.address("api").to_string();
    let said = succeeds("run", &[&[&*address, cache], names].concat());
    for name in names {
        assert!(said.contains(&format!("# {name}\nok ")), "{said}");
    }
}

#[test]
#[ignore = "needs go, node, mvn and minutes to install: cargo test -p plimsoll-fault at_length -- --ignored"]
fn all_clients_find_what_they_expect_at_length() {
    run(&["go", CLI, "python", "node", "java", "rust"]);
}
