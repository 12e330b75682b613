//! Networks of real namespaces: this executable is the test and, by its first argument, a shim, a holder, a server and a lab that gets killed.
//!
//! Needs root, `ip` and `nft`.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test, which the lints do not recognise without its harness"
)]

#[path = "runtime_network/faults.rs"]
mod faults;
#[path = "runtime_network/hosts.rs"]
mod hosts;
#[path = "shared/shim.rs"]
mod shim;
#[path = "runtime_network/stage.rs"]
mod stage;

use plimsoll_lab::network::{check, run_hold};
use plimsoll_lab::shim::run_shim;
use std::io::{stderr, stdin, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("shim") => return ExitCode::from(run_shim(stdin(), stderr())),
        Some("hold") => return ExitCode::from(run_hold(stdin().lock(), stdout())),
        Some("serve") => return stage::serve(&arguments),
        Some("doomed-lab") => return hosts::doomed_lab(&arguments),
        _ => {}
    }
    let wanted = ["--include-ignored", "--ignored"];
    let is_asked = |argument: &String| wanted.contains(&argument.as_str());
    let tests = hosts::TESTS.into_iter().chain(faults::TESTS);
    if !arguments.iter().any(is_asked) {
        for (name, _) in tests {
            println!("test {name} ... ignored, needs root, ip and nft: run scripts/test");
        }
        return ExitCode::SUCCESS;
    }
    assert_eq!(check(), [], "this host lacks something");
    // Each has a network of its own, and waits most of its time.
    std::thread::scope(|scope| {
        for (name, test) in tests {
            scope.spawn(move || {
                test();
                println!("test {name} ... ok");
            });
        }
    });
    ExitCode::SUCCESS
}
