//! An upstream that closes its connections when it likes: what is safe to repeat does not notice, and nothing else is done twice.

use super::Check;
use crate::asking::ask;
use crate::bar::Bar;
use crate::bench::{Bench, Trouble};
use crate::gateway::Gateway;
use crate::interrupt;
use crate::target::moody::{Executions, Moody};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};

pub const CHECK: Check = Check {
    name: "closes",
    about: "GETs and POSTs through the gateway to an upstream that closes connections at random",
    run,
};

/// Clients at a time, each over one connection.
const CLIENTS: usize = 16;
/// So many GETs for each POST.
const GETS: u64 = 10;

/// How a POST was answered.
const UNASKED: u8 = 0;
const DONE: u8 = 1;
const REFUSED: u8 = 2;

/// What the clients have seen.
struct Seen {
    gets: AtomicU64,
    /// GETs that were not answered with 200.
    visible: AtomicU64,
    /// Answers, or none, that a POST must not have: neither 200 nor 502.
    other: AtomicU64,
    next: AtomicUsize,
    posts: Box<[AtomicU8]>,
}

fn run(bench: &Bench) -> Result<Vec<Bar>, Trouble> {
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
    let (mut twice, mut undone, mut refused) = (0, 0, 0);
    for (number, answer) in seen.posts.iter().enumerate() {
        let done = executions.of_post(number);
        let answer = answer.load(Ordering::SeqCst);
        twice += usize::from(done > 1);
        undone += usize::from(answer == DONE && done == 0);
        refused += usize::from(answer == REFUSED);
    }
    let posts = seen.posts.len();
    vec![
        Bar::judged(
            "GETs",
            "every one is answered with 200",
            format!(
                "{visible} of {gets} were not; {} were executed, and {} connections closed",
                executions.gets(),
                executions.closed()
            ),
            visible == 0,
        ),
        Bar::judged(
            "POSTs",
            "none is done twice, and none is said to be done that was not",
            format!("of {posts}: {twice} twice, {undone} undone, {refused} refused with 502"),
            twice == 0 && undone == 0,
        ),
        Bar::judged(
            "POSTs: answers",
            "200, or 502 where it may have been done",
            format!("{other} were others"),
            other == 0,
        ),
    ]
}

fn client(address: SocketAddr, seen: &Seen) {
    let mut kept: Option<TcpStream> = None;
    let mut get_or_post = |request: &str| {
        let stream = match kept.take() {
            Some(stream) => Ok(stream),
            None => TcpStream::connect(address),
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
