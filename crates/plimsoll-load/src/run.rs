//! Carrying out a plan: shards on threads of their own, the collector on the caller's.

use crate::arrivals::{Arrivals, Part};
use crate::clock::{Clock, Nanos, nanos};
use crate::collector::{AccountsError, Collector, Phases};
use crate::deal::Deal;
use crate::engine::{self, Shard, ShardError};
use crate::fragment::{LOOKOUT_THREAD, Message, Started};
use crate::plan::{Load, Plan, PlanProblems};
use crate::recorder::{Lost, Recorder, Report, ShardSecond};
use crate::watchdog::{Pulse, Watchdog, Watched, pulse};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::set_name;
use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;
use tokio::sync::watch;

/// From the start of the threads to the start of the load, so that no shard is late for its first arrival.
const LEAD: Duration = Duration::from_millis(50);
/// How many seconds of each shard may wait for the collector; with more, whoever takes the messages has stopped doing so.
const SECONDS_BUFFERED: usize = 20;
/// How many emptied seconds a shard keeps.
const SECONDS_KEPT: usize = 2;

/// Why a plan was not carried out, or its figures cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The plan cannot be carried out.
    #[error("the plan has problems:\n{0}")]
    Plan(#[from] PlanProblems),
    /// No thread, runtime or timer for a shard.
    #[error("a shard could not be started: {0}")]
    Shard(#[source] io::Error),
    /// Nobody took the messages.
    #[error("fragments were not taken for {SECONDS_BUFFERED} s, so figures were lost")]
    NotTaken,
    /// The accounts do not add up: an error of the generator.
    #[error("internal error in the accounts: {0}")]
    Accounts(String),
}

impl From<AccountsError> for LoadError {
    fn from(error: AccountsError) -> Self {
        Self::Accounts(error.to_string())
    }
}

/// Carries out a plan: blocks until the load has ended, and calls `emit` with every message in order on the calling thread.
///
/// `stop` becoming `true` ends the load early: no further iteration starts, those under way get one second. `emit` must return within
/// seconds. The process's limit of descriptors is raised to its hard limit.
///
/// # Errors
/// [`LoadError`]; [`Message::Failed`] has been emitted then as the last message, with the same text.
pub fn run(
    plan: Plan,
    stop: watch::Receiver<bool>,
    emit: &mut dyn FnMut(Message),
) -> Result<(), LoadError> {
    let result = carry_out(plan, &stop, emit);
    if let Err(error) = &result {
        emit(Message::Failed(error.to_string()));
    }
    result
}

fn carry_out(
    plan: Plan,
    stop: &watch::Receiver<bool>,
    emit: &mut dyn FnMut(Message),
) -> Result<(), LoadError> {
    plan.check()?;
    raise_descriptor_limit();
    let deal = Deal::of(&plan);
    let clock = Clock::starting_in(LEAD);
    let phases = Phases {
        warmup: nanos(plan.warmup),
        end: nanos(plan.total()),
    };
    emit(Message::Started(Started {
        shards: deal.shards,
        users: plan.users(),
        start_monotonic_ns: clock.absolute(0),
    }));
    let checks = plan
        .steps
        .iter()
        .map(|step| step.check.status.is_some())
        .collect();
    let collector = Collector::new(phases, deal, checks, schedule(&plan));
    let Recording {
        recorders,
        watched,
        sender,
        reports,
        emptied,
    } = recording(&plan, deal);
    let watchdog = Watchdog {
        clock,
        warmup: phases.warmup,
        shards: watched,
        number: deal.threads(),
        reports: sender,
    };
    let stopped = OnceLock::new();
    let accounts = std::thread::scope(|scope| {
        let (plan, stopped) = (&plan, &stopped);
        std::thread::Builder::new()
            .name("watchdog".to_owned())
            .spawn_scoped(scope, || watchdog.watch())
            .map_err(LoadError::Shard)?;
        let engine = std::thread::Builder::new()
            .name("engine".to_owned())
            .spawn_scoped(scope, move || {
                run_engine(plan, deal, clock, stop, recorders, stopped)
            })
            .map_err(LoadError::Shard)?;
        let accounts = collector.collect(
            reports,
            &emptied,
            || stopped.get().copied(),
            &mut |fragment| emit(Message::Fragment(fragment)),
        );
        // A panic of a shard is an error of this program: pass it on.
        match engine.join() {
            Ok(ended) => ended?,
            Err(panic) => std::panic::resume_unwind(panic),
        }
        accounts.map_err(LoadError::from)
    })?;
    emit(Message::Finished(accounts));
    Ok(())
}

/// What a shard takes with it to its thread. Locked once, there.
type Slot = Mutex<Option<(Recorder, Pulse)>>;

/// How shards and watchdog say what happens.
struct Recording {
    /// One per thread.
    recorders: Vec<Slot>,
    /// One per shard, for the watchdog. None of the lookout: so little rests on it that its standing still is no stall of the
    /// generator, and its own lateness is recorded with each of its arrivals.
    watched: Vec<Watched>,
    /// For the watchdog.
    sender: SyncSender<Report>,
    /// For the collector.
    reports: Receiver<Report>,
    /// Where emptied seconds go, by thread.
    emptied: Vec<SyncSender<Box<ShardSecond>>>,
}

fn recording(plan: &Plan, deal: Deal) -> Recording {
    let threads = deal.threads();
    let (sender, reports) = sync_channel((threads + 1) * SECONDS_BUFFERED);
    let mut watched = Vec::with_capacity(threads);
    let mut recorders = Vec::with_capacity(threads);
    let mut emptied = Vec::with_capacity(threads);
    for thread in 0..threads {
        let (give_back, take_back) = sync_channel(SECONDS_KEPT);
        let recorder = Recorder::new(
            thread,
            nanos(plan.warmup),
            plan.steps.len(),
            sender.clone(),
            take_back,
        );
        let (pulse, of_pulse) = pulse();
        recorders.push(Mutex::new(Some((recorder, pulse))));
        if deal.lookout() != Some(thread) {
            watched.push(of_pulse);
        }
        emptied.push(give_back);
    }
    Recording {
        recorders,
        watched,
        sender,
        reports,
        emptied,
    }
}

fn run_engine(
    plan: &Plan,
    deal: Deal,
    clock: Clock,
    stop: &watch::Receiver<bool>,
    recorders: Vec<Slot>,
    stopped: &OnceLock<Nanos>,
) -> Result<(), LoadError> {
    // Owned here, so that the recorders and with them the channel are gone when the shards are, and the watchdog knows.
    let recorders = recorders;
    let results = plimsoll_http::shard::run_shards(deal.threads(), "load", |thread| {
        if deal.lookout() == Some(thread) && set_name(LOOKOUT_THREAD).is_err() {
            // It is then taken for a shard by whoever looks at threads.
        }
        let (recorder, pulse) = recorders[thread]
            .lock()
            .ok()
            .and_then(|mut slot| slot.take())
            .expect("invariant: each shard takes its recorder once");
        let shard = Shard {
            plan,
            deal,
            thread,
            clock,
            recorder,
            pulse,
            stopped,
        };
        engine::run_shard(shard, stop.clone())
    })
    .map_err(LoadError::Shard)?;
    for result in results {
        match result {
            Ok(()) | Err(ShardError::Lost(Lost::NoCollector)) => {}
            Err(ShardError::Timer(error)) => return Err(LoadError::Shard(error)),
            Err(ShardError::Lost(Lost::NotTaken)) => return Err(LoadError::NotTaken),
        }
    }
    Ok(())
}

/// Every arrival of the plan, whichever shard releases it.
fn schedule(plan: &Plan) -> Option<Arrivals> {
    match plan.load {
        Load::Open { profile, .. } => {
            Some(Arrivals::new(profile, plan.seed, plan.total(), Part::All))
        }
        Load::Closed { .. } => None,
    }
}

/// Virtual users are connections, and connections are descriptors. When this fails, what is missing shows as `exhausted`.
fn raise_descriptor_limit() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: maximum,
        maximum,
    };
    if current != maximum && setrlimit(Resource::Nofile, raised).is_err() {
        // Not permitted here: the run goes on with what there is.
    }
}
