//! Which processes exist and who their parents are, from `/proc`. What they consume is the probes' business.

use crate::kernel_file;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

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
            pids.filter_map(|pid| kernel_file::read(format!("/proc/{pid}/stat")).ok())
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

    /// Every process of the session `session`.
    pub fn of_session(&self, session: u32) -> impl Iterator<Item = Process> + '_ {
        let all = self.children.values().flatten().copied();
        all.filter(move |process| process.session == session)
    }

    fn children_of(&self, pid: u32) -> &[Process] {
        self.children.get(&pid).map_or(&[], Vec::as_slice)
    }
}

/// The processes below one, looked for again and again at little cost.
#[derive(Debug, Default)]
pub struct Descendants {
    known: Vec<Process>,
    /// The process below which they were last looked for, and how many processes and threads this host had ever made.
    looked: Option<(u32, u64)>,
    /// Whether that look found all that the one before had found, none of them ended, and nobody had been made in between.
    is_settled: bool,
}

impl Descendants {
    /// The processes below `root` that have not ended, without `root` itself, each once. While a child ends, the kernel may leave its siblings
    /// out (proc_pid_task(5)): one that was here at the last look and still is below `root` counts, with those below it; a new one may be
    /// missed for as long as others end.
    ///
    /// `forks`: how many processes and threads this host has ever made, read before this call. Where that stays, nobody is new: once two
    /// looks have found the same, those that are known are looked at alone.
    pub fn look(&mut self, root: u32, forks: Option<u64>) -> Vec<u32> {
        let looked = forks.map(|forks| (root, forks));
        let is_nobody_new = looked.is_some() && looked == self.looked;
        if !(is_nobody_new && self.is_settled && self.known.iter().all(Process::is_as_it_was)) {
            let before = self.known.clone();
            let all_live = if kernel_lists_children() {
                self.take(root, children(root))
            } else {
                self.keep(ProcessTree::read().descendants(root))
            };
            self.is_settled = is_nobody_new && all_live && self.known == before;
            self.looked = looked;
        }
        self.known.iter().map(|process| process.pid).collect()
    }

    /// Takes over the processes below `root`, of which the kernel `listed` some; whether none has ended.
    fn take(&mut self, root: u32, listed: Vec<u32>) -> bool {
        let mut found = BTreeMap::new();
        add_below(listed, &mut found);
        for one in &self.known {
            if !found.contains_key(&one.pid) && one.is_still_below(root) {
                add_below(vec![one.pid], &mut found);
            }
        }
        self.keep(found.into_values().collect())
    }

    /// Takes over those that have not ended; whether that is all.
    fn keep(&mut self, mut found: Vec<Process>) -> bool {
        let all = found.len();
        found.retain(|process| !process.ended);
        // The first is what the shim started.
        found.sort_by_key(|process| (process.started, process.pid));
        self.known = found;
        self.known.len() == all
    }
}

impl Process {
    /// Whether `/proc` still says the same of it.
    fn is_as_it_was(&self) -> bool {
        read(self.pid).as_ref() == Some(self)
    }

    /// Whether it has not ended and descends from `root`.
    fn is_still_below(&self, root: u32) -> bool {
        let is_below = || {
            let now = read(self.pid).filter(|now| !now.ended && now.started == self.started);
            let mut ancestors = std::iter::successors(now, |process| read(process.parent));
            ancestors.any(|process| process.parent == root)
        };
        // A parent may end while it is asked for its own; its children have another then.
        is_below() || is_below()
    }
}

/// Whether the kernel says which children a process has (proc_pid_task(5)), which spares looking at every process of the host.
fn kernel_lists_children() -> bool {
    let own = Path::new("/proc/self/task").join(own_id());
    own.join("children").exists()
}

/// Adds these processes and every one below them, but for those that are there.
fn add_below(mut next: Vec<u32>, found: &mut BTreeMap<u32, Process>) {
    while found.len() < MOST_BELOW
        && let Some(pid) = next.pop()
    {
        if !found.contains_key(&pid)
            && let Some(process) = read(pid)
        {
            next.extend(children(pid));
            found.insert(pid, process);
        }
    }
}

/// No component has more processes.
const MOST_BELOW: usize = 10_000;

/// This process's id, which is also that of its first thread.
fn own_id() -> String {
    std::process::id().to_string()
}

/// One process; `None` when it is gone.
#[must_use]
pub fn read(pid: u32) -> Option<Process> {
    parse(&kernel_file::read(format!("/proc/{pid}/stat")).ok()?)
}

/// The children of all threads of a process.
fn children(pid: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task"));
    let threads = threads.into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| kernel_file::read(thread.path().join("children")).ok());
    let ids = lists.flat_map(|list| {
        let ids: Vec<u32> = list
            .split_ascii_whitespace()
            .filter_map(|id| id.parse().ok())
            .collect();
        ids
    });
    ids.collect()
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

    /// Children of other tests end meanwhile, whose siblings the kernel may leave out: by the cheap way a child is there sooner or later, and
    /// its own child with it.
    #[test]
    fn a_child_is_below_this_process_until_it_ends() {
        let own = std::process::id();
        let mut child = std::process::Command::new("sh")
            .args(["-c", "sleep 60 & echo $!; wait"])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut grandchild = String::new();
        let output = std::io::BufReader::new(child.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut { output }, &mut grandchild).unwrap();
        let both = [child.id(), grandchild.trim().parse().unwrap()];
        let has_both = |pids: &[u32]| both.iter().all(|pid| pids.contains(pid));
        let pids = |processes: &[Process]| -> Vec<u32> {
            processes.iter().map(|process| process.pid).collect()
        };
        let all = pids(&ProcessTree::read().descendants(own));
        let mut descendants = Descendants::default();
        let found = (0..1000).any(|_| has_both(&descendants.look(own, None)));
        descendants
            .known
            .retain(|process| process.pid == child.id());
        descendants.take(own, Vec::new());
        let left_out = descendants.known.clone();
        descendants.take(own, vec![child.id(), child.id()]);
        let listed_twice = pids(&descendants.known);
        descendants.known.clone_from(&left_out);
        descendants.take(child.id(), Vec::new());
        let below_child = pids(&descendants.known);
        let sleep = rustix::process::Pid::from_raw(both[1].cast_signed()).unwrap();
        rustix::process::kill_process(sleep, rustix::process::Signal::KILL).unwrap();
        child.wait().unwrap();
        descendants.known.clone_from(&left_out);
        descendants.take(own, Vec::new());

        assert!(has_both(&all), "{all:?}");
        assert!(found && has_both(&pids(&left_out)), "{left_out:?}");
        assert_eq!(listed_twice, both);
        assert_eq!(below_child, both[1..]);
        assert!(descendants.known.is_empty(), "{:?}", descendants.known);
    }

    /// One that was left out stays away until somebody is made, or one of those that are known ends.
    #[test]
    fn where_nobody_is_new_nobody_is_looked_for() {
        let own = std::process::id();
        let sleep = || std::process::Command::new("sleep").arg("60").spawn();
        let mut children = [sleep().unwrap(), sleep().unwrap()];
        let ids = [children[0].id(), children[1].id()];
        let mut descendants = Descendants::default();
        // Children of other tests come and go meanwhile.
        let mut look = |forks: u64, only_first_is_known: Option<bool>| {
            if let Some(is_settled) = only_first_is_known {
                descendants.known.retain(|process| process.pid == ids[0]);
                descendants.is_settled = is_settled;
            }
            let found = descendants.look(own, Some(forks));
            let is_settled = descendants.is_settled;
            (ids.map(|id| found.contains(&id)), is_settled)
        };
        let settles = (0..1000).any(|_| look(1, None) == ([true, true], true));
        let left_out = look(1, Some(true)).0;
        let is_made = (0..1000).any(|_| look(2, None).0 == [true, true]);
        let is_settled = [look(2, Some(false)).1, look(3, None).1];
        look(3, Some(true));
        for child in &mut children {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert!(settles && is_made);
        // One more was found; somebody may be new.
        assert_eq!(is_settled, [false, false]);
        assert_eq!(left_out, [true, false]);
        assert_eq!(look(3, None).0, [false, false]);
    }

    #[test]
    fn this_process_is_among_its_parents_descendants() {
        let parent = std::os::unix::process::parent_id();
        let found = ProcessTree::read().descendants(parent);
        assert!(found.iter().any(|p| p.pid == std::process::id()));
    }
}
