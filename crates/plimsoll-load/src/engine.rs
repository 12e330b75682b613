//! One shard at work: virtual users as tasks of one thread, and the pacer that gives them iterations in time.
//!
//! Everything of a shard lives on its thread and is reached through one [`ShardState`]; no borrow of it is held across an `await`. What
//! happens is told to the recorder; what it means is left to others.

mod batch;
mod cursor;
mod deadlines;
mod dispatch;
mod exchange;
mod form;
mod network;
mod progress;
mod reason;
mod request;
mod rounds;
mod shard_state;
mod transport;
mod user;
mod within;

#[cfg(test)]
mod tests;

use crate::arrivals::early_end::EarlyEnd;
use crate::arrivals::{Arrivals, scenario_seed};
use crate::clock::{Clock, nanos};
use crate::partition::{Partition, UserSlot};
use crate::plan::{Load, Plan};
use crate::results::recorder::{Lost, Recorder};
use crate::results::watchdog::Pulse;
use crate::scenario::Program;
use crate::security::Security;
use dispatch::{Dispatch, Start};
use network::Network;
use shard_state::{Paced, ShardState};
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinSet;
use user::User;

/// Time that exchanges under way get when the load is stopped early.
const STOP_GRACE: Duration = Duration::from_secs(1);

/// Everything that a shard, or the canary, needs to begin.
#[derive(Debug)]
pub(crate) struct Shard<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) partition: &'a Partition,
    pub(crate) security: &'a Security,
    /// Which thread of the partition.
    pub(crate) thread: usize,
    pub(crate) clock: Clock,
    pub(crate) recorder: Recorder,
    pub(crate) pulse: Pulse,
    /// Where arrivals ended, if that was before the plan's end.
    pub(crate) early_end: &'a EarlyEnd,
    pub(crate) program: &'a Arc<Program>,
}

/// Why a shard ended before its time.
#[derive(Debug)]
pub(crate) enum ShardError {
    /// It got no timer.
    Timer(io::Error),
    /// It could not hand over its seconds.
    Lost(Lost),
}

/// Runs one shard's part of the plan, on a current-thread runtime inside a `LocalSet`.
///
/// # Errors
/// [`ShardError`]; its users have ended all the same.
pub(crate) async fn run_shard(
    shard: Shard<'_>,
    mut stop: watch::Receiver<bool>,
) -> Result<(), ShardError> {
    let (partition, thread, early_end) = (shard.partition, shard.thread, shard.early_end);
    let seats = partition.seats(thread);
    let begun = partition.begun(thread);
    let shard_state = Rc::new(open_stage(shard, &seats).map_err(ShardError::Timer)?);
    let user = |slot: usize| {
        let mut user = User::new(Rc::clone(&shard_state), slot, seats[slot]);
        async move { user.run().await }
    };
    shard_state.started().await;
    let mut users = JoinSet::new();
    for slot in 0..begun {
        users.spawn_local(user(slot));
    }
    let mut stopping = false;
    let result = loop {
        tokio::select! {
            biased;
            slot = shard_state.newcomer() => {
                users.spawn_local(user(slot));
            }
            () = ended(&mut users) => {
                // What waits for a user of this shard waits in vain.
                shard_state.abandon();
                if seats.is_empty() || shard_state.ran_dry() || shard_state.is_used_up() {
                    early_end.through(shard_state.clock.now());
                }
                break Ok(());
            }
            () = stop_requested(&mut stop), if !stopping => {
                stopping = true;
                shard_state.stop(early_end, nanos(STOP_GRACE));
            }
            result = shard_state.pace() => match result {
                Ok(Paced::Through) => break Ok(()),
                Ok(Paced::Starved) => shard_state.stop(early_end, nanos(STOP_GRACE)),
                Err(error) => break Err(error),
            },
        }
    };
    // Users that are still at it are cut off; each says so to the recorder as it is dropped.
    users.abort_all();
    ended(&mut users).await;
    shard_state.finish();
    result
}

/// Returns when every user has ended; an error of a user is this shard's own.
async fn ended(users: &mut JoinSet<()>) {
    while let Some(result) = users.join_next().await {
        if let Err(error) = result
            && let Ok(panic) = error.try_into_panic()
        {
            std::panic::resume_unwind(panic);
        }
    }
}

/// Returns when the caller wants the load to end; never, when it has gone away without saying so.
async fn stop_requested(stop: &mut watch::Receiver<bool>) {
    if stop.wait_for(|stop| *stop).await.is_err() {
        std::future::pending::<()>().await;
    }
}

fn open_stage(shard: Shard<'_>, seats: &[UserSlot]) -> io::Result<ShardState> {
    let Shard {
        program,
        plan,
        partition,
        security,
        thread,
        clock,
        recorder,
        pulse,
        ..
    } = shard;
    let starts = plan.scenarios.iter().enumerate().map(|(index, scenario)| {
        let users = partition.users(index, thread).count();
        let Load::Open { profile, queue, .. } = &scenario.load else {
            return Start {
                users,
                ..Start::default()
            };
        };
        let (seed, part) = (
            scenario_seed(plan.seed, index),
            partition.arrivals(index, thread),
        );
        Start {
            arrivals: Some(Arrivals::new(profile, seed, plan.total(), part)),
            queue: partition.queue(index, *queue, thread),
            users,
            spare: partition.spare(index, thread).count(),
        }
    });
    let dispatch = Dispatch::new(starts.collect());
    let numbers: Vec<usize> = seats.iter().map(|seat| seat.number).collect();
    let network = Network::new(plan, security, &numbers, partition.connections(thread));
    let mut shard_state = ShardState::open(
        plan,
        Arc::clone(program),
        network,
        clock,
        dispatch,
        recorder,
        pulse,
    )?;
    for (index, scenario) in plan.scenarios.iter().enumerate() {
        if let Some(number) = scenario.iterations {
            shard_state.limit(index, partition.iterations(index, number, thread));
        }
    }
    Ok(shard_state)
}
