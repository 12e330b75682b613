//! Which processes exist and who their parents are, from `/proc`. What they consume is the probes' business.

use std::collections::BTreeMap;
use std::fs;

/// One process as `/proc/<pid>/stat` shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Process {
    /// Its id.
    pub pid: u32,
    /// Its parent's id.
    pub parent: u32,
    /// The id of its session.
    pub session: u32,
    /// Whether it has ended and only waits to be reaped.
    pub ended: bool,
    /// When it started, in clock ticks since boot: with the id, its identity.
    pub started: u64,
}

/// Every process at one moment (nearly: `/proc` is read one process at a time).
#[derive(Debug, Clone, Default)]
pub struct ProcessTree {
    children: BTreeMap<u32, Vec<Process>>,
}

impl ProcessTree {
    /// Reads `/proc`. Processes that vanish meanwhile are left out.
    #[must_use]
    pub fn read() -> Self {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        Self::of(
            pids.filter_map(|pid| fs::read_to_string(format!("/proc/{pid}/stat")).ok())
                .filter_map(|stat| parse(&stat)),
        )
    }

    fn of(processes: impl IntoIterator<Item = Process>) -> Self {
        let mut tree = Self::default();
        for process in processes {
            tree.children
                .entry(process.parent)
                .or_default()
                .push(process);
        }
        tree
    }

    /// Every process below `root`, without `root` itself.
    #[must_use]
    pub fn descendants(&self, root: u32) -> Vec<Process> {
        let mut found: Vec<Process> = self.children_of(root).to_vec();
        let mut next = 0;
        while let Some(process) = found.get(next).copied() {
            found.extend(self.children_of(process.pid));
            next += 1;
        }
        found
    }

    /// Whether a process of this id runs.
    #[must_use]
    pub fn contains(&self, pid: u32) -> bool {
        let mut all = self.children.values().flatten();
        all.any(|process| process.pid == pid && !process.ended)
    }

    /// Every process of the session `session`.
    pub fn of_session(&self, session: u32) -> impl Iterator<Item = Process> + '_ {
        let all = self.children.values().flatten().copied();
        all.filter(move |process| process.session == session)
    }

    fn children_of(&self, pid: u32) -> &[Process] {
        self.children.get(&pid).map_or(&[], Vec::as_slice)
    }
}

/// Parses a line of `/proc/<pid>/stat` (proc_pid_stat(5)). The command's name may itself hold spaces and parentheses.
fn parse(stat: &str) -> Option<Process> {
    let (pid, _) = stat.split_once(' ')?;
    let (_, rest) = stat.rsplit_once(") ")?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    Some(Process {
        pid: pid.parse().ok()?,
        parent: fields.get(1)?.parse().ok()?,
        session: fields.get(3)?.parse().ok()?,
        ended: matches!(*fields.first()?, "Z" | "X"),
        started: fields.get(19)?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_spaces_and_parentheses() {
        let line = "10239 (a) b (c) R 10231 10231 5617 0 -1 4194304 99 0 0 0 7 3 0 0 20 0 1 0 113005 3133440 388 1 1";
        let expected = Process {
            pid: 10239,
            parent: 10231,
            session: 5617,
            ended: false,
            started: 113_005,
        };
        assert_eq!(parse(line), Some(expected));
        assert_eq!(parse("nonsense"), None);
    }

    #[test]
    fn descendants_at_every_depth_and_nothing_else() {
        let process = |pid, parent| Process {
            pid,
            parent,
            session: 1,
            ended: false,
            started: 0,
        };
        let tree = ProcessTree::of([process(2, 1), process(3, 2), process(4, 3), process(5, 1)]);
        let below = |root| {
            let mut pids: Vec<u32> = tree.descendants(root).iter().map(|p| p.pid).collect();
            pids.sort_unstable();
            pids
        };
        assert_eq!(
            (below(1), below(2), below(4)),
            (vec![2, 3, 4, 5], vec![3, 4], vec![])
        );
    }

    #[test]
    fn this_process_is_among_its_parents_descendants() {
        let parent = std::os::unix::process::parent_id();
        let found = ProcessTree::read().descendants(parent);
        assert!(found.iter().any(|p| p.pid == std::process::id()));
    }
}
