//! Whole runs of the lab with stand-ins for the rest: this executable is the test, and by its first argument a shim, a mock, a
//! foreign server or a generator.
//!
//! The stand-ins exchange real requests over real sockets, but without keeping time: a plan of seconds is over at once.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test, which the lints do not recognise without its harness"
)]

#[path = "runtime/runs.rs"]
mod runs;
#[path = "runtime/stand_in.rs"]
mod stand_in;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("shim") => ExitCode::from(plimsoll_lab::shim::run_shim(
            std::io::stdin(),
            std::io::stderr(),
        )),
        Some("mock") => stand_in::mock(&arguments),
        Some("foreign") => stand_in::foreign(&arguments),
        Some("generator") => stand_in::generator(),
        _ => {
            for (name, test) in runs::TESTS {
                test();
                println!("test {name} ... ok");
            }
            ExitCode::SUCCESS
        }
    }
}
