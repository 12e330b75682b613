//! A control group for one child: made, joined for as long as the child takes to start, and removed when its shim ends.

use super::spec::{Cgroup, Failure};
use plimsoll_base::ignored::Ignored as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A group that was made. Dropping it removes it.
pub(super) struct Made {
    dir: PathBuf,
    leave_to: PathBuf,
}

impl Made {
    pub(super) fn join(cgroup: &Cgroup) -> Result<Self, Failure> {
        let explain = |path: &Path| {
            let path = path.display().to_string();
            move |error: io::Error| {
                Failure::Cgroup(format!(
                    "its limits need a control group, and {path} does not permit one: {error} (run as root or with a delegated group)"
                ))
            }
        };
        match fs::create_dir(&cgroup.dir) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(explain(&cgroup.dir)(error));
            }
            _ => {}
        }
        let made = Self {
            dir: cgroup.dir.clone(),
            leave_to: cgroup.leave_to.clone(),
        };
        let own = ("cgroup.procs".to_owned(), std::process::id().to_string());
        for (file, value) in cgroup.settings.iter().chain([&own]) {
            let path = cgroup.dir.join(file);
            fs::write(&path, value).map_err(explain(&path))?;
        }
        Ok(made)
    }

    /// Leaves it, so that only the child and what comes of it are members.
    pub(super) fn leave(&self) {
        let procs = self.leave_to.join("cgroup.procs");
        fs::write(procs, std::process::id().to_string())
            .ignored("a shim that cannot leave is limited with its child");
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        self.leave();
        fs::remove_dir(&self.dir).ignored("a group that cannot be removed is empty and harmless");
    }
}
