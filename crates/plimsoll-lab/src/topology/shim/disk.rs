//! A file system of its own for one child: a directory of limited size that goes with it.

use super::spec::Disk;
use crate::topology::namespace;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

/// Mounts the disk where only this process and those that it starts see it, with the files that were in its directory.
pub(super) fn mount(disk: &Disk) -> io::Result<()> {
    namespace::own_mounts()?;
    // What is open stays reachable once something is mounted above it.
    let before = File::open(&disk.dir)?;
    namespace::mount_memory(&disk.dir, disk.bytes)?;
    let before = format!("/proc/self/fd/{}", before.as_raw_fd());
    copy(Path::new(&before), &disk.dir)
}

/// Copies what is in a directory, which the lab rendered: regular files and directories of them.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            DirBuilder::new().mode(0o700).create(&target)?;
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}
