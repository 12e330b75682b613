//! A control group for one child: made, joined, and removed when its shim ends.

use super::spec::{Cgroup, Failure};
use plimsoll_base::ignored::Ignored as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Membership of a group. Dropping it leaves the group and removes it.
pub(super) struct Joined {
    dir: PathBuf,
    leave_to: PathBuf,
}

impl Joined {
    pub(super) fn join(cgroup: &Cgroup) -> Result<Self, Failure> {
        let explain = |path: &Path| {
            let path = path.display().to_string();
            move |error: io::Error| {
                Failure::Cgroup(format!(
                    "cpu_quota needs a control group, and {path} does not permit one: {error} (run as root or with a delegated group)"
                ))
            }
        };
        match fs::create_dir(&cgroup.dir) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(explain(&cgroup.dir)(error));
            }
            _ => {}
        }
        let joined = Self {
            dir: cgroup.dir.clone(),
            leave_to: cgroup.leave_to.clone(),
        };
        let own = ("cgroup.procs".to_owned(), std::process::id().to_string());
        for (file, value) in cgroup.settings.iter().chain([&own]) {
            let path = cgroup.dir.join(file);
            fs::write(&path, value).map_err(explain(&path))?;
        }
        Ok(joined)
    }
}

impl Drop for Joined {
    fn drop(&mut self) {
        let procs = self.leave_to.join("cgroup.procs");
        fs::write(procs, std::process::id().to_string()).ignored("there is nobody left to tell");
        fs::remove_dir(&self.dir).ignored("a group that cannot be removed is empty and harmless");
    }
}
