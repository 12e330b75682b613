//! Faults during a load: each is injected at its moment, its effect proved, and then healed, and that is proved too.
//!
//! ```text
//! ahead --at--> (who leads?) inject --proved or not--> open --for--> heal --proved or not--> over
//! ```
//!
//! A kind of fault is one file under `fault/kind/`. Nothing here waits: a step takes what it needs of the topology and goes on
//! beside the load, whose loop asks [`Script::next`] for the next that has ended.

mod aim;
mod callers;
mod conversation;
mod course;
mod kind;

pub(crate) use aim::{Aim, pick};
pub use kind::check;
pub(crate) use kind::check_foreign;

use crate::clock::passed;
use crate::error::LabError;
use crate::record::recorder::{Recorder, Scene};
use crate::topology::component::{Started, Topology};
use callers::Callers;
use course::{Course, Phase, Waiting};
use plimsoll_experiment::Fault;
use plimsoll_load::fragment::Fragment;
use plimsoll_load::plan::Plan;
use plimsoll_report::record::{ArmData, FaultRow};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Instant;

/// How soon a fault whose target is still broken looks again.
const AGAIN_AFTER: Duration = Duration::from_millis(10);

/// Result of a step of a fault.
pub(crate) struct Outcome {
    /// The proof, or why there is none.
    pub(crate) proof: Result<String, String>,
    /// Components that were started anew, by their names.
    pub(crate) started: Vec<(String, Started)>,
}

impl From<Result<String, String>> for Outcome {
    fn from(proof: Result<String, String>) -> Self {
        Self {
            proof,
            started: Vec::new(),
        }
    }
}

/// A step under way.
pub(crate) type Step = Pin<Box<dyn Future<Output = Outcome>>>;

/// A step that does nothing but this.
pub(crate) fn step(proof: impl Future<Output = Result<String, String>> + 'static) -> Step {
    Box::pin(async { proof.await.into() })
}

/// The faults of one load.
pub(crate) struct Script {
    courses: Vec<Course>,
    undisturbed: Callers,
}

/// A course that has to go on: by its place, with the outcome of a step if it was one.
pub(crate) struct Due {
    place: usize,
    outcome: Option<Outcome>,
}

impl Script {
    /// The faults of a load by this plan. None has a moment before [`Self::begin`].
    /// `aim`: who chooses whom they break, where the file does not say it.
    pub(crate) fn new(
        (faults, aim): (&[Fault], Option<&Aim>),
        block: u32,
        plan: &Plan,
        data: &ArmData,
    ) -> Self {
        let callers = || Callers::new(data, plan, block);
        let courses = faults
            .iter()
            .map(|fault| Course::new(fault, aim, callers()));
        Self {
            courses: courses.collect(),
            undisturbed: callers(),
        }
    }

    /// Says when the measured time begins, from which moments are counted.
    pub(crate) fn begin(&mut self, measured: Instant) {
        for course in &mut self.courses {
            course.waiting = Some(Waiting::Moment(measured + course.fault.at));
        }
    }

    /// Whether something is broken on purpose, or was until a moment ago.
    pub(crate) fn is_open(&self) -> bool {
        self.courses.iter().any(Course::is_open)
    }

    /// The row of the first fault, once it is over.
    pub(crate) fn row_over(&self) -> Option<&FaultRow> {
        let first = self.courses.first()?;
        first.row.as_ref().filter(|_| first.phase == Phase::Over)
    }

    /// Waits for the next course that has to go on. May be dropped and called again; pending while there is none.
    pub(crate) async fn next(&mut self) -> Due {
        loop {
            let soonest = self.courses.iter().filter_map(Course::until).min();
            tokio::select! {
                due = poll_fn(|context| self.poll_due(context)) => return due,
                () = passed(soonest) => {}
            }
        }
    }

    fn poll_due(&mut self, context: &mut Context<'_>) -> Poll<Due> {
        for (place, course) in self.courses.iter_mut().enumerate() {
            if let Poll::Ready(outcome) = course.poll(context) {
                return Poll::Ready(Due { place, outcome });
            }
        }
        Poll::Pending
    }

    /// Goes on with a course.
    ///
    /// # Errors
    /// [`LabError::NotHealed`] where something may be left of it, and [`LabError::Storage`].
    pub(crate) fn go_on(
        &mut self,
        due: Due,
        scene: &Scene,
        topology: &mut Topology<'_>,
        recorder: &mut Recorder<'_>,
    ) -> Result<(), LabError> {
        if self.is_taken(due.place, topology) {
            self.courses[due.place].waiting = Some(Waiting::Moment(Instant::now() + AGAIN_AFTER));
            return Ok(());
        }
        let Some(course) = self.courses.get_mut(due.place) else {
            return Ok(());
        };
        course.go_on(due.outcome, scene, topology, recorder)
    }

    /// Whether the thing that a fault ahead breaks is not healed yet of another.
    fn is_taken(&self, place: usize, topology: &Topology<'_>) -> bool {
        let Some(ahead) = self
            .courses
            .get(place)
            .filter(|it| it.phase == Phase::Ahead)
        else {
            return false;
        };
        let mut open = self.courses.iter().filter(|course| course.is_open());
        open.any(|course| topology.touch(&course.fault.kind, &ahead.fault.kind))
    }

    /// Takes a fragment into account that begins at `start` and ends at `end`, in seconds since the run began: it is of the faults that it
    /// touches, or of none.
    pub(crate) fn add(&mut self, fragment: &Fragment, start: f64, end: f64) {
        let mut disturbed = false;
        for course in &mut self.courses {
            let Some(row) = &course.row else {
                continue;
            };
            let is_over = course.phase == Phase::Over;
            if row.injected < end && (!is_over || row.end() > start) {
                disturbed = true;
                course.callers.add(fragment);
            }
        }
        if !disturbed {
            self.undisturbed.add(fragment);
        }
    }

    /// Heals what is still broken, because the load is over, and gives what happened.
    ///
    /// # Errors
    /// As of [`Self::go_on`].
    pub(crate) async fn close(
        &mut self,
        scene: &Scene,
        topology: &mut Topology<'_>,
        recorder: &mut Recorder<'_>,
    ) -> Result<(), LabError> {
        let mut first = Ok(());
        for course in &mut self.courses {
            match course.phase {
                Phase::Ahead | Phase::Aiming => course.waiting = None,
                Phase::Open => course.waiting = Some(Waiting::Moment(Instant::now())),
                Phase::Injecting | Phase::Healing | Phase::Over => {}
            }
        }
        while self.is_open() {
            let due = self.next().await;
            let place = due.place;
            let done = self.go_on(due, scene, topology, recorder);
            if let Some(course) = self.courses.get_mut(place)
                && course.phase == Phase::Open
            {
                course.waiting = Some(Waiting::Moment(Instant::now()));
            }
            first = first.and(done);
        }
        first
    }

    /// The faults that happened, and the figures of the seconds without any; `was_stopped`: the load ended before its time.
    pub(crate) fn over(
        self,
        scene: &Scene,
        was_stopped: bool,
    ) -> (Vec<FaultRow>, Option<Box<ArmData>>) {
        if self.courses.is_empty() {
            return (Vec::new(), None);
        }
        let courses = self.courses.into_iter();
        let rows = courses.filter_map(|course| course.over(scene, was_stopped));
        (rows.collect(), Some(Box::new(self.undisturbed.into_data())))
    }
}
