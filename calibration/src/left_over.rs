//! The machine as far as a run could leave something on it, as sets that are held against those before.

pub mod groups;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::Command;

/// The state of the machine, as far as a run could leave something in it.
pub struct State {
    /// Network namespaces, network links, rules, mounts, control groups.
    sets: BTreeMap<&'static str, BTreeSet<String>>,
    /// Files below the directory of the experiment: path to permissions and bytes.
    files: BTreeMap<String, (u32, Vec<u8>)>,
}

impl State {
    /// The state now. `directory`: where files must not change.
    pub fn now(directory: &Path) -> Self {
        let mut files = BTreeMap::new();
        gather(directory, &mut files);
        let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let lines = |text: String| text.lines().map(str::to_owned).collect();
        let groups = groups::of_runs().into_iter();
        let sets = [
            ("namespace", namespaces()),
            ("link", names("/sys/class/net")),
            ("rule", lines(rules())),
            ("mount", lines(text("/proc/self/mountinfo"))),
            (
                "group",
                groups.map(|path| path.display().to_string()).collect(),
            ),
        ];
        let sets = sets.into();
        Self { sets, files }
    }

    /// New things and changed files since then, in words.
    pub fn since(&self, before: &Self) -> Vec<String> {
        let mut left = Vec::new();
        for (what, now) in &self.sets {
            let known = &before.sets[what];
            left.extend(now.difference(known).map(|new| format!("{what} {new}")));
        }
        let all: BTreeSet<&String> = self.files.keys().chain(before.files.keys()).collect();
        let changed = |path: &&String| self.files.get(*path) != before.files.get(*path);
        left.extend(
            all.into_iter()
                .filter(changed)
                .map(|path| format!("file {path}")),
        );
        left
    }
}

/// Processes that are of a run: its marker is in their arguments, their environment or their working directory. Those that have ended are not.
pub fn processes(marker: &str) -> Vec<String> {
    let own = std::process::id().to_string();
    let all = names("/proc").into_iter();
    let numbers = all.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()) && *name != own);
    numbers
        .filter_map(|pid| {
            let read = |file: &str| fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
            let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).replace('\0', " ");
            let command = text(read("cmdline"));
            let at = fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default();
            let at = at.to_string_lossy();
            let is_of = command.contains(marker)
                || at.contains(marker)
                || text(read("environ")).contains(marker);
            (is_of && !command.is_empty()).then(|| format!("process {pid} {command}"))
        })
        .collect()
}

fn names(directory: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

/// The network namespaces that some process is in.
fn namespaces() -> BTreeSet<String> {
    let numbers = names("/proc").into_iter();
    numbers
        .filter_map(|pid| fs::read_link(format!("/proc/{pid}/ns/net")).ok())
        .map(|link| link.display().to_string())
        .collect()
}

/// The rules of the packet filter; none where it is not installed.
fn rules() -> String {
    let listed = Command::new("nft").args(["list", "ruleset"]).output();
    listed.map_or_else(
        |_| String::new(),
        |output| String::from_utf8_lossy(&output.stdout).into_owned(),
    )
}

fn gather(directory: &Path, files: &mut BTreeMap<String, (u32, Vec<u8>)>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            gather(&path, files);
        }
        let mode = entry.metadata().map_or(0, |metadata| metadata.mode());
        let bytes = fs::read(&path).unwrap_or_default();
        files.insert(path.display().to_string(), (mode, bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};
    use std::process::Stdio;

    #[test]
    fn files_that_came_went_or_changed_are_found() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let files = |names: &[&str]| -> Vec<String> {
            let full = names
                .iter()
                .map(|name| format!("file {}", at(name).display()));
            full.collect()
        };
        for name in ["gone", "changed", "same"] {
            fs::write(at(name), "before").unwrap();
        }
        let of_files = |state: &State, before: &State| -> Vec<String> {
            let mut all = state.since(before);
            all.retain(|one| one.starts_with("file "));
            all
        };
        let before = State::now(directory.path());
        assert_eq!(of_files(&State::now(directory.path()), &before), files(&[]));
        fs::remove_file(at("gone")).unwrap();
        fs::write(at("changed"), "after").unwrap();
        fs::write(at("new"), "").unwrap();
        let after = State::now(directory.path());
        assert_eq!(
            of_files(&after, &before),
            files(&["changed", "gone", "new"])
        );
    }

    #[test]
    fn a_process_is_found_by_its_environment() {
        let marker = tempfile::tempdir().unwrap();
        let marker = marker.path().to_str().unwrap();
        let mut child = Command::new("cat")
            .env("TMPDIR", marker)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // One that says something has its environment.
        let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        stdin.write_all(b"x").unwrap();
        stdout.read_exact(&mut [0]).unwrap();
        assert_eq!(processes(marker).len(), 1);
        drop(stdin);
        child.wait().unwrap();
        assert_eq!(processes(marker), Vec::<String>::new());
    }
}
