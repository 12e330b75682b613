//! Tests of the spool on a disk with room.

use super::*;

pub(crate) fn entry(number: u64) -> Entry<'static> {
    Entry {
        origin: "plimsoll-1",
        number,
        path: "/some/path",
        ..Entry::default()
    }
}

fn put(spool: &mut Spool, numbers: std::ops::Range<u64>) -> u64 {
    spool.append(numbers.map(entry)).unwrap()
}

fn take(spool: &mut Spool, at_most: usize) -> Vec<u64> {
    let Some(portion) = spool.next(at_most, usize::MAX).unwrap() else {
        return Vec::new();
    };
    let numbers = portion.entries().iter().map(|entry| entry.number).collect();
    spool.delivered(&portion).unwrap();
    numbers
}

pub(crate) fn all(spool: &mut Spool) -> Vec<u64> {
    let mut numbers = Vec::new();
    while !spool.is_empty() {
        numbers.extend(take(spool, 7));
    }
    numbers
}

#[test]
fn records_come_out_as_they_went_in_across_restarts() {
    let dir = tempfile::tempdir().unwrap();
    let (mut spool, found) = Spool::open(dir.path(), 1 << 20).unwrap();
    assert_eq!(found, SpoolContents::default());
    assert_eq!(put(&mut spool, 0..10), 10);
    assert_eq!(take(&mut spool, 4), [0, 1, 2, 3]);
    put(&mut spool, 10..12);
    spool.open = None;
    drop(spool);
    let (mut spool, found) = Spool::open(dir.path(), 1 << 20).unwrap();
    assert_eq!((found.records, found.torn), (8, 0));
    put(&mut spool, 12..13);
    assert_eq!(all(&mut spool), (4..13).collect::<Vec<_>>());
    put(&mut spool, 13..14);
    assert_eq!(all(&mut spool), [13]);
}

#[test]
fn what_goes_before_comes_out_before() {
    let dir = tempfile::tempdir().unwrap();
    let (mut spool, _) = Spool::open(dir.path(), 1 << 20).unwrap();
    put(&mut spool, 5..8);
    assert_eq!(spool.prepend((2..5).map(entry)).unwrap(), 3);
    put(&mut spool, 8..9);
    assert_eq!(all(&mut spool), [2, 3, 4, 5, 6, 7, 8]);
}

#[test]
fn there_is_no_more_of_it_than_it_may_have() {
    let dir = tempfile::tempdir().unwrap();
    let most = 4000;
    let (mut spool, _) = Spool::open(dir.path(), most).unwrap();
    let first = put(&mut spool, 0..100);
    assert!((1..100).contains(&first), "{first}");
    assert_eq!(put(&mut spool, 100..101), 0);
    let on_disk: u64 = (fs::read_dir(dir.path()).unwrap())
        .map(|file| file.unwrap().metadata().unwrap().len())
        .sum();
    assert!(on_disk <= most, "{on_disk}");
    assert_eq!(all(&mut spool), (0..first).collect::<Vec<_>>());
    assert!(put(&mut spool, 0..1) == 1);
}

#[test]
fn one_that_was_cut_anywhere_is_good_up_to_there() {
    let dir = tempfile::tempdir().unwrap();
    let (mut spool, _) = Spool::open(dir.path(), 1 << 20).unwrap();
    put(&mut spool, 0..3);
    let path = spool.path(FIRST);
    drop(spool);
    let whole = fs::read(&path).unwrap();
    let frame = (whole.len() - MAGIC.len()) / 3;
    for length in 0..=whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        let (mut spool, found) = Spool::open(dir.path(), 1 << 20).unwrap();
        let records = length.saturating_sub(MAGIC.len()) / frame;
        assert_eq!(found.records, records as u64, "{length} bytes");
        // What comes then is behind it.
        put(&mut spool, 9..10);
        let expected: Vec<u64> = (0..records as u64).chain([9]).collect();
        assert_eq!(all(&mut spool), expected);
    }
    // A byte that has changed.
    let mut changed = whole.clone();
    changed[MAGIC.len() + frame + HEAD + 3] ^= 1;
    fs::write(&path, changed).unwrap();
    let (mut spool, found) = Spool::open(dir.path(), 1 << 20).unwrap();
    assert_eq!((found.records, found.torn), (1, 2 * frame as u64));
    assert_eq!(all(&mut spool), [0]);
}

#[test]
fn it_belongs_to_one_at_a_time() {
    let dir = tempfile::tempdir().unwrap();
    let first = Spool::open(dir.path(), 1 << 20).unwrap();
    let second = Spool::open(dir.path(), 1 << 20).unwrap_err();
    assert_eq!(second.kind(), io::ErrorKind::WouldBlock);
    drop(first);
    Spool::open(dir.path(), 1 << 20).unwrap();
}

#[test]
fn a_portion_is_bounded_by_bytes_and_has_one_record_at_least() {
    let dir = tempfile::tempdir().unwrap();
    let (mut spool, _) = Spool::open(dir.path(), 1 << 20).unwrap();
    put(&mut spool, 0..5);
    let content = fs::read(spool.path(FIRST)).unwrap();
    let frame = (content.len() - MAGIC.len()) / 5;
    for (bytes, expected) in [(1, 1), (2 * frame, 2), (3 * frame - 1, 2)] {
        let portion = spool.next(9, bytes).unwrap().unwrap();
        assert_eq!(portion.records, expected);
        spool.delivered(&portion).unwrap();
    }
    assert!(spool.is_empty());
}

#[test]
fn one_killed_while_it_removes_a_file_delivers_nothing_of_it_again() {
    let dir = tempfile::tempdir().unwrap();
    let (mut spool, _) = Spool::open(dir.path(), 1 << 20).unwrap();
    put(&mut spool, 0..3);
    let path = spool.path(FIRST);
    let portion = spool.next(9, usize::MAX).unwrap().unwrap();
    // A directory is not removed as a file: what comes after that does not happen.
    let aside = dir.path().join("aside");
    fs::rename(&path, &aside).unwrap();
    fs::create_dir(&path).unwrap();
    spool.delivered(&portion).unwrap_err();
    drop(spool);
    fs::remove_dir(&path).unwrap();
    fs::rename(&aside, &path).unwrap();
    let (mut spool, found) = Spool::open(dir.path(), 1 << 20).unwrap();
    assert_eq!(found, SpoolContents::default());
    // A file of the same number is none of the note's.
    put(&mut spool, 3..6);
    drop(spool);
    let (mut spool, found) = Spool::open(dir.path(), 1 << 20).unwrap();
    assert_eq!(found.records, 3);
    assert_eq!(all(&mut spool), [3, 4, 5]);
}

#[test]
fn a_note_of_a_file_that_is_gone_is_forgotten() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("read"), format!("{FIRST} 9999\n")).unwrap();
    let (mut spool, _) = Spool::open(dir.path(), 1 << 20).unwrap();
    assert!(!dir.path().join("read").exists());
    put(&mut spool, 0..3);
    drop(spool);
    let (_, found) = Spool::open(dir.path(), 1 << 20).unwrap();
    assert_eq!(found.records, 3);
}

#[test]
fn a_file_of_another_version_is_left_alone_and_counts() {
    let dir = tempfile::tempdir().unwrap();
    let foreign = [FIRST - 1, FIRST].map(|n| dir.path().join(format!("{n:020}.spool")));
    let content = b"plimsoll records 2\nwhatever this is";
    for path in &foreign {
        fs::write(path, content).unwrap();
    }
    let (mut spool, found) = Spool::open(dir.path(), 1000).unwrap();
    assert_eq!((found.records, found.torn, found.foreign), (0, 0, 2));
    assert_eq!(spool.room(), 1000 - 2 * content.len() as u64);
    put(&mut spool, 1..2);
    assert_eq!(spool.prepend((0..1).map(entry)).unwrap(), 1);
    assert_eq!(all(&mut spool), [0, 1]);
    for path in &foreign {
        assert_eq!(fs::read(path).unwrap(), content);
    }
}
