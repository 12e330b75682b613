//! Seconds of a recorder: cut, handed over and lost.

use super::*;
use std::sync::mpsc::sync_channel;

fn recorder(capacity: usize) -> (Recorder, Receiver<Report>) {
    let (sender, reports) = sync_channel(capacity);
    let (_, emptied) = sync_channel(1);
    let phases = Phases {
        warmup: 0,
        end: 60 * SECOND,
    };
    (Recorder::new(0, phases, &[0], sender, emptied), reports)
}

/// A shard that did not run for half a minute loses nothing, however few seconds the channel holds.
#[test]
fn seconds_that_pile_up_wait_for_the_collector() {
    let (mut recorder, reports) = recorder(2);
    let taken = std::thread::scope(|scope| {
        let taken = scope.spawn(move || reports.iter().count());
        recorder.roll(30 * SECOND);
        assert_eq!(recorder.lost(), None);
        drop(recorder);
        taken.join()
    });
    assert_eq!(taken.unwrap(), 30);
}

#[test]
fn seconds_are_cut_where_a_phase_ends() {
    let (sender, reports) = sync_channel(64);
    let (_, emptied) = sync_channel(1);
    let ms = |ms: Nanos| ms * SECOND / 1_000;
    let phases = Phases {
        warmup: ms(1_500),
        end: ms(9_000),
    };
    let mut recorder = Recorder::new(0, phases, &[0], sender, emptied);
    recorder.roll(ms(2_300));
    recorder.end_at(ms(2_700));
    recorder.roll(ms(4_100));
    drop(recorder);
    let pieces = reports.iter().filter_map(|report| match report {
        Report::Second(_, piece) => Some((piece.from / ms(1), piece.to / ms(1))),
        _ => None,
    });
    let expected = [
        (0, 1_000),
        (1_000, 1_500),
        (1_500, 2_000),
        (2_000, 2_700),
        (2_700, 3_000),
        (3_000, 4_000),
    ];
    assert_eq!(pieces.collect::<Vec<_>>(), expected);
}

#[test]
fn a_shard_on_time_waits_for_nobody() {
    let (mut recorder, reports) = recorder(2);
    for second in 1..=3 {
        recorder.roll(second * SECOND);
    }
    assert_eq!(recorder.lost(), Some(Lost::NotTaken));
    drop(reports);
    recorder.roll(4 * SECOND);
    assert_eq!(recorder.lost(), Some(Lost::NoCollector));
}
