//! An upstream that closes its connections when it likes: what is safe to repeat does not notice, and nothing else is done twice.

use super::Check;
use crate::asking::ask;
use crate::bar::Bar;
use crate::bench::{Bench, Error};
use crate::gateway::Gateway;
use crate::interrupt;
use crate::target::moody::{Executions, Moody};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

pub const CHECK: Check = Check {
    name: "closes",
    about: "GETs and POSTs through the gateway to an upstream that closes connections at random",
    run,
};

/// Clients at a time, each over one connection.
const CLIENTS: usize = 16;
/// So many GETs for each POST.
const GETS: u64 = 10;
/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// Of the requests that the upstream executes, the share on whose connection nothing may come behind them, at least: it ends a tenth behind
/// the answer, and nearly as many when a further one has come.
const CLOSED: f64 = 0.1;
/// Of the POSTs, the share that may be refused: a tenth finds a connection that closes, and some one that has closed meanwhile.
const REFUSALS: f64 = 0.15;

/// How a POST was answered.
const UNASKED: u8 = 0;
const DONE: u8 = 1;
const REFUSED: u8 = 2;

/// The observations of the clients.
struct Seen {
    gets: AtomicU64,
    /// GETs that were not answered with 200.
    visible: AtomicU64,
    /// Answers, or none, that a POST must not have: neither 200 nor 502.
    other: AtomicU64,
    next: AtomicUsize,
    posts: Box<[AtomicU8]>,
}

fn run(bench: &Bench) -> Result<Vec<Bar>, Error> {
    let posts = bench.pick(100_000, 500);
    let moody = Moody::start(posts)?;
    // About a fifth of its requests meet a connection that closes: each may be repeated.
    let config = format!(
        "version: 1\nlisteners: {{ main: {{ address: \"127.0.0.1:0\" }} }}\n\
         upstreams: {{ moody: {{ endpoints: [\"http://{}\"], retry: {{ percent: 50 }} }} }}\nroutes: [{{ path: /, upstream: moody }}]\n",
        moody.address()
    );
    let gateway = Gateway::start(bench, &[("gateway.yaml", config)], &[])?;
    let address = gateway.main()?;
    let seen = Seen {
        gets: AtomicU64::new(0),
        visible: AtomicU64::new(0),
        other: AtomicU64::new(0),
        next: AtomicUsize::new(0),
        posts: (0..posts).map(|_| AtomicU8::new(UNASKED)).collect(),
    };
    std::thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| client(address, &seen));
        }
    });
    interrupt::check()?;
    gateway.child.terminate()?;
    Ok(bars(&seen, &moody.stop()))
}

fn bars(seen: &Seen, executions: &Executions) -> Vec<Bar> {
    let [gets, visible, other] =
        [&seen.gets, &seen.visible, &seen.other].map(|n| n.load(Ordering::SeqCst));
    let (mut twice, mut undone, mut refused) = (0_usize, 0_usize, 0_usize);
    let mut executed = executions.gets();
    for (number, answer) in seen.posts.iter().enumerate() {
        let done = executions.of_post(number);
        let answer = answer.load(Ordering::SeqCst);
        executed += u64::from(done);
        twice += usize::from(done > 1);
        undone += usize::from(answer == DONE && done == 0);
        refused += usize::from(answer == REFUSED);
    }
    let posts = seen.posts.len();
    vec![
        closing(executions.closed(), executed),
        Bar::judged(
            "GETs",
            "every one is answered with 200",
            format!(
                "{visible} of {gets} were not; {} were executed",
                executions.gets()
            ),
            visible == 0 && gets > 0,
        ),
        Bar::judged(
            "POSTs",
            "none is done twice, and none is said to be done that was not",
            format!("of {posts}: {twice} twice, {undone} undone"),
            twice == 0 && undone == 0,
        ),
        refusing(refused, posts),
        Bar::judged(
            "POSTs: answers",
            "200, or 502 where it may have been done",
            format!("{other} were others"),
            other == 0,
        ),
    ]
}

/// Whether the upstream did what the check is about.
#[expect(clippy::cast_precision_loss, reason = "a share of counts")]
fn closing(closed: u64, executed: u64) -> Bar {
    let share = closed as f64 / executed.max(1) as f64;
    Bar::judged(
        "connections that ended",
        format!("≥ {:.0} % of the requests executed", 100.0 * CLOSED),
        format!("{:.1} %: {closed} of {executed}", 100.0 * share),
        share >= CLOSED,
    )
}

/// Whether no more is refused than what may have been done.
#[expect(clippy::cast_precision_loss, reason = "a share of counts")]
fn refusing(refused: usize, posts: usize) -> Bar {
    let share = refused as f64 / posts as f64;
    Bar::judged(
        "POSTs refused with 502",
        format!("≤ {:.0} %", 100.0 * REFUSALS),
        format!("{:.1} %: {refused} of {posts}", 100.0 * share),
        share <= REFUSALS,
    )
}

/// Who waits longer for an answer gives up, and counts as not answered.
fn connect(address: SocketAddr) -> std::io::Result<TcpStream> {
    let stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    Ok(stream)
}

fn client(address: SocketAddr, seen: &Seen) {
    let mut kept: Option<TcpStream> = None;
    let mut get_or_post = |request: &str| {
        let stream = match kept.take() {
            Some(stream) => Ok(stream),
            None => connect(address),
        };
        let asked = stream.and_then(|mut stream| Ok((ask(&mut stream, request)?, stream)));
        let (answer, stream) = asked.ok()?;
        kept = answer.keeps().then_some(stream);
        Some(answer.status)
    };
    loop {
        let number = seen.next.fetch_add(1, Ordering::Relaxed);
        let Some(post) = seen.posts.get(number).filter(|_| !interrupt::requested()) else {
            return;
        };
        for _ in 0..GETS {
            let status = get_or_post("GET /get HTTP/1.1\r\nHost: a\r\n\r\n");
            seen.gets.fetch_add(1, Ordering::Relaxed);
            let failed = status != Some(200);
            seen.visible.fetch_add(u64::from(failed), Ordering::Relaxed);
        }
        let request =
            format!("POST /post/{number} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
        match get_or_post(&request) {
            Some(200) => post.store(DONE, Ordering::SeqCst),
            Some(502) => post.store(REFUSED, Ordering::SeqCst),
            _ => {
                seen.other.fetch_add(1, Ordering::SeqCst);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bar::Verdict;

    #[test]
    fn an_upstream_that_closes_nothing_shows_nothing() {
        let check = |bar: Bar, expected| assert_eq!(bar.verdict, expected, "{bar:?}");
        check(closing(200, 1_000), Verdict::Held);
        check(closing(16, 1_000), Verdict::Failed);
        check(closing(0, 0), Verdict::Failed);
        check(refusing(100, 1_000), Verdict::Held);
        check(refusing(151, 1_000), Verdict::Failed);
    }
}
