//! Carrying out a plan: shards on threads of their own, the collector on the caller's.

use crate::arrivals::early_end::EarlyEnd;
use crate::arrivals::{Arrivals, SchedulePart, scenario_seed};
use crate::clock::{Clock, nanos};
use crate::engine::{self, Shard, ShardError};
use crate::fragment::{Accounts, CANARY_THREAD, Message, Started};
use crate::partition::Partition;
use crate::plan::{Action, Load, Plan, PlanProblems, Step, steps_of};
use crate::results::collector::{AccountsError, Collector, Names};
use crate::results::exchange::{Exchanges, SINGLE_PER_SECOND};
use crate::results::recorder::{Lost, Phases, Recorder, Report, ShardSecond};
use crate::results::watchdog::{Pulse, Watchdog, Watched, pulse};
use crate::scenario::{Feeder, Program};
use crate::security::Security;
use plimsoll_base::ignored::Ignored as _;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::set_name;
use std::cell::RefCell;
use std::io;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
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
    /// Exchanges were asked for one by one, and there were too many.
    #[error(
        "more than {SINGLE_PER_SECOND} exchanges of a shard ended within a second, too many to tell one by one"
    )]
    TooMany,
    /// Keys or certificates were there when the plan was checked, and are not any more.
    #[error("the host's store of trusted authorities has gone")]
    Security,
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
    if !plan.singly {
        return conclude(carry_out(plan, &stop, emit, None), emit);
    }
    let names = plan.steps.iter().map(|step| {
        let extracted = step.extract.iter();
        extracted.map(|extract| extract.name.clone()).collect()
    });
    let names: Vec<Vec<String>> = names.collect();
    let shared = RefCell::new(&mut *emit);
    let mut left_out = 0;
    let result = carry_out(
        plan,
        &stop,
        &mut |message| shared.borrow_mut()(message),
        Some(&mut |exchanges: &Exchanges| {
            left_out += exchanges.left_out;
            shared.borrow_mut()(Message::Exchanges(exchanges.singly(&names)));
        }),
    );
    let result = match left_out {
        0 => result,
        _ => result.and(Err(LoadError::TooMany)),
    };
    conclude(result, emit)
}

/// Like [`run()`], and calls `each` with the exchanges of every shard and second one by one, as far as
/// [`SINGLE_PER_SECOND`](crate::results::exchange::SINGLE_PER_SECOND) allows.
///
/// # Errors
/// As of [`run()`].
pub fn run_singly(
    plan: Plan,
    stop: watch::Receiver<bool>,
    emit: &mut dyn FnMut(Message),
    each: &mut dyn FnMut(&Exchanges),
) -> Result<(), LoadError> {
    conclude(carry_out(plan, &stop, emit, Some(each)), emit)
}

/// An error is said, too.
fn conclude(result: Result<(), LoadError>, emit: &mut dyn FnMut(Message)) -> Result<(), LoadError> {
    if let Err(error) = &result {
        emit(Message::Failed(error.to_string()));
    }
    result
}

fn carry_out(
    plan: Plan,
    stop: &watch::Receiver<bool>,
    emit: &mut dyn FnMut(Message),
    each: Option<&mut dyn FnMut(&Exchanges)>,
) -> Result<(), LoadError> {
    plan.check()?;
    let program = Arc::new(compile(&plan)?);
    raise_descriptor_limit();
    let partition = Partition::of(&plan);
    let security =
        Security::new(&plan.connections, plan.users()).map_err(|_| LoadError::Security)?;
    let clock = Clock::starting_in(LEAD);
    let phases = Phases {
        warmup: nanos(plan.warmup),
        end: nanos(plan.total()),
    };
    emit(Message::Started(Started {
        shards: partition.shards,
        users: plan.users(),
        start_monotonic_ns: clock.absolute(0),
    }));
    let collector = Collector::new(phases, &partition, names(&plan, &program), schedule(&plan));
    let Recording {
        recorders,
        watched,
        sender,
        reports,
        emptied,
    } = recording(&plan, &partition, phases, each.is_some());
    let watchdog = Watchdog {
        clock,
        warmup: phases.warmup,
        shards: watched,
        number: partition.threads(),
        reports: sender,
    };
    let early_end = EarlyEnd::new(partition.threads());
    let accounts = std::thread::scope(|scope| {
        let (plan, partition, security, early_end, program) =
            (&plan, &partition, &security, &early_end, &program);
        std::thread::Builder::new()
            .name("watchdog".to_owned())
            .spawn_scoped(scope, || watchdog.watch())
            .map_err(LoadError::Shard)?;
        let engine = std::thread::Builder::new()
            .name("engine".to_owned())
            .spawn_scoped(scope, move || {
                let parts = Parts {
                    plan,
                    partition,
                    security,
                    program,
                    clock,
                    early_end,
                };
                run_engine(parts, stop, recorders)
            })
            .map_err(LoadError::Shard)?;
        let accounts = collector.collect(
            reports,
            &emptied,
            || early_end.at(),
            &mut |fragment| emit(Message::Fragment(fragment)),
            each,
        );
        // A panic of a shard is an error of this program: pass it on.
        engine.join().unwrap_or_else(|panic| resume_unwind(panic))?;
        accounts.map_err(LoadError::from)
    })?;
    let ended = program.feeders.iter().filter_map(Feeder::end);
    emit(Message::Finished(Accounts {
        feeders_ended: ended.collect(),
        ..accounts
    }));
    Ok(())
}

/// State that a shard takes with it to its thread. Locked once, there.
type Slot = Mutex<Option<(Recorder, Pulse)>>;

/// How shards and watchdog say what happens.
struct Recording {
    /// One per thread.
    recorders: Vec<Slot>,
    /// One per shard, for the watchdog. None of the canary: so little rests on it that its standing still is no stall of the
    /// generator, and its own lateness is recorded with each of its arrivals.
    watched: Vec<Watched>,
    /// For the watchdog.
    sender: SyncSender<Report>,
    /// For the collector.
    reports: Receiver<Report>,
    /// Where emptied seconds go, by thread.
    emptied: Vec<SyncSender<Box<ShardSecond>>>,
}

fn recording(plan: &Plan, partition: &Partition, phases: Phases, singly: bool) -> Recording {
    let threads = partition.threads();
    let (sender, reports) = sync_channel((threads + 1) * SECONDS_BUFFERED);
    let mut watched = Vec::with_capacity(threads);
    let mut recorders = Vec::with_capacity(threads);
    let mut emptied = Vec::with_capacity(threads);
    for thread in 0..threads {
        let (give_back, take_back) = sync_channel(SECONDS_KEPT);
        let mut recorder = Recorder::new(
            thread,
            phases,
            &further_checks(plan),
            sender.clone(),
            take_back,
        );
        if singly {
            recorder.keep_exchanges();
        }
        let (pulse, of_pulse) = pulse();
        recorders.push(Mutex::new(Some((recorder, pulse))));
        if partition.canary() != Some(thread) {
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

/// State that all shards share.
#[derive(Clone, Copy)]
struct Parts<'a> {
    plan: &'a Plan,
    partition: &'a Partition,
    security: &'a Security,
    program: &'a Arc<Program>,
    clock: Clock,
    early_end: &'a EarlyEnd,
}

/// The plan was checked, and checking it compiles it; so this finds nothing that the check has not.
fn compile(plan: &Plan) -> Result<Program, LoadError> {
    Program::compile(plan).map_err(|problems| LoadError::Plan(PlanProblems(problems)))
}

fn run_engine(
    parts: Parts<'_>,
    stop: &watch::Receiver<bool>,
    recorders: Vec<Slot>,
) -> Result<(), LoadError> {
    let Parts {
        plan,
        partition,
        security,
        program,
        clock,
        early_end,
    } = parts;
    // Owned here, so that the recorders and with them the channel are gone when the shards are, and the watchdog knows.
    let recorders = recorders;
    let results = plimsoll_http::shard::run_shards(partition.threads(), "load", |thread| {
        if partition.canary() == Some(thread) {
            set_name(CANARY_THREAD)
                .ignored("it is then taken for a shard by whoever looks at threads");
        }
        let (recorder, pulse) = recorders[thread]
            .lock()
            .ok()
            .and_then(|mut slot| slot.take())
            .expect("invariant: each shard takes its recorder once");
        let shard = Shard {
            plan,
            partition,
            security,
            thread,
            clock,
            recorder,
            pulse,
            early_end,
            program,
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

/// The steps with one of which every iteration begins; none, if one may begin without, or have one of them twice.
fn firsts(plan: &Plan) -> Vec<usize> {
    let mut uses = vec![0_usize; plan.steps.len()];
    for scenario in &plan.scenarios {
        steps_of(&scenario.program, &mut |step| uses[step] += 1);
    }
    let mut firsts = Vec::new();
    for scenario in &plan.scenarios {
        if first_of(&scenario.program, &mut firsts).is_none() {
            return Vec::new();
        }
    }
    if firsts.iter().any(|step| uses[*step] > 1) {
        firsts.clear();
    }
    firsts
}

/// Adds the steps with one of which these actions begin; `None`, if they may begin without, or go through one of them again.
fn first_of(actions: &[Action], firsts: &mut Vec<usize>) -> Option<()> {
    match actions.first()? {
        Action::Step(step) => {
            firsts.push(*step);
            Some(())
        }
        Action::Group { actions, .. } => first_of(actions, firsts),
        Action::Mix(choices) => choices
            .iter()
            .try_for_each(|choice| first_of(&choice.actions, firsts)),
        Action::Pause(_) | Action::Repeat { .. } | Action::If { .. } => None,
    }
}

fn names(plan: &Plan, program: &Program) -> Names {
    Names {
        checks: plan.steps.iter().map(Step::checks).collect(),
        groups: program.groups.clone(),
        firsts: firsts(plan),
    }
}

/// By step: how many checks it has, unless its status alone is looked at.
fn further_checks(plan: &Plan) -> Vec<usize> {
    let count = |step: &Step| {
        let checks = step.checks().len();
        if checks == usize::from(step.check.status.is_some()) {
            0
        } else {
            checks
        }
    };
    plan.steps.iter().map(count).collect()
}

/// When every arrival of the plan comes, by scenario, whichever shard releases it; nothing where users of the closed model make their own.
fn schedule(plan: &Plan) -> Vec<Arrivals> {
    let scenarios = plan.scenarios.iter().enumerate();
    let schedules = scenarios.map(|(index, scenario)| match &scenario.load {
        Load::Open { profile, .. } => {
            let seed = scenario_seed(plan.seed, index);
            Some(Arrivals::new(
                profile,
                seed,
                plan.total(),
                SchedulePart::All,
            ))
        }
        Load::Closed { .. } => None,
    });
    schedules.collect::<Option<_>>().unwrap_or_default()
}

/// Virtual users are connections, and connections are descriptors. When this fails, what is missing shows as `exhausted`.
fn raise_descriptor_limit() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: maximum,
        maximum,
    };
    if current != maximum {
        setrlimit(Resource::Nofile, raised)
            .ignored("not permitted here: the run goes on with what there is");
    }
}
