//! Arrivals, users and queues through whole sequences of a load, moment by moment.

use super::*;
use crate::arrivals::SchedulePart;
use crate::plan::Profile;
use crate::results::recorder::{Phases, Recorder, Report, SECOND};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

const MS: Nanos = 1_000_000;

fn recorder() -> (Recorder, Receiver<Report>) {
    let (reports, received) = sync_channel(8);
    let (_, emptied) = sync_channel(1);
    let phases = Phases {
        warmup: 0,
        end: 60 * SECOND,
    };
    (Recorder::new(0, phases, &[0], reports, emptied), received)
}

/// Arrivals every 10 ms from 0 on.
fn dispatch(queue: usize, users: usize) -> Dispatch {
    Dispatch::new(vec![open(100.0, queue, users, 0)])
}

/// Arrivals at this rate from 0 on.
fn open(rate: f64, queue: usize, users: usize, spare: usize) -> Start {
    let length = Duration::from_secs(1);
    let profile = [Profile::Constant { rate }.lasting(length)];
    Start {
        arrivals: Some(Arrivals::new(&profile, 0, length, SchedulePart::All)),
        queue,
        users,
        spare,
    }
}

fn closed(users: usize) -> Start {
    Start {
        users,
        ..Start::default()
    }
}

fn poll(dispatch: &mut Dispatch, user: usize) -> Option<Wake> {
    match dispatch.poll(user, &Context::from_waker(Waker::noop())) {
        Poll::Ready(wake) => Some(wake),
        Poll::Pending => None,
    }
}

fn counts(recorder: &mut Recorder, received: &Receiver<Report>) -> (u64, u64, u64, u64) {
    recorder.finish();
    let Report::Second(_, second) = received.recv().unwrap() else {
        panic!("a second is reported first");
    };
    let side = &second.sides[1];
    (side.intended, side.dropped, side.unstarted, side.waiting)
}

#[test]
fn arrivals_go_to_idle_users_then_wait_then_are_dropped() {
    let (mut recorder, received) = recorder();
    let mut dispatch = dispatch(2, 1);
    dispatch.release_due(0, &mut recorder);
    let job = |intended, released, assigned| {
        Some(Wake::Job(Job {
            number: intended / (10 * MS),
            intended,
            released,
            assigned,
        }))
    };
    assert_eq!(poll(&mut dispatch, 0), job(0, 0, 0));
    assert_eq!(dispatch.next_due(), Some(10 * MS));
    dispatch.release_due(45 * MS, &mut recorder);
    dispatch.offer(0, 49 * MS);
    assert_eq!(poll(&mut dispatch, 0), job(10 * MS, 45 * MS, 49 * MS));
    dispatch.close();
    dispatch.give_up(50 * MS, &mut recorder);
    assert_eq!(
        counts(&mut recorder, &received),
        (5, 3, 1, 2),
        "two jobs were given, and never started"
    );
}

#[test]
fn a_free_user_is_there_for_what_comes_due_in_the_same_moment() {
    let (mut recorder, received) = recorder();
    let mut dispatch = dispatch(0, 1);
    dispatch.release_due(0, &mut recorder);
    assert!(poll(&mut dispatch, 0).is_some());
    dispatch.offer(0, 10 * MS);
    dispatch.release_due(10 * MS, &mut recorder);
    assert!(poll(&mut dispatch, 0).is_some());
    assert_eq!(counts(&mut recorder, &received), (2, 0, 0, 2));
}

#[test]
fn drops_are_ours_when_we_were_late_and_there_had_been_room() {
    let check = |releases: &[Nanos], expected: (u64, u64, u64)| {
        let (mut recorder, received) = recorder();
        let mut dispatch = dispatch(1, 1);
        for now in releases {
            dispatch.release_due(*now, &mut recorder);
        }
        recorder.finish();
        let Report::Second(_, second) = received.recv().unwrap() else {
            panic!("a second is reported first");
        };
        let side = &second.sides[1];
        assert_eq!(
            (side.dropped, side.dropped_late, side.behind),
            expected,
            "{releases:?}"
        );
    };
    // In time: whatever is dropped found the target busy.
    check(&[0, 10 * MS, 20 * MS, 30 * MS], (2, 0, 1));
    // Late, but everything had been taken before.
    check(&[0, 10 * MS, 45 * MS], (3, 0, 3));
    // Late, and only our own bunch took everything. The last of it came in time all the same.
    check(&[40 * MS], (3, 2, 5));
}

#[test]
fn users_take_turns() {
    let (mut recorder, _received) = recorder();
    let mut dispatch = dispatch(0, 2);
    dispatch.release_due(0, &mut recorder);
    assert!(poll(&mut dispatch, 0).is_some());
    dispatch.offer(0, 5 * MS);
    dispatch.release_due(10 * MS, &mut recorder);
    assert!(poll(&mut dispatch, 0).is_none());
    assert!(poll(&mut dispatch, 1).is_some());
}

#[test]
fn the_end_wakes_those_between_iterations_only() {
    let (mut recorder, _received) = recorder();
    let mut dispatch = Dispatch::new(vec![closed(3)]);
    dispatch.sleep(0, 10 * MS, Sleep::BetweenIterations);
    dispatch.sleep(1, 20 * MS, Sleep::WithinIteration);
    assert_eq!(dispatch.next_due(), Some(10 * MS));
    dispatch.close();
    assert_eq!(poll(&mut dispatch, 0), Some(Wake::Dismissed));
    assert_eq!(poll(&mut dispatch, 1), None);
    dispatch.release_due(20 * MS, &mut recorder);
    assert_eq!(poll(&mut dispatch, 1), Some(Wake::Rung));
    dispatch.sleep(2, 30 * MS, Sleep::BetweenIterations);
    assert_eq!(poll(&mut dispatch, 2), Some(Wake::Dismissed));
}

/// Two idle users, then newcomers up to the cap, then the queue.
#[test]
fn further_users_are_made_before_anything_waits() {
    let (mut recorder, received) = recorder();
    let mut dispatch = Dispatch::new(vec![open(100.0, 1, 2, 2)]);
    let newcomer = |dispatch: &mut Dispatch| {
        let context = &Context::from_waker(Waker::noop());
        match dispatch.poll_newcomer(context) {
            Poll::Ready(place) => Some(place),
            Poll::Pending => None,
        }
    };
    assert_eq!(newcomer(&mut dispatch), None);
    dispatch.release_due(55 * MS, &mut recorder);
    assert_eq!(newcomer(&mut dispatch), Some(2));
    assert_eq!(newcomer(&mut dispatch), Some(3));
    assert_eq!(newcomer(&mut dispatch), None);
    for user in 0..4 {
        assert!(poll(&mut dispatch, user).is_some(), "{user}");
    }
    assert_eq!(counts(&mut recorder, &received), (6, 1, 0, 5));
}

#[test]
fn each_scenario_has_its_own_users_and_queue() {
    let (mut recorder, received) = recorder();
    let starts = vec![open(100.0, 0, 1, 0), closed(1), open(200.0, 1, 1, 0)];
    let mut dispatch = Dispatch::new(starts);
    dispatch.sleep(1, 7 * MS, Sleep::BetweenIterations);
    dispatch.release_due(0, &mut recorder);
    assert_eq!(dispatch.next_due(), Some(5 * MS));
    dispatch.release_due(12 * MS, &mut recorder);
    // Of the first scenario one is dropped; of the last one waits and one is dropped.
    assert!(poll(&mut dispatch, 0).is_some());
    assert_eq!(poll(&mut dispatch, 1), Some(Wake::Rung));
    assert!(poll(&mut dispatch, 2).is_some());
    dispatch.offer(0, 13 * MS);
    assert_eq!(poll(&mut dispatch, 0), None);
    dispatch.offer(2, 13 * MS);
    assert!(poll(&mut dispatch, 2).is_some());
    assert_eq!(counts(&mut recorder, &received), (5, 2, 0, 3));
}
