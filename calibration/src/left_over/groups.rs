//! Control groups that runs of the lab make, from outside.

use std::fs;
use std::path::{Path, PathBuf};

const MOUNTED: &str = "/sys/fs/cgroup";
/// How deep below the mount groups are looked for.
const DEEP: usize = 8;

/// The groups of runs, in all hierarchies.
pub fn of_runs() -> Vec<PathBuf> {
    let mut found = Vec::new();
    walk(Path::new(MOUNTED), DEEP, &mut found);
    found
}

fn walk(directory: &Path, deep: usize, found: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        if entry.file_name().to_string_lossy().starts_with("plimsoll-") {
            found.push(entry.path());
        } else if deep > 0 {
            walk(&entry.path(), deep - 1, found);
        }
    }
}
