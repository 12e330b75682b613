//! One shard of two stands still for 200 ms while the other goes on: what a blocking call in a shard looks like from outside.
//!
//! A debugger's stop reaches a single thread, where a signal would stop the process.

use super::{DISTURBANCE, Provocation, SECONDS, into_the_load};
use crate::bench::{Bench, Error, Outcome, measure};
use crate::clock;
use crate::mock::Mock;
use nix::errno::Errno;
use nix::sys::ptrace::{Options, detach, interrupt, seize};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid as Thread;
use rustix::process::Pid;
use serde_json::json;
use std::collections::BTreeMap;

pub const PROVOCATION: Provocation = Provocation {
    what: "one shard of two blocked for 200 ms",
    criteria: &[3],
    provoke,
};

/// How many share the load.
const SHARDS: usize = 2;
/// How the generator calls the threads of its shards.
const NAMES: [&str; SHARDS] = ["load-0", "load-1"];

fn provoke(bench: &Bench) -> Result<Outcome, Error> {
    let mock = Mock::start(bench, &[])?;
    // Both shards release an arrival every millisecond.
    let load = json!({ "rate": "2000/s", "connections": 50, "duration": format!("{SECONDS}s") });
    let mut experiment = measure(mock.address, "/json/valid", load);
    experiment["generator"] = json!({ "shards": SHARDS });
    let running = bench.start(&experiment, SECONDS)?;
    let generator = running.generator()?;
    into_the_load();
    block(shard(generator)?).map_err(|error| match error {
        Errno::EPERM | Errno::ENOSYS => {
            Error::Missing(format!("ptrace is not permitted here: {error}"))
        }
        _ => Error::at_process("stopping a thread with ptrace", error.into()),
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

/// The thread of the first shard. All of them must be there: with one alone nothing would go on beside it.
fn shard(process: Pid) -> Result<Thread, Error> {
    let listing = |e| Error::at_process("listing threads", e);
    let tasks = format!("/proc/{}/task", process.as_raw_nonzero());
    let mut names = BTreeMap::new();
    for task in std::fs::read_dir(tasks).map_err(listing)? {
        let path = task.map_err(listing)?.path();
        let name = std::fs::read_to_string(path.join("comm")).unwrap_or_default();
        let number = path
            .file_name()
            .and_then(|text| text.to_str()?.parse().ok());
        names.extend(number.map(|number| (name.trim().to_owned(), Thread::from_raw(number))));
    }
    let threads = NAMES.map(|name| names.get(name).copied());
    match threads {
        [Some(first), Some(_)] => Ok(first),
        _ => Err(Error::Measured(format!(
            "the generator has not the threads {}, only {}",
            NAMES.join(" and "),
            names.into_keys().collect::<Vec<_>>().join(", ")
        ))),
    }
}
