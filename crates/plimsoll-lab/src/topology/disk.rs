//! A full disk: the file system of one component is filled to its last page, and emptied again.
//!
//! The file system is made by the component's shim ([`crate::shim::Disk`]) and is seen by its processes alone; the lab reaches it by way of one
//! of them. What fills it goes with it, so that nothing is left whatever becomes of the lab.

use rustix::fs::{FallocateFlags, OFlags, fallocate, fstatvfs};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// The write whose failure proves that a disk is full, in bytes.
const PROOF_BYTES: usize = 4096;
/// The file that fills a disk.
const FILLER: &str = ".plimsoll-filler";
/// The file that is written as proof.
const PROOF: &str = ".plimsoll-proof";

/// The disk of a running component, as its processes see it. Its calls block for as long as writing takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComponentDisk {
    dir: PathBuf,
}

impl ComponentDisk {
    /// The disk at `dir` of the component with the process `pid`: its own or its shim's.
    #[must_use]
    pub fn of(pid: u32, dir: &Path) -> Self {
        let below = dir.strip_prefix("/").unwrap_or(dir);
        Self {
            dir: Path::new(&format!("/proc/{pid}/root")).join(below),
        }
    }

    /// Says why the disk cannot be filled: it is a part of a file system that others use too.
    ///
    /// # Errors
    /// The reason, also that it cannot be looked at.
    pub fn check(&self) -> io::Result<()> {
        let shared = || io::Error::other("it is no file system of its own");
        let own = rustix::fs::stat(&self.dir)?.st_dev;
        let parent = self.dir.parent().ok_or_else(shared)?;
        if own == rustix::fs::stat(parent)?.st_dev {
            return Err(shared());
        }
        self.prove_healed()
    }

    /// Fills it until not one page more is to be had.
    ///
    /// # Errors
    /// Whatever is not a full disk.
    pub fn fill(&self) -> io::Result<()> {
        let mut filler = own_file(OpenOptions::new().append(true), &self.dir.join(FILLER))?;
        let space = fstatvfs(&filler)?;
        let free = space.f_bavail.saturating_mul(space.f_frsize);
        let held = filler.metadata()?.len();
        if free > 0 {
            // Others write too: the rest is filled page by page.
            match fallocate(&filler, FallocateFlags::empty(), held, free) {
                Ok(()) | Err(rustix::io::Errno::NOSPC) => {}
                Err(error) => return Err(error.into()),
            }
        }
        loop {
            match filler.write_all(&[0; PROOF_BYTES]) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::StorageFull => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    /// Proves that it is full: writing 4 KiB fails for want of space.
    ///
    /// # Errors
    /// The write that succeeded, or failed for another reason.
    pub fn prove(&self) -> io::Result<()> {
        match self.write() {
            Ok(()) => Err(io::Error::other("4 KiB could be written")),
            Err(error) if error.kind() == io::ErrorKind::StorageFull => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Takes away what fills it; one that is not filled stays as it is.
    ///
    /// # Errors
    /// The system's.
    pub fn heal(&self) -> io::Result<()> {
        remove(&self.dir.join(FILLER))
    }

    /// Proves that it is not full: 4 KiB can be written.
    ///
    /// # Errors
    /// Why they could not.
    pub fn prove_healed(&self) -> io::Result<()> {
        self.write()
    }

    /// Writes 4 KiB and takes them away again.
    fn write(&self) -> io::Result<()> {
        let proof = self.dir.join(PROOF);
        let opened = own_file(OpenOptions::new().write(true), &proof);
        let written = opened.and_then(|mut file| file.write_all(&[0; PROOF_BYTES]));
        remove(&proof)?;
        written
    }
}

/// Opens a file, or makes it. A link that the component has put in its place would lead out of its disk, and is refused.
fn own_file(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW.bits().cast_signed();
    options.create(true).custom_flags(flags).open(path)
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_of_a_shared_file_system_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let disk = ComponentDisk::of(std::process::id(), dir.path());
        let refused = disk.check().unwrap_err();
        assert_eq!(refused.to_string(), "it is no file system of its own");
        assert!(disk.prove().is_err());
        disk.prove_healed().unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_link_of_the_component_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let others = dir.path().join("others");
        fs::write(&others, "kept").unwrap();
        let own = dir.path().join("disk");
        fs::create_dir(&own).unwrap();
        for name in [FILLER, PROOF] {
            std::os::unix::fs::symlink(&others, own.join(name)).unwrap();
        }
        let disk = ComponentDisk::of(std::process::id(), &own);
        assert!(disk.fill().is_err() && disk.prove_healed().is_err());
        assert_eq!(fs::read_to_string(&others).unwrap(), "kept");
    }
}
