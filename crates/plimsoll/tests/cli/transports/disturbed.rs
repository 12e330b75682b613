//! nginx is killed, stopped and reloaded under load: whatever it does to exchanges, none is lost from the accounts.

use super::{Account, OPEN, Secured, ended, started};
use plimsoll_testbed::peers::nginx::{Logged, Nginx};
use rustix::process::Signal;

/// A disturbance of nginx once it has answered twenty requests; how its log is had afterwards.
struct Disturbance {
    act: fn(&Nginx),
    after: fn(Nginx) -> Vec<Logged>,
}

const KILLED: Disturbance = Disturbance {
    act: |nginx| nginx.signal(Signal::KILL).unwrap(),
    after: |nginx| nginx.log(),
};
const STOPPED: Disturbance = Disturbance {
    act: |nginx| nginx.signal(Signal::STOP).unwrap(),
    after: |nginx| {
        nginx.signal(Signal::CONT).unwrap();
        nginx.quit().unwrap()
    },
};
const RELOADED: Disturbance = Disturbance {
    act: |nginx| nginx.reload().unwrap(),
    after: |nginx| nginx.quit().unwrap(),
};

/// Answered and logged by nginx, with HTTP/1.1 or HTTP/2 over TLS.
fn disturbed(disturbance: &Disturbance, http2: bool) -> (Account, u64) {
    let listen = if http2 { "ssl http2" } else { "ssl" };
    let protocol = if http2 {
        ", protocol: http2, streams: 2"
    } else {
        ""
    };
    let secured = Secured::start(listen, "");
    let workspace = secured.workspace();
    let load = format!("{OPEN}, timeout: 300ms, tls: {{ ca: ca.pem }}{protocol}");
    let child = started(&workspace, "https", secured.nginx.address(), &load);
    secured.nginx.wait_until_answered(20).unwrap();
    (disturbance.act)(&secured.nginx);
    let account = ended(&workspace, child);
    assert_eq!(account.number("intended"), 100);
    let log = (disturbance.after)(secured.nginx);
    (account, u64::try_from(log.len()).unwrap())
}

/// A worker logs an answer after it has sent it, so at most the one that it had in hand is missing from the log.
#[test]
#[ignore = "needs nginx: run scripts/test"]
fn a_server_that_is_killed_leaves_accounts_that_hold() {
    for http2 in [false, true] {
        let (account, logged) = disturbed(&KILLED, http2);
        assert!(account.count("200") <= logged + 1, "{logged}: {account:?}");
        assert!(logged <= account.sent(), "{logged}: {account:?}");
        assert!(account.count("refused") > 0, "{account:?}");
        // A handshake may be under way when it dies, or wait for a worker that is gone already.
        let lost = ["refused", "reset", "closed", "tls_failed", "timed_out"];
        let lost = lost.map(|outcome| account.count(outcome));
        let accounted = account.count("200") + lost.iter().sum::<u64>();
        assert_eq!(accounted, account.sent(), "{account:?}");
    }
}

/// Requests that it had received when it stopped it answers, and logs, when it goes on: after the deadline.
#[test]
#[ignore = "needs nginx: run scripts/test"]
fn a_server_that_stands_still_times_out() {
    for http2 in [false, true] {
        let (account, logged) = disturbed(&STOPPED, http2);
        assert!(account.count("200") <= logged, "{logged}: {account:?}");
        assert!(account.count("timed_out") > 0, "{account:?}");
        let accounted = account.count("200") + account.count("timed_out");
        assert_eq!(accounted, account.sent(), "{account:?}");
    }
}

/// An idle connection may be closed at the very moment in which it is used: that exchange is `closed` or `reset`, and no other.
#[test]
#[ignore = "needs nginx: run scripts/test"]
fn a_server_that_is_reloaded_loses_no_exchange() {
    for http2 in [false, true] {
        let (account, logged) = disturbed(&RELOADED, http2);
        assert_eq!(account.count("200"), logged, "{account:?}");
        let lost = account.count("closed") + account.count("reset");
        assert_eq!(account.count("200") + lost, account.sent(), "{account:?}");
        assert!(lost <= 4, "{account:?}");
    }
}
