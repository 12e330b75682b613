//! Causes that a server's own statistics show: locks, connections that it admits, its one thread.

use super::super::{Case, attribute};
use super::load::{Load, busy, database, limited, part};
use super::{check, first};
use crate::record::{BottleneckConclusion, Cause, CauseKind, Strain};

#[test]
fn sessions_that_wait_for_a_lock() {
    let load = Load {
        behind: database(8.0, 7.0, 6.0),
        ..limited()
    };
    check(&load, CauseKind::Lock, Some("upstream"));
    let found = attribute(&Case::of_one(&load.data(), 2));
    insta::assert_snapshot!(found.causes[0].evidence.join("\n"), @r"
    6 of 7 sessions at work waited for a lock on the mean, and 36 exchanges were under way
    so 85.7 % of their time is waiting
    it broke 30 deadlocks
    ");
    // Some wait now and then.
    let load = Load {
        behind: database(8.0, 7.0, 0.9),
        ..limited()
    };
    assert_ne!(first(&load).map(|found| found.0), Some(CauseKind::Lock));
}

/// They stand still whether there is a load or not, and are most of the sessions at work where statements are short.
#[test]
fn stuck_sessions_of_somebody_else() {
    let names_a_lock = |load: &Load| {
        let found = attribute(&Case::of_one(&load.data(), 2));
        let excluded = found.ruled_out.join("\n");
        assert!(excluded.contains("locks of upstream: "), "{excluded}");
        let mut causes = found.causes.iter();
        causes.any(|cause| cause.component.as_deref() == Some("upstream"))
    };
    for (waiting, active) in [(1.0, 1.0), (1.0, 1.8), (2.0, 2.3), (3.0, 3.5)] {
        let behind = database(5.0, active, waiting);
        let held = Load {
            behind: behind.clone(),
            ..limited()
        };
        assert!(!names_a_lock(&held), "{waiting} of {active}");
        // Users who take all that there is.
        let closed = Load {
            offered: None,
            behind,
            ..limited()
        };
        assert!(!names_a_lock(&closed), "{waiting} of {active}");
    }
}

/// A load that is carried gives no cause, whoever stands still beside it.
#[test]
fn a_healthy_load_beside_a_stuck_migration() {
    let load = Load {
        offered: Some(600.0),
        behind: database(5.0, 1.4, 1.0),
        ..limited()
    };
    let found = attribute(&Case::of_one(&load.data(), 2));
    assert_eq!(found.conclusion, BottleneckConclusion::NothingGaveWay);
    assert!(found.causes.is_empty(), "{found:#?}");
}

#[test]
fn connections_that_a_server_admits() {
    let load = Load {
        behind: database(9.0, 8.6, 0.0),
        ..limited()
    };
    check(&load, CauseKind::Pool, Some("upstream"));
    // A pool that keeps them open, and does not use them.
    let load = Load {
        behind: database(9.0, 2.0, 0.0),
        ..limited()
    };
    let found = attribute(&Case::of_one(&load.data(), 2));
    let is_of_it = |cause: &Cause| cause.component.as_deref() == Some("upstream");
    assert!(!found.causes.iter().any(is_of_it), "{found:#?}");
    let excluded = found.ruled_out.join("\n");
    assert!(excluded.contains("all are taken, but"), "{excluded}");
    // One place is left.
    let load = Load {
        behind: database(8.0, 8.0, 0.0),
        ..limited()
    };
    assert_ne!(first(&load).map(|found| found.0), Some(CauseKind::Pool));
}

#[test]
fn connections_that_a_server_refuses() {
    let refusing = |each_second: u64, share: f64| {
        let mut behind = part(0.1, 2.0);
        behind.server.connections_rejected = Some(each_second);
        behind.server.connections_share = Some(share);
        Load {
            behind,
            ..limited()
        }
    };
    // 70 of 6,000 exchanges, and ten while all are taken.
    check(&refusing(7, 0.5), CauseKind::Pool, Some("upstream"));
    check(&refusing(1, 1.0), CauseKind::Pool, Some("upstream"));
    let found = attribute(&Case::of_one(&refusing(1, 0.5).data(), 2));
    let is_of_it = |cause: &Cause| cause.component.as_deref() == Some("upstream");
    assert!(!found.causes.iter().any(is_of_it), "{found:#?}");
    let excluded = found.ruled_out.join("\n");
    assert!(
        excluded.contains("10 connections were refused, 0.2 % of the exchanges"),
        "{excluded}"
    );
    // What is slow for want of processors has more connections at a time.
    let load = Load {
        proxy: busy(1.0),
        ..refusing(7, 0.5)
    };
    let found = attribute(&Case::of_one(&load.data(), 2));
    assert!(!found.causes.iter().any(is_of_it), "{found:#?}");
}

#[test]
fn the_one_thread_of_a_server() {
    // Elsewhere: how many processors it has nobody knows.
    let mut cache = part(1.02, 2.0);
    cache.strain = Strain::default();
    cache.thread = None;
    cache.server.main_thread_cores = Some(0.98);
    cache.server.evicted_keys = Some(40);
    let load = Load {
        behind: cache.clone(),
        ..limited()
    };
    check(&load, CauseKind::HotThread, Some("upstream"));
    let found = attribute(&Case::of_one(&load.data(), 2));
    let evidence = found.causes[0].evidence.join("\n");
    assert!(evidence.contains("threw out 400 keys"), "{evidence}");
    cache.server.main_thread_cores = Some(0.5);
    let load = Load {
        behind: cache,
        ..limited()
    };
    assert_ne!(
        first(&load).map(|found| found.0),
        Some(CauseKind::HotThread)
    );
}
