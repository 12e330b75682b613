//! A server that behaves as a test says, and a run of a plan against it.

use crate::fragment::{Accounts, Fragment, Message, PhaseAccounts};
use crate::plan::*;
use plimsoll_base::histogram::TimeHistogram;
use plimsoll_base::outcome_class::OutcomeClass;
use plimsoll_base::reason::Reason;
use plimsoll_base::time_kind::TimeKind;
use plimsoll_http::{Limits, Listener, TcpServer, encode};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// The server's reaction to the request of this number, counted from 0 over all connections.
#[derive(Debug, Clone, Copy)]
pub(super) enum Answer {
    /// Says 200, or another status.
    Status(u16),
    /// Says 200 after a while.
    After(Duration),
    /// Begins an answer and never ends it.
    Stalls,
    /// Closes without a word.
    Closes,
    /// Says 200 and closes at once, without having announced it.
    ThenClose,
    /// Says 200 without having read the request's body, and never reads it.
    BeforeBody,
    /// Says 200 and 8,000 bytes in chunks of one, which are more work to read than to write.
    Crumbs,
    /// Never says anything.
    Never,
    /// Sends what is not HTTP.
    Garbage,
    /// Announces two bytes and sends five.
    Surplus,
    /// Resets the connection.
    Reset,
    /// Announces ten bytes and closes after three.
    Truncated,
    /// Closes inside the head.
    CutHead,
    /// Begins a head and never ends it.
    StallsInHead,
    /// Announces ten bytes and resets the connection after three.
    ResetsInBody,
}

/// A server on a thread of its own; it stops when dropped.
pub(super) struct Server {
    pub(super) address: SocketAddr,
    requests: Arc<Requests>,
    connections: Arc<AtomicU64>,
    stop: watch::Sender<bool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

/// How many requests a server has received, for who waits for so many.
#[derive(Default)]
struct Requests {
    count: Mutex<Count>,
    reached: Condvar,
}

#[derive(Default)]
struct Count {
    received: u64,
    wanted: u64,
}

impl Requests {
    fn count(&self) -> MutexGuard<'_, Count> {
        self.count.lock().unwrap()
    }

    /// Counts one more; returns its number.
    fn add(&self) -> u64 {
        let mut count = self.count();
        count.received += 1;
        if count.received == count.wanted {
            self.reached.notify_all();
        }
        count.received - 1
    }

    /// Returns when there are so many, or [`PATIENCE`] is at its end.
    fn wait_for(&self, wanted: u64) {
        let mut count = self.count();
        count.wanted = wanted;
        let missing = |count: &mut Count| count.received < wanted;
        drop(self.reached.wait_timeout_while(count, PATIENCE, missing));
    }
}

/// Longer than anything takes that comes at all, on a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(120);

impl Server {
    pub(super) fn start(answer: fn(u64) -> Answer) -> Self {
        let listener = Listener::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = listener.local_addr().unwrap();
        let (requests, connections) = (Arc::<Requests>::default(), Arc::<AtomicU64>::default());
        let (stop, stopped) = watch::channel(false);
        let (seen, accepted) = (Arc::clone(&requests), Arc::clone(&connections));
        let thread = std::thread::spawn(move || {
            plimsoll_http::shard::run_shards(1, "server", |_| {
                serve(&listener, answer, &seen, &accepted, stopped.clone())
            })
            .unwrap();
        });
        Self {
            address,
            requests,
            connections,
            stop,
            thread: Some(thread),
        }
    }

    /// Requests received so far.
    pub(super) fn requests(&self) -> u64 {
        self.requests.count().received
    }

    /// Runs a plan until it has received so many requests, whenever that is; the exchanges then under way have a second to end. A
    /// load that never sends so many is stopped all the same, after [`PATIENCE`].
    pub(super) fn run_until_received(&self, mut plan: Plan, requests: u64) -> Outcome {
        plan.duration = LONG;
        let (stop, stopped) = watch::channel(false);
        std::thread::scope(|scope| {
            let run = scope.spawn(|| run_until(plan, stopped));
            self.requests.wait_for(requests);
            stop.send_replace(true);
            run.join().unwrap()
        })
    }

    /// Connections accepted so far.
    pub(super) fn connections(&self) -> u64 {
        self.connections.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

async fn serve(
    listener: &Listener,
    answer: fn(u64) -> Answer,
    seen: &Arc<Requests>,
    accepted: &AtomicU64,
    mut stopped: watch::Receiver<bool>,
) {
    let mut listener = listener.for_shard().unwrap();
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            _ = stopped.wait_for(|stop| *stop) => break,
            client = listener.accept() => {
                accepted.fetch_add(1, Ordering::SeqCst);
                let connection = TcpServer::from_stream(client.unwrap().0, Limits::default());
                connections.spawn_local(converse(connection, answer, Arc::clone(seen)));
            }
        }
    }
}

async fn converse(mut connection: TcpServer, answer: fn(u64) -> Answer, seen: Arc<Requests>) {
    let mut body = Vec::new();
    while let Ok(true) = connection.requests.next_head().await {
        let number = seen.add();
        let keep_alive = connection.requests.head().keep_alive();
        let answer = answer(number);
        if let Answer::After(time) = answer {
            tokio::time::sleep(time).await;
        }
        if !matches!(answer, Answer::BeforeBody)
            && connection.requests.read_body(&mut body).await.is_err()
        {
            return;
        }
        let out = connection.output.buffer();
        match answer {
            Answer::Status(status) => respond(out, status),
            Answer::After(_) | Answer::ThenClose | Answer::BeforeBody => respond(out, 200),
            Answer::Garbage => out.extend_from_slice(b"SSH-2.0-OpenSSH_9.2\r\n"),
            Answer::Surplus => {
                out.extend_from_slice(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabcde");
            }
            Answer::CutHead | Answer::StallsInHead => {
                out.extend_from_slice(b"HTTP/1.1 200 OK\r\nContent-");
            }
            Answer::Truncated | Answer::Stalls | Answer::ResetsInBody => {
                out.extend_from_slice(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc");
            }
            Answer::Crumbs => crumbs(out),
            Answer::Never => std::future::pending().await,
            Answer::Reset => return connection.reset(),
            Answer::Closes => return,
        }
        if connection.output.flush().await.is_err()
            || matches!(
                answer,
                Answer::ThenClose | Answer::Truncated | Answer::CutHead
            )
            || !keep_alive
        {
            return;
        }
        match answer {
            Answer::BeforeBody | Answer::Stalls | Answer::StallsInHead => {
                std::future::pending().await
            }
            Answer::ResetsInBody => return connection.reset(),
            _ => {}
        }
    }
}

fn respond(out: &mut Vec<u8>, status: u16) {
    encode::status_line(out, status, None);
    encode::content_length(out, 2);
    encode::end_head(out);
    out.extend_from_slice(b"ok");
}

fn crumbs(out: &mut Vec<u8>) {
    encode::status_line(out, 200, None);
    encode::transfer_chunked(out);
    encode::end_head(out);
    out.extend_from_slice(&b"1\r\nx\r\n".repeat(8_000));
    encode::last_chunk(out, None);
}

/// Longer than any load here, so that loads go on until their plan ends.
pub(super) const LONG: Duration = Duration::from_secs(3_600);

/// A plan of one step: three users, closed, for 300 ms.
pub(super) fn plan(address: SocketAddr) -> Plan {
    let closed = Load::closed(3, Duration::ZERO, LONG);
    Plan {
        seed: 1,
        shards: 1,
        target: Target {
            authority: address.to_string(),
            addresses: vec![address],
        },
        steps: vec![step("home")],
        scenarios: vec![Scenario::of_steps("main", closed, 1)],
        data: Data::default(),
        warmup: Duration::ZERO,
        duration: Duration::from_millis(300),
        connections: Connections::default(),
        pacing: Pacing::default(),
        timeout: Duration::from_secs(20),
        singly: false,
    }
}

pub(super) fn step(name: &str) -> Step {
    Step {
        name: name.to_owned(),
        method: "GET".to_owned(),
        path: "/".into(),
        ..Step::default()
    }
}

pub(super) fn open(rate: f64, connections: u32, queue: u32) -> Load {
    let constant = Profile::Constant { rate };
    Load::open(vec![constant.lasting(LONG)], connections, queue)
}

/// An open load for so long, and then no arrival until the plan ends: what has arrived has the time to be carried out, however busy
/// this machine is.
pub(super) fn open_for(arriving: Duration, rate: f64, connections: u32, queue: u32) -> Load {
    let stretches = [
        Profile::Constant { rate }.lasting(arriving),
        Profile::Nothing.lasting(LONG),
    ];
    Load::open(stretches.into(), connections, queue)
}

/// A closed load of so many iterations and no more. It ends with the last of them.
pub(super) fn iterations(plan: &mut Plan, users: u32, number: u64) {
    plan.scenarios[0].load = Load::closed(users, Duration::ZERO, LONG);
    plan.scenarios[0].iterations = Some(number);
    plan.duration = LONG;
}

/// Everything that a run said.
pub(super) struct Outcome {
    pub(super) fragments: Vec<Fragment>,
    pub(super) accounts: Accounts,
}

pub(super) fn run(plan: Plan) -> Outcome {
    let (_stop, stopped) = watch::channel(false);
    run_until(plan, stopped)
}

pub(super) fn run_until(plan: Plan, stop: watch::Receiver<bool>) -> Outcome {
    let mut fragments = vec![];
    let mut accounts = None;
    crate::run(plan, stop, &mut |message| match message {
        Message::Started(_) => assert!(fragments.is_empty()),
        Message::Fragment(fragment) => fragments.push(fragment),
        Message::Exchanges(_) => panic!("nobody asked for single exchanges"),
        Message::Finished(totals) => accounts = Some(totals),
        Message::Failed(text) => panic!("{text}"),
    })
    .unwrap();
    Outcome {
        fragments,
        accounts: accounts.expect("the last message says that the load finished"),
    }
}

impl Outcome {
    /// The measured side's exchanges of the first step that ended in `class`.
    pub(super) fn count(&self, class: OutcomeClass) -> u64 {
        count(&self.accounts.measured, class)
    }

    /// Why exchanges of the measured side's first step were not answered.
    pub(super) fn reasons(&self) -> BTreeMap<Reason, u64> {
        let mut all = BTreeMap::new();
        for (reason, count) in self.measured().flat_map(|f| &f.steps[0].reasons) {
            *all.entry(*reason).or_default() += count;
        }
        all
    }

    /// All times of a kind and class of the measured side's first step.
    pub(super) fn times(&self, class: OutcomeClass, kind: TimeKind) -> TimeHistogram {
        let series = self
            .measured()
            .filter_map(|fragment| fragment.steps[0].classes.get(&class));
        merged(series.filter_map(|series| series.times.get(&kind)))
    }

    /// All times of a kind of the measured side's iterations.
    pub(super) fn iteration_times(&self, kind: TimeKind) -> TimeHistogram {
        merged(
            self.measured()
                .filter_map(|fragment| fragment.iterations.get(&kind)),
        )
    }

    pub(super) fn measured(&self) -> impl Iterator<Item = &Fragment> {
        self.fragments.iter().filter(|fragment| !fragment.warmup)
    }
}

pub(super) fn count(side: &PhaseAccounts, class: OutcomeClass) -> u64 {
    side.steps[0].classes.get(&class).copied().unwrap_or(0)
}

fn merged<'a>(histograms: impl Iterator<Item = &'a TimeHistogram>) -> TimeHistogram {
    let mut all = TimeHistogram::new();
    histograms.for_each(|histogram| all.merge(histogram));
    all
}
