//! One thread of the generator stands still for 200 ms while all others go on: what a blocking call in a shard looks like from outside.
//!
//! A debugger's stop reaches a single thread, where a signal would stop the process.

use super::{DISTURBANCE, Provocation, SECONDS, into_the_load};
use crate::bench::{Bench, Outcome, Trouble, measure};
use crate::clock;
use crate::mock::Mock;
use nix::errno::Errno;
use nix::sys::ptrace::{Options, detach, interrupt, seize};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid as Thread;
use rustix::process::Pid;
use serde_json::json;

pub const PROVOCATION: Provocation = Provocation {
    what: "a shard blocked for 200 ms",
    criteria: &[3],
    provoke,
};

/// How the generator calls the thread of its first shard.
const SHARD: &str = "load-0";

fn provoke(bench: &Bench) -> Result<Outcome, Trouble> {
    let mock = Mock::start(bench, &[])?;
    let load = json!({ "rate": "500/s", "duration": format!("{SECONDS}s") });
    let running = bench.start(&measure(mock.address, "/json/valid", load), SECONDS)?;
    let generator = running.generator()?;
    into_the_load();
    block(shard(generator)?).map_err(|error| match error {
        Errno::EPERM | Errno::ENOSYS => {
            Trouble::Missing(format!("ptrace is not permitted here: {error}"))
        }
        _ => Trouble::at_process("stopping a thread with ptrace", error.into()),
    })?;
    let outcome = running.finish()?;
    mock.stop()?;
    Ok(outcome)
}

/// Stops a thread for a while. It goes on when this one ends, whatever happens.
fn block(thread: Thread) -> Result<(), Errno> {
    seize(thread, Options::empty())?;
    interrupt(thread)?;
    // Only this thread's stop; other children of ours are waited for by their owners.
    waitpid(thread, Some(WaitPidFlag::__WALL))?;
    clock::until(clock::now() + DISTURBANCE);
    detach(thread, None)
}

/// A shard's thread, by its name.
fn shard(process: Pid) -> Result<Thread, Trouble> {
    let tasks = format!("/proc/{}/task", process.as_raw_nonzero());
    let tasks = std::fs::read_dir(tasks).map_err(|e| Trouble::at_process("listing threads", e))?;
    let mut names = Vec::new();
    for task in tasks {
        let path = task
            .map_err(|e| Trouble::at_process("listing threads", e))?
            .path();
        let name = std::fs::read_to_string(path.join("comm")).unwrap_or_default();
        let number = path
            .file_name()
            .and_then(|text| text.to_str()?.parse().ok());
        match number {
            Some(number) if name.trim() == SHARD => return Ok(Thread::from_raw(number)),
            _ => names.push(name.trim().to_owned()),
        }
    }
    Err(Trouble::Measured(format!(
        "the generator has no thread `{SHARD}`, only {}",
        names.join(", ")
    )))
}
