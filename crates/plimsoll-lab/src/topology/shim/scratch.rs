//! The scratch directory of a run, which the lab removes. Where the lab is gone, the last shim of the run does: components that were down at
//! that moment have no shim, and directories all the same.

use plimsoll_base::ignored::Ignored as _;
use rustix::event::{Timespec, poll};
use rustix::fs::{FlockOperation, flock};
use rustix::process::{Pid, getppid};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// How often it is looked whether the others have ended, in all 10 seconds, and whether the lab has: its pipes are closed a moment before.
const LOOKS: u32 = 500;
const LOOKS_FOR_THE_LAB: u32 = 10;
const LOOK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 20_000_000,
};

/// A hold on the directory: every shim of the run has one until it ends.
pub(super) struct Scratch {
    directory: PathBuf,
    held: File,
    lab: Option<Pid>,
}

impl Scratch {
    /// Takes hold of it for a process whose parent is the lab.
    ///
    /// # Errors
    /// The system's.
    pub(super) fn hold(directory: &Path) -> io::Result<Self> {
        let held = File::open(directory)?;
        flock(&held, FlockOperation::LockShared)?;
        Ok(Self {
            directory: directory.to_owned(),
            held,
            lab: getppid(),
        })
    }

    /// Removes it with all that is in it once the lab and all others that have a hold on it have ended. A lab that is there keeps it.
    pub(super) fn remove_after_the_lab(self) {
        for look in 0..LOOKS {
            let is_lab_gone = getppid() != self.lab;
            if is_lab_gone && self.remove_as_the_last() {
                return;
            }
            if !is_lab_gone && look >= LOOKS_FOR_THE_LAB {
                return;
            }
            poll(&mut [], Some(&LOOK)).ignored("it looks again all the sooner");
        }
    }

    /// Removes it, unless somebody else has a hold on it; says whether it is gone.
    fn remove_as_the_last(&self) -> bool {
        // Of several that try at once one is the last: whoever fails has lost its own hold.
        if flock(&self.held, FlockOperation::NonBlockingLockExclusive).is_ok() {
            fs::remove_dir_all(&self.directory).ignored("another may have done so just now");
            return true;
        }
        !self.directory.exists()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_removes_what_others_left() {
        let run = tempfile::tempdir().unwrap();
        let directory = run.path().join("scratch");
        fs::create_dir_all(directory.join("down")).unwrap();
        let [first, second, last] = [(); 3].map(|()| Scratch::hold(&directory).unwrap());
        assert!(!first.remove_as_the_last());
        assert!(!second.remove_as_the_last());
        assert!(directory.join("down").exists());
        assert!(last.remove_as_the_last());
        assert!(!directory.exists() && run.path().exists());
        assert!(first.remove_as_the_last());
    }

    #[test]
    fn a_lab_that_is_there_keeps_it() {
        let run = tempfile::tempdir().unwrap();
        Scratch::hold(run.path()).unwrap().remove_after_the_lab();
        assert!(run.path().exists());
    }
}
