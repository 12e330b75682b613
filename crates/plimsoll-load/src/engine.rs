//! One shard at work: virtual users as tasks of one thread, and the pacer that gives them iterations in time.
//!
//! Everything of a shard lives on its thread and is reached through one [`Stage`]; no borrow of it is held across an `await`. What
//! happens is told to the recorder; what it means is left to others.

mod deadline;
mod dispatch;
mod exchange;
mod request;
mod stage;
mod timer;
mod user;

#[cfg(test)]
mod tests;

use crate::arrivals::Arrivals;
use crate::clock::{Clock, Nanos, nanos};
use crate::deal::Deal;
use crate::plan::{Load, Plan};
use crate::recorder::{Lost, Recorder};
use crate::watchdog::Pulse;
use dispatch::Dispatch;
use stage::Stage;
use std::io;
use std::rc::Rc;
use std::sync::OnceLock;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinSet;
use user::User;

/// What exchanges under way get when the load is stopped before its time.
const STOP_GRACE: Duration = Duration::from_secs(1);

/// What a shard, or the lookout, needs to begin.
#[derive(Debug)]
pub(crate) struct Shard<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) deal: Deal,
    /// Which thread of the deal.
    pub(crate) thread: usize,
    pub(crate) clock: Clock,
    pub(crate) recorder: Recorder,
    pub(crate) pulse: Pulse,
    /// Where arrivals ended, if that was before the plan's end; set by the first shard that stops.
    pub(crate) stopped: &'a OnceLock<Nanos>,
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
    let numbers = shard.deal.users(shard.plan.users(), shard.thread);
    let stopped = shard.stopped;
    let stage = Rc::new(open_stage(shard, numbers.len()).map_err(ShardError::Timer)?);
    stage.started().await;
    let mut users = JoinSet::new();
    for (slot, number) in numbers.into_iter().enumerate() {
        users.spawn_local(User::new(Rc::clone(&stage), slot, number).run());
    }
    let mut stopping = false;
    let result = loop {
        tokio::select! {
            biased;
            () = ended(&mut users) => break Ok(()),
            () = stop_requested(&mut stop), if !stopping => {
                stopping = true;
                if let Some(now) = stage.stop(nanos(STOP_GRACE)) {
                    stopped.get_or_init(|| now);
                }
            }
            result = stage.pace() => break result,
        }
    };
    // Users that are still at it are cut off; each says so to the recorder as it is dropped.
    users.abort_all();
    ended(&mut users).await;
    stage.finish();
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

fn open_stage(shard: Shard<'_>, users: usize) -> io::Result<Stage> {
    let Shard {
        plan,
        deal,
        thread,
        clock,
        recorder,
        pulse,
        ..
    } = shard;
    let dispatch = match plan.load {
        Load::Open { profile, queue, .. } => {
            let part = deal.arrivals(thread);
            let arrivals = Arrivals::new(profile, plan.seed, plan.total(), part);
            Dispatch::open(arrivals, deal.queue(queue, thread), users)
        }
        Load::Closed { .. } => Dispatch::closed(users),
    };
    Stage::open(plan, clock, dispatch, recorder, pulse)
}
