//! A spool whose disk is full, and has room again.

use super::tests::{all, entry};
use super::*;
use plimsoll_testbed::clock;
use std::process::Command;
use std::time::Duration;

fn write_all(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    file.write_all(bytes)
}

/// Room for half of what is written.
fn full(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    file.write_all(&bytes[..bytes.len() / 2])?;
    Err(io::ErrorKind::StorageFull.into())
}

/// Room for nothing from the first record on.
fn full_after_the_beginning(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    if bytes == MAGIC {
        write_all(file, bytes)
    } else {
        full(file, bytes)
    }
}

impl Spool {
    /// From now on its disk is full.
    pub(crate) fn disk_is_full(&mut self) {
        self.write = full;
    }

    /// It has room again.
    pub(crate) fn disk_has_room(&mut self) {
        self.write = write_all;
    }
}

/// How records are put into the spool.
type Put = fn(&mut Spool, std::ops::Range<u64>) -> io::Result<u64>;

const APPEND: Put = |spool, range| spool.append(range.map(entry));
const PREPEND: Put = |spool, range| spool.prepend(range.map(entry));

/// Puts 10 to 12 into a spool of these records while its disk is full, and 20 to 22 when it has room again: `expected` is there then, and
/// to a process that finds it.
fn check(before: std::ops::Range<u64>, put: Put, expected: &[u64]) {
    for disk in [full, full_after_the_beginning] {
        for restart in [false, true] {
            let dir = tempfile::tempdir().unwrap();
            let (mut spool, _) = Spool::open(dir.path(), 1 << 20).unwrap();
            if !before.is_empty() {
                APPEND(&mut spool, before.clone()).unwrap();
            }
            spool.write = disk;
            for _ in 0..3 {
                let error = put(&mut spool, 10..13).unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::StorageFull);
            }
            assert_eq!(spool.records(), before.end - before.start);
            assert_eq!(spool.is_empty(), before.is_empty());
            spool.write = write_all;
            assert_eq!(put(&mut spool, 20..23).unwrap(), 3);
            let mut spool = if restart {
                drop(spool);
                let (spool, found) = Spool::open(dir.path(), 1 << 20).unwrap();
                assert_eq!((found.records, found.torn), (expected.len() as u64, 0));
                spool
            } else {
                spool
            };
            assert_eq!(all(&mut spool), expected);
            let left = fs::read_dir(dir.path()).unwrap();
            let left = left.map(|file| file.unwrap().file_name());
            assert_eq!(left.collect::<Vec<_>>(), ["lock"]);
        }
    }
}

#[test]
fn what_did_not_fit_leaves_nothing_and_what_comes_then_is_kept() {
    check(0..0, APPEND, &[20, 21, 22]);
    check(0..0, PREPEND, &[20, 21, 22]);
    check(0..2, APPEND, &[0, 1, 20, 21, 22]);
    check(0..2, PREPEND, &[20, 21, 22, 0, 1]);
}

#[test]
fn a_number_that_is_taken_is_passed_over() {
    let dir = tempfile::tempdir().unwrap();
    let (mut spool, _) = Spool::open(dir.path(), 1 << 20).unwrap();
    for number in [FIRST, FIRST + 1] {
        fs::write(spool.path(number), "").unwrap();
    }
    assert_eq!(APPEND(&mut spool, 0..2).unwrap(), 2);
    drop(spool);
    let (mut spool, found) = Spool::open(dir.path(), 1 << 20).unwrap();
    assert_eq!((found.records, found.torn), (2, 0));
    assert_eq!(all(&mut spool), [0, 1]);
}

/// A file system of 64 KiB, unmounted when dropped.
struct Small(tempfile::TempDir);

impl Small {
    fn mount() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"]);
        assert!(mount.arg(dir.path()).status().unwrap().success());
        Self(dir)
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let gone = Command::new("umount").arg(self.0.path()).status().unwrap();
        assert!(gone.success());
    }
}

#[test]
#[ignore = "needs root to mount a small file system: run scripts/test as root"]
fn a_real_disk_that_is_full_takes_records_again_when_it_has_room() {
    let disk = Small::mount();
    let (dir, most) = (disk.0.path(), 1 << 20);
    let (mut spool, _) = Spool::open(dir, most).unwrap();
    let filler = dir.join("filler");
    let mut file = File::create(&filler).unwrap();
    while file.write_all(&[0; 512]).is_ok() {}
    drop(file);
    for _ in 0..2 {
        let error = APPEND(&mut spool, 0..3).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert_eq!((spool.records(), spool.is_empty()), (0, true));
    }
    fs::remove_file(&filler).unwrap();
    assert_eq!(APPEND(&mut spool, 3..6).unwrap(), 3);
    // Until it is full of records itself, in the middle of one.
    let (begun, mut next) = (clock::now(), 6);
    while APPEND(&mut spool, next..next + 3).is_ok() {
        next += 3;
        assert!(clock::now() - begun < Duration::from_secs(20));
    }
    drop(spool);
    let (mut spool, found) = Spool::open(dir, most).unwrap();
    assert_eq!((found.records, found.torn), (next - 3, 0));
    // A note of what was delivered needs room, which there is none of until a file goes.
    let mut taken = Vec::new();
    while let Some(portion) = spool.next(7, usize::MAX).unwrap() {
        taken.extend(portion.entries().iter().map(|entry| entry.number));
        if let Err(error) = spool.delivered(&portion) {
            assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        }
    }
    assert_eq!(taken, (3..next).collect::<Vec<_>>());
    assert_eq!(APPEND(&mut spool, 0..3).unwrap(), 3);
    assert_eq!(all(&mut spool), [0, 1, 2]);
}
