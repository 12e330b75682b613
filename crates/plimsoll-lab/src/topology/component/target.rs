//! A component's processes, for whoever breaks them and heals them again.

use super::Topology;
use super::address::Address;
use super::faults::READY_WITHIN;
use super::ready;
use crate::kernel_file;
use crate::topology::process_tree::ProcessTree;
use crate::topology::shim::{self, Cgroup};
use crate::topology::way::Way;
use plimsoll_base::ignored::Ignored as _;
use plimsoll_experiment::{ComponentKind, Readiness};
use rustix::process::{Signal, kill_process};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A component that runs below a shim.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    /// The process id of its shim, which is left alone.
    shim: u32,
    /// The process that was started; others may have come of it.
    pub(crate) main: u32,
    groups: Vec<Cgroup>,
    /// Where it listens, `main` first.
    pub(crate) addresses: Vec<Address>,
    readiness: Readiness,
    /// How it is reached.
    pub(crate) way: Way,
}

impl Topology<'_> {
    /// The processes of a component that this run has started and that runs.
    pub(crate) fn target(&self, name: &str) -> Option<Target> {
        let running = self.running.get(name)?;
        let child = running.child.as_ref()?;
        let readiness = match self.experiment.component(name).map(|one| &one.kind) {
            Some(ComponentKind::Command(command)) => command.readiness.clone(),
            _ => Readiness::Tcp,
        };
        Some(Target {
            shim: child.shim_pid(),
            main: child.pid(),
            groups: running.groups.clone(),
            addresses: self.addresses.all(name),
            readiness,
            way: self.way(name),
        })
    }
}

impl Target {
    /// Its processes that have not ended.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let below = ProcessTree::read().descendants(self.shim).into_iter();
        below
            .filter(|process| !process.ended)
            .map(|process| process.pid)
            .collect()
    }

    /// A file of the one of its groups that has it.
    pub(crate) fn group_file(&self, name: &str) -> Option<PathBuf> {
        let files = self.groups.iter().map(|group| group.dir.join(name));
        files.into_iter().find(|file| file.exists())
    }

    /// Text of a file of its groups, or of the copy that was left when that group was removed.
    pub(crate) fn group_text(&self, name: &str) -> Option<String> {
        let copies = self.groups.iter().filter_map(|group| group.copy.as_ref());
        let copy = copies
            .filter(|(file, _)| file == name)
            .map(|(_, copy)| copy);
        let files = self.group_file(name).into_iter().chain(copy.cloned());
        files
            .into_iter()
            .find_map(|file| kernel_file::read(file).ok())
    }

    /// Kills all of it: at once where the system can do that.
    pub(crate) fn kill(&self) -> io::Result<()> {
        match self.group_file("cgroup.kill") {
            Some(file) => fs::write(file, "1"),
            None => self.signal(Signal::KILL),
        }
    }

    /// Stops all of it, or lets it go on.
    pub(crate) fn freeze(&self, frozen: bool) -> io::Result<()> {
        match self.group_file("cgroup.freeze") {
            Some(file) => fs::write(file, if frozen { "1" } else { "0" }),
            None if frozen => self.signal(Signal::STOP),
            None => self.signal(Signal::CONT),
        }
    }

    /// Whether all of it stands still.
    pub(crate) fn is_frozen(&self) -> bool {
        let processes = self.processes();
        if let Some(file) = self.group_file("cgroup.events") {
            let events = kernel_file::read(&file).unwrap_or_default();
            let members = file.parent().map(members).unwrap_or_default();
            // A group that everybody has left is frozen, too.
            return events.lines().any(|line| line == "frozen 1")
                && processes.iter().all(|pid| members.contains(pid));
        }
        let stopped = |pid: &u32| {
            let status = kernel_file::read(format!("/proc/{pid}/status")).unwrap_or_default();
            status.lines().any(|line| line.starts_with("State:\tT"))
        };
        !processes.is_empty() && processes.iter().all(stopped)
    }

    /// Processor time that it has used, in nanoseconds (`/proc/<pid>/task/<tid>/schedstat`, proc(5)).
    pub(crate) fn processor_ns(&self) -> u64 {
        let processes = self.processes().into_iter();
        let threads = processes.flat_map(|pid| {
            let threads = fs::read_dir(format!("/proc/{pid}/task"));
            threads.into_iter().flatten().flatten()
        });
        threads
            .filter_map(|thread| on_processor(&thread.path()))
            .sum()
    }

    /// Sends a signal to the process that was started.
    pub(crate) fn signal_main(&self, signal: Signal) -> io::Result<()> {
        let pid = shim::pid(self.main).ok_or(io::ErrorKind::NotFound)?;
        Ok(kill_process(pid, signal)?)
    }

    /// Waits until it answers as it does when it is started.
    ///
    /// # Errors
    /// Why it does not, in words.
    pub(crate) async fn ready(&self) -> Result<(), String> {
        let main = self.addresses.first().ok_or("it listens nowhere")?;
        ready::answers(&self.readiness, (&self.way, main), READY_WITHIN).await
    }

    /// The date of an answer of it, which speaks HTTP.
    ///
    /// # Errors
    /// Why there is none, in words.
    pub(crate) async fn date(&self) -> Result<SystemTime, String> {
        let main = self.addresses.first().ok_or("it listens nowhere")?;
        let path = match &self.readiness {
            Readiness::Http(path) => path,
            Readiness::Tcp => "/",
        };
        ready::date(&self.way, main, path).await
    }

    fn signal(&self, signal: Signal) -> io::Result<()> {
        for pid in self.processes().into_iter().filter_map(shim::pid) {
            kill_process(pid, signal).ignored("gone meanwhile is no trouble");
        }
        Ok(())
    }
}

/// The processes of a control group and of those below it.
fn members(group: &Path) -> Vec<u32> {
    let listed = kernel_file::read(group.join("cgroup.procs")).unwrap_or_default();
    let own = listed.lines().filter_map(|line| line.parse().ok());
    let entries = fs::read_dir(group).into_iter().flatten().flatten();
    let below = entries
        .map(|entry| entry.path())
        .filter(|path| path.is_dir());
    own.chain(below.flat_map(|path| members(&path))).collect()
}

fn on_processor(thread: &Path) -> Option<u64> {
    let text = kernel_file::read(thread.join("schedstat")).ok()?;
    text.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_has_the_processes_of_those_below_it() {
        let group = tempfile::tempdir().unwrap();
        let below = group.path().join("below");
        fs::create_dir(&below).unwrap();
        fs::write(group.path().join("cgroup.procs"), "1\n23\n").unwrap();
        fs::write(below.join("cgroup.procs"), "4\n").unwrap();
        assert_eq!(members(group.path()), [1, 23, 4]);
    }
}
