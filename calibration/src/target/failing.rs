//! A target that fails when it is told to, for exactly as long as it is told, for all accounts or for some; it knows when and how long it did.
//!
//! `plimsoll-calibration tell 127.0.0.1:9000 refuse 1 50` has it refuse for 50 ms; the words of faults are in [`Failing::fault`]. An account is
//! the number in the path `/accounts/NUMBER`; of each so many, those that are divided by it are hit. All of it is one thread, so that a request
//! comes before a failure begins, or behind it.

mod record;

use super::ANSWER;
use crate::bench::Error;
use crate::clock;
pub use record::{Failure, How};
use record::{Record, Treatment};
use serde_json::{Map, Value, json};
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

/// The first argument that makes this program tell a target something.
pub const WORD: &str = "tell";
/// The numbers of accounts: `/accounts/0` to this.
const LAST_ACCOUNT: u32 = 8;

const REFUSAL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n";
/// Longest request head.
const MOST_HEAD: usize = 8 * 1024;
/// How long who tells it something may take to say so; who is told nothing for longer asks again.
const PATIENCE: Duration = Duration::from_secs(2);
/// A timer is at most so late on a machine that does not stall.
const TIMER: Duration = Duration::from_millis(3);
/// So often other tasks go on before it is looked whether one has read something, and so often that is looked for.
const ROUND: usize = 4;
const MOST_ROUNDS: usize = 10_000;
/// Connections that may wait to be accepted.
const BACKLOG: i32 = 4096;

/// The running target.
pub struct Failing {
    /// Where callers find it.
    pub address: SocketAddr,
    control: SocketAddr,
    record: Arc<Mutex<Record>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Failing {
    /// Starts it.
    pub fn start() -> Result<Self, Error> {
        let failed = || Error::when("starting a target");
        let (main, address) = bound().map_err(failed())?;
        let (control, control_address) = bound().map_err(failed())?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(failed())?;
        let record = Arc::new(Mutex::new(Record::default()));
        let (stop, stopped) = oneshot::channel();
        let own = Arc::clone(&record);
        let thread = std::thread::spawn(move || {
            runtime.block_on(async {
                let (told, refusals) = mpsc::channel(1);
                tokio::select! {
                    ended = serve(&main, refusals, &own) => ended,
                    ended = obey(&control, told, &own) => ended,
                    _ = stopped => Ok(()),
                }
            })
        });
        Ok(Self {
            address,
            control: control_address,
            record,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// The fault of an experiment that makes it fail.
    pub fn fault(&self, how: How, each: u32, length: Duration) -> Result<Value, Error> {
        let here = std::env::current_exe().map_err(Error::when("finding this program"))?;
        let (here, control) = (here.display().to_string(), self.control.to_string());
        let tell = |words: &[&str]| {
            let fixed = [here.as_str(), WORD, control.as_str()];
            json!([&fixed, words].concat())
        };
        let (each, length) = (each.to_string(), length.as_millis().to_string());
        Ok(json!({
            "run": {
                "inject": tell(&[how.word(), &each, &length]), "verify": tell(&["has-begun"]),
                "heal": tell(&["heal"]), "healed": tell(&["is-healed"]),
            },
        }))
    }

    /// An experiment with this method that asks one account after the other at random, and breaks it by these faults.
    pub fn experiment(
        &self,
        name: &str,
        rate: u32,
        faults: Map<String, Value>,
        availability: Value,
    ) -> Value {
        json!({
            "version": 1,
            "name": name,
            "components": { "target": { "external": format!("http://{}", self.address), "probe": "none" } },
            "scenario": [{
                "name": "account", "get": format!("/accounts/${{random(0, {LAST_ACCOUNT})}}"), "check": { "status": 200 },
            }],
            "load": { "rate": format!("{rate}/s") },
            "arms": { "main": { "target": "target" } },
            "faults": faults,
            "method": { "availability": availability },
        })
    }

    /// The failures so far, in their order.
    pub fn failures(&self) -> Vec<Failure> {
        lock(&self.record).failures.clone()
    }
}

impl Drop for Failing {
    fn drop(&mut self) {
        if self.stop.take().is_some_and(|stop| stop.send(()).is_err()) {
            // It has ended by itself, and says why.
        }
        let ended = self.thread.take().map(JoinHandle::join);
        if let Some(Ok(Err(error))) = ended {
            crate::say(&format!("calibration: a target that fails: {error}"));
        }
    }
}

/// Tells a target something. `arguments`: its address, and words.
pub fn run(mut arguments: impl Iterator<Item = String>) -> Result<(), Error> {
    use std::io::{BufRead as _, Write as _};
    let address = arguments.next().unwrap_or_default();
    let words = arguments.collect::<Vec<_>>().join(" ");
    let told = || -> io::Result<String> {
        let mut stream = std::net::TcpStream::connect(&address)?;
        stream.set_read_timeout(Some(2 * PATIENCE))?;
        stream.write_all(format!("{words}\n").as_bytes())?;
        let mut said = String::new();
        std::io::BufReader::new(stream).read_line(&mut said)?;
        Ok(said)
    };
    match told().map_err(Error::when("telling a target"))?.as_str() {
        "yes\n" => Ok(()),
        _ => Err(Error::Measured(format!("{words}: no"))),
    }
}

fn lock(record: &Mutex<Record>) -> MutexGuard<'_, Record> {
    record.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A socket that listens, and its address.
fn bound() -> io::Result<(Socket, SocketAddr)> {
    let at = |address: SocketAddr| {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
        socket.set_reuse_address(true)?;
        socket.set_nonblocking(true)?;
        socket.bind(&address.into())?;
        Ok::<_, io::Error>(socket)
    };
    let chosen = at(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
    let address = chosen.local_addr()?.as_socket();
    let address = address.ok_or(io::ErrorKind::AddrNotAvailable)?;
    // One that is bound by number keeps it when it ceases to listen.
    let kept = at(address)?;
    kept.listen(BACKLOG)?;
    Ok((kept, address))
}

fn listening(socket: &Socket) -> io::Result<TcpListener> {
    socket.listen(BACKLOG)?;
    TcpListener::from_std(socket.try_clone()?.into())
}

/// Serves, and refuses for as long as it is told to.
async fn serve(
    socket: &Socket,
    mut refusals: mpsc::Receiver<Duration>,
    record: &Arc<Mutex<Record>>,
) -> io::Result<()> {
    let mut connections = JoinSet::new();
    loop {
        let from = clock::now();
        let listener = listening(socket)?;
        lock(record).end_refusal(from, clock::now());
        let refused_for = loop {
            tokio::select! {
                told = refusals.recv() => break told,
                accepted = listener.accept() => {
                    while connections.try_join_next().is_some() {}
                    connections.spawn(converse(accepted?.0, Arc::clone(record)));
                }
            }
        };
        let Some(length) = refused_for else {
            return Ok(());
        };
        let mut is_drained = false;
        while !is_drained {
            idle(record).await;
            is_drained = true;
            while let Some(accepted) = now_or_never(listener.accept()).await {
                connections.spawn(converse(accepted?.0, Arc::clone(record)));
                is_drained = false;
            }
        }
        let began = clock::now();
        lock(record).begin(How::Refuses, 1, began, None);
        // Refuses from here on, also where a process about to begin has a copy of the socket.
        socket.shutdown(Shutdown::Read)?;
        tokio::time::sleep(length.saturating_sub(TIMER)).await;
        // Timers are whole milliseconds late, and connections go on meanwhile.
        while clock::now() < began + length {
            tokio::task::yield_now().await;
        }
    }
}

/// Waits until nothing more is to be read: what came before a failure is not to be hit by it. A process has just been started to tell of it,
/// which takes a processor from who reads.
async fn idle(record: &Mutex<Record>) {
    let mut seen = u64::MAX;
    for _ in 0..MOST_ROUNDS {
        let requests = lock(record).requests;
        if requests == seen {
            return;
        }
        seen = requests;
        // Between two of them the runtime looks for what can be read.
        for _ in 0..ROUND {
            tokio::task::yield_now().await;
        }
    }
}

/// The outcome of a future that is ready.
async fn now_or_never<T>(future: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        biased;
        done = future => Some(done),
        () = tokio::task::yield_now() => None,
    }
}

/// Answers the requests of a connection, or does not.
async fn converse(mut stream: TcpStream, record: Arc<Mutex<Record>>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let (mut head, mut bytes) = (Vec::new(), [0; 2048]);
    loop {
        let count = stream.read(&mut bytes).await?;
        head.extend_from_slice(&bytes[..count]);
        if count == 0 || head.len() > MOST_HEAD {
            return Ok(());
        }
        if !head.ends_with(b"\r\n\r\n") {
            continue;
        }
        let treatment = lock(&record).treat(account(&head), clock::now());
        head.clear();
        match treatment {
            Treatment::Answered => stream.write_all(ANSWER).await?,
            Treatment::Unavailable => stream.write_all(REFUSAL).await?,
            Treatment::Unanswered => {}
            Treatment::CutOff => return Ok(()),
        }
    }
}

/// The account of a request; 0 where its path has none.
fn account(head: &[u8]) -> u32 {
    let head = String::from_utf8_lossy(head);
    let path = head.split(' ').nth(1).unwrap_or_default();
    let number = path.rsplit('/').next().unwrap_or_default();
    number.parse().unwrap_or(0)
}

/// Does as it is told, one connection and one line after the other.
async fn obey(
    socket: &Socket,
    told: mpsc::Sender<Duration>,
    record: &Mutex<Record>,
) -> io::Result<()> {
    let listener = listening(socket)?;
    loop {
        let stream = listener.accept().await?.0;
        let heard = tokio::time::timeout(PATIENCE, hear(stream, &told, record)).await;
        if !matches!(heard, Ok(Ok(()))) {
            // Whoever asked says nothing, or does not wait for an answer.
        }
    }
}

async fn hear(
    stream: TcpStream,
    told: &mpsc::Sender<Duration>,
    record: &Mutex<Record>,
) -> io::Result<()> {
    let (mut stream, mut line) = (BufReader::new(stream), String::new());
    stream.read_line(&mut line).await?;
    idle(record).await;
    let said = match answer(line.trim(), told, record) {
        true => "yes\n",
        false => "no\n",
    };
    stream.get_mut().write_all(said.as_bytes()).await
}

fn answer(line: &str, told: &mpsc::Sender<Duration>, record: &Mutex<Record>) -> bool {
    let words: Vec<&str> = line.split(' ').collect();
    let mut record = lock(record);
    match words[..] {
        ["has-begun"] => record.has_begun(),
        ["heal"] => {
            record.heal();
            true
        }
        ["is-healed"] => record.is_healed(clock::now()),
        [how, each, length] => {
            let (each, length) = (each.parse().ok(), length.parse().ok());
            let (Some(how), Some(each), Some(length)) = (How::of(how), each, length) else {
                return false;
            };
            record.inject();
            let length = Duration::from_millis(length);
            match how {
                How::Refuses => told.try_send(length).is_ok(),
                _ => {
                    record.begin(how, each, clock::now(), Some(length));
                    true
                }
            }
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Wait;
    use crate::asking::ask;

    fn told(target: &Failing, words: &[&str]) -> bool {
        let control = target.control.to_string();
        let words = std::iter::once(control.as_str()).chain(words.iter().copied());
        run(words.map(str::to_owned)).is_ok()
    }

    #[test]
    fn it_fails_for_so_long_and_for_those_and_tells() {
        let target = Failing::start().unwrap();
        let mut stream = std::net::TcpStream::connect(target.address).unwrap();
        let mut status = |account: u32| {
            let asked = format!("GET /accounts/{account} HTTP/1.1\r\nHost: x\r\n\r\n");
            ask(&mut stream, &asked).unwrap().status
        };
        assert_eq!(status(3), 200);
        assert!(!told(&target, &["has-begun"]) && told(&target, &["is-healed"]));
        // Longer than this test takes.
        assert!(told(&target, &["unavailable", "3", "600000"]));
        assert!(told(&target, &["has-begun"]) && !told(&target, &["is-healed"]));
        assert_eq!([status(3), status(4), status(0)], [503, 200, 503]);
        let failures = target.failures();
        assert_eq!(failures[0].length(), Some(Duration::from_mins(10)));
        assert_eq!(failures[0].requests, 2);
    }

    #[test]
    fn a_socket_refuses_whoever_has_a_copy_of_it() {
        let (socket, address) = bound().unwrap();
        let copy = socket.try_clone().unwrap();
        let connect = || std::net::TcpStream::connect(address).map_err(|error| error.kind());
        assert!(connect().is_ok());
        socket.shutdown(Shutdown::Read).unwrap();
        assert_eq!(connect().err(), Some(io::ErrorKind::ConnectionRefused));
        socket.listen(BACKLOG).unwrap();
        assert!(connect().is_ok());
        drop(copy);
    }

    #[test]
    fn it_refuses_and_listens_again() {
        let target = Failing::start().unwrap();
        assert!(told(&target, &["refuse", "1", "20"]));
        let wait = Wait::up_to(Duration::from_secs(20));
        wait.until("an end", || Ok(told(&target, &["has-begun"])))
            .unwrap();
        assert!(told(&target, &["heal"]));
        wait.until("an end", || Ok(told(&target, &["is-healed"])))
            .unwrap();
        let length = target.failures()[0].length().unwrap();
        assert!(length >= Duration::from_millis(20), "{length:?}");
        assert!(std::net::TcpStream::connect(target.address).is_ok());
    }
}
