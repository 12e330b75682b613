//! A control group for one child: made, joined for as long as the child takes to start, and removed when its shim ends.

use super::spec::{Cgroup, Failure};
use plimsoll_base::ignored::Ignored as _;
use rustix::io::Errno;
use std::fs;
use std::io;
use std::path::PathBuf;

/// How often a group that has gone is made again.
const AGAIN: u32 = 3;

/// A group that was made. Dropping it removes it.
pub(super) struct Made(Cgroup);

impl Made {
    pub(super) fn join(cgroup: &Cgroup) -> Result<Self, Failure> {
        if let Some((_, copy)) = &cgroup.copy {
            fs::remove_file(copy).ignored("no earlier start has left one");
        }
        let mut left = AGAIN;
        loop {
            match enter(cgroup) {
                Ok(()) => return Ok(Self(cgroup.clone())),
                // The shim of the component's earlier start has removed it just now.
                Err((_, error)) if is_gone(&error) && left > 0 => left -= 1,
                Err((path, error)) => {
                    return Err(Failure::Cgroup(format!(
                        "its limits need a control group, and {} does not permit one: {error} (run as root or with a delegated group)",
                        path.display()
                    )));
                }
            }
        }
    }

    /// Leaves it, so that only the child and what comes of it are members.
    pub(super) fn leave(&self) {
        let procs = self.0.leave_to.join("cgroup.procs");
        fs::write(procs, std::process::id().to_string())
            .ignored("a shim that cannot leave is limited with its child");
    }
}

/// Makes the group, unless it is there, and joins it; where that fails, at this path.
fn enter(cgroup: &Cgroup) -> Result<(), (PathBuf, io::Error)> {
    match fs::create_dir(&cgroup.dir) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err((cgroup.dir.clone(), error));
        }
        _ => {}
    }
    let own = ("cgroup.procs".to_owned(), std::process::id().to_string());
    for (file, value) in cgroup.settings.iter().chain([&own]) {
        let path = cgroup.dir.join(file);
        fs::write(&path, value).map_err(|error| (path, error))?;
    }
    Ok(())
}

/// Whether a group was removed while it was being used.
fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
        || error.raw_os_error() == Some(Errno::NODEV.raw_os_error())
}

impl Drop for Made {
    fn drop(&mut self) {
        self.leave();
        if let Some((file, copy)) = &self.0.copy {
            fs::copy(self.0.dir.join(file), copy).ignored("then it is not known");
        }
        fs::remove_dir(&self.0.dir).ignored("a group that cannot be removed is empty and harmless");
    }
}
