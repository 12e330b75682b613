//! Targets that never answer, never accept, or take for ever over it: a load ends in time and says what happened.

use crate::processes::now;
use crate::program::Workspace;
use crate::transports::Account;
use rustix::net::{AddressFamily, SocketType, bind, getsockname, listen, socket};
use std::io::Write as _;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// Four seconds are generous for half a second of load and a second of waiting for the last answers.
const IN_TIME: Duration = Duration::from_secs(20);
/// Memory that the lab and the generator may each allocate, in KiB; beyond it the system gives them none.
const MEMORY: &str = "200000";

/// Half a second of load, and what `plimsoll load` came to; it may not take long, nor much memory.
fn loaded(target: SocketAddr, timeout: &str) -> (Account, String) {
    let workspace = Workspace::new();
    let url = format!("http://{target}/");
    let args = [
        "load",
        &url,
        "-r",
        "100",
        "-c",
        "4",
        "-z",
        "500ms",
        "--warmup",
        "0",
        "--timeout",
        timeout,
        "--out",
        "run",
        "--no-ui",
    ];
    let begun = now();
    let finished = workspace.run_within(MEMORY, &args);
    assert!(now() - begun < IN_TIME, "{finished:?}");
    // Everything failed, so nothing has passed; on a machine that stalled, it is not valid either.
    assert!(matches!(finished.code, Some(4 | 6)), "{finished:?}");
    (Account::of(&workspace, &finished), finished.stdout)
}

/// Fails unless every exchange ended so, and the summary says it.
fn check(target: SocketAddr, timeout: &str, outcome: &str, said: &str) {
    let (account, stdout) = loaded(target, timeout);
    assert!(account.sent() > 0, "{account:?}");
    assert_eq!(account.count(outcome), account.sent(), "{account:?}");
    assert_eq!(account.number("failed"), account.sent());
    assert_eq!(account.number("intended"), 50);
    assert!(stdout.contains(said), "{stdout}");
}

#[test]
fn a_listener_that_never_answers_times_out() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    check(
        address,
        "200ms",
        "timed_out",
        "timed out: no answer had begun within the timeout",
    );
}

/// The queue of connections that nobody accepts takes the one by which the lab sees that somebody listens; later ones hang.
#[test]
fn a_listener_whose_backlog_is_full_times_out() {
    let (_listener, address) = with_backlog_of_one();
    check(
        address,
        "200ms",
        "timed_out",
        "timed out: TCP did not connect within the timeout",
    );
}

/// A second, so that the first byte comes in time on a machine that is busy with other things.
#[test]
fn an_answer_that_comes_byte_by_byte_is_unfinished() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || drip(&listener, &stopped));
        check(
            address,
            "1s",
            "unfinished",
            "timed out inside the answer: its body was not complete",
        );
        drop(stop);
    });
}

/// A listener that holds one connection until it is accepted, which never happens.
fn with_backlog_of_one() -> (OwnedFd, SocketAddr) {
    let listener = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&listener, &SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    listen(&listener, 0).unwrap();
    let address = getsockname(&listener).unwrap().try_into().unwrap();
    (listener, address)
}

/// Says 200 to everybody, and then a byte each second.
fn drip(listener: &TcpListener, stopped: &Receiver<()>) {
    listener.set_nonblocking(true).unwrap();
    let mut clients: Vec<TcpStream> = vec![];
    let look = Duration::from_millis(10);
    let mut rounds = 0_u32;
    while stopped.recv_timeout(look) == Err(RecvTimeoutError::Timeout) {
        while let Ok((mut client, _)) = listener.accept() {
            if client
                .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
                .is_ok()
            {
                clients.push(client);
            }
        }
        rounds += 1;
        if rounds.is_multiple_of(100) {
            clients.retain_mut(|client| client.write_all(b"x").is_ok());
        }
    }
}
