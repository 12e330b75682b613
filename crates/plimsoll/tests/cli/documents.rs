//! The files that the documentation shows are files that the program takes.

use crate::program::Workspace;
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
