//! The generator is moved into a control group with a small CPU quota. Cgroup v1 and v2.

use super::{Provocation, SECONDS};
use crate::bench::{Bench, Error, Outcome, measure};
use crate::mock::Mock;
use rustix::process::Pid;
use serde_json::json;
use std::path::{Path, PathBuf};

pub const PROVOCATION: Provocation = Provocation {
    what: "CPU quota of 5 ms in 100 ms",
    criteria: &[5],
    provoke,
};

fn provoke(bench: &Bench) -> Result<Outcome, Error> {
    let group = Group::create()?;
    let mock = Mock::start(bench, &[])?;
    let load = json!({ "rate": "5000/s", "duration": format!("{SECONDS}s") });
    let running = bench.start(&measure(mock.address, "/json/valid", load), SECONDS)?;
    group.take(running.generator()?)?;
    let outcome = running.finish()?;
    mock.stop()?;
    Ok(outcome)
}

/// A control group of our own; removed when dropped.
pub struct Group(PathBuf);

impl Group {
    /// Of 5 ms in 100 ms.
    pub fn create() -> Result<Self, Error> {
        let v2 = Path::new("/sys/fs/cgroup/cgroup.controllers").exists();
        let parent = Path::new(if v2 {
            "/sys/fs/cgroup"
        } else {
            "/sys/fs/cgroup/cpu"
        });
        let path = parent.join(format!("plimsoll-calibration-{}", std::process::id()));
        std::fs::create_dir(&path)
            .map_err(|e| Error::io(format!("creating {}", path.display()), e))?;
        let group = Self(path);
        if v2 {
            write(&group.0.join("cpu.max"), "5000 100000")?;
        } else {
            write(&group.0.join("cpu.cfs_period_us"), "100000")?;
            write(&group.0.join("cpu.cfs_quota_us"), "5000")?;
        }
        Ok(group)
    }

    /// Moves a generator into it.
    pub fn take(&self, generator: Pid) -> Result<(), Error> {
        let pid = generator.as_raw_nonzero().to_string();
        std::fs::write(self.0.join("cgroup.procs"), pid)
            .map_err(|e| Error::at_process("moving the generator into a control group", e))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir(&self.0) {
            let path = self.0.display();
            crate::say(&format!("calibration: {path} was left: {error}"));
        }
    }
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    std::fs::write(path, text).map_err(|e| Error::io(format!("writing {}", path.display()), e))
}
