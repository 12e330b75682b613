//! Faults during a load: each is injected at its moment, its effect proved, and then healed, and that is proved too.
//!
//! ```text
//! ahead --at--> inject --proved or not--> open --for--> heal --proved or not--> over
//! ```
//!
//! A kind of fault is one file under `fault/kind/`. Nothing here waits: a step takes what it needs of the topology and goes on
//! beside the load, whose loop asks [`Script::next`] for the next that has ended.

mod callers;
mod kind;

pub(crate) use kind::check;

use crate::error::LabError;
use crate::progress::Progress;
use crate::record::recorder::{Recorder, Scene};
use crate::topology::component::{Started, Topology};
use callers::Callers;
use kind::Kind;
use plimsoll_experiment::{Experiment, Fault};
use plimsoll_load::fragment::Fragment;
use plimsoll_load::plan::Plan;
use plimsoll_report::record::{ArmData, CallerFigures, EventKind, FaultRow};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// How long a step of a fault may take before it counts as failed.
const PATIENCE: Duration = Duration::from_secs(30);
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

/// Something that a course waits for.
enum Waiting {
    /// Its moment.
    Moment(Instant),
    /// A step.
    Step(Step, Instant),
}

/// Where a course stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Ahead,
    Injecting,
    Open,
    Healing,
    Over,
}

/// A fault on its way.
struct Course {
    fault: Fault,
    kind: Box<dyn Kind>,
    phase: Phase,
    waiting: Option<Waiting>,
    /// When it is to be healed, from its injection on.
    until: Instant,
    /// From its injection on.
    row: Option<FaultRow>,
    callers: Callers,
    /// The number of its undo with the warden.
    undo: Option<u64>,
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
    /// The faults of an arm's load by this plan. None has a moment before [`Self::begin`].
    pub(crate) fn new(
        experiment: &Experiment,
        arm: &str,
        block: u32,
        plan: &Plan,
        data: &ArmData,
    ) -> Self {
        let callers = || Callers::new(data, plan, block);
        let faults = experiment.faults.iter().filter(|fault| fault.is_of(arm));
        let courses = faults.map(|fault| Course {
            kind: kind::of(fault),
            fault: fault.clone(),
            phase: Phase::Ahead,
            waiting: None,
            until: Instant::now(),
            row: None,
            callers: callers(),
            undo: None,
        });
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
        let mut phases = self.courses.iter().map(|course| course.phase);
        phases.any(|phase| !matches!(phase, Phase::Ahead | Phase::Over))
    }

    /// Waits for the next course that has to go on. May be dropped and called again; pending while there is none.
    pub(crate) async fn next(&mut self) -> Due {
        let mut moment = self.soonest();
        poll_fn(|context| {
            for (place, course) in self.courses.iter_mut().enumerate() {
                match &mut course.waiting {
                    Some(Waiting::Moment(at)) if *at <= Instant::now() => {
                        course.waiting = None;
                        return Poll::Ready(Due {
                            place,
                            outcome: None,
                        });
                    }
                    Some(Waiting::Step(step, until)) => {
                        let outcome = match step.as_mut().poll(context) {
                            Poll::Ready(outcome) => outcome,
                            Poll::Pending if *until <= Instant::now() => Err(format!(
                                "nothing was certain within {} s",
                                PATIENCE.as_secs()
                            ))
                            .into(),
                            Poll::Pending => continue,
                        };
                        course.waiting = None;
                        return Poll::Ready(Due {
                            place,
                            outcome: Some(outcome),
                        });
                    }
                    _ => {}
                }
            }
            match &mut moment {
                Some(moment) => moment.as_mut().poll(context).map(|()| None),
                None => Poll::Pending,
            }
            .map(|due: Option<Due>| {
                due.unwrap_or(Due {
                    place: usize::MAX,
                    outcome: None,
                })
            })
        })
        .await
    }

    /// The soonest moment that something waits for.
    fn soonest(&self) -> Option<Pin<Box<tokio::time::Sleep>>> {
        let moments = self
            .courses
            .iter()
            .filter_map(|course| match &course.waiting {
                Some(Waiting::Moment(at) | Waiting::Step(_, at)) => Some(*at),
                None => None,
            });
        moments.min().map(|at| Box::pin(sleep_until(at)))
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
        if self.is_taken(due.place) {
            self.courses[due.place].waiting = Some(Waiting::Moment(Instant::now() + AGAIN_AFTER));
            return Ok(());
        }
        let Some(course) = self.courses.get_mut(due.place) else {
            return Ok(());
        };
        course.go_on(due.outcome, scene, topology, recorder)
    }

    /// Whether the thing that a fault ahead breaks is not healed yet of another.
    fn is_taken(&self, place: usize) -> bool {
        let Some(ahead) = self
            .courses
            .get(place)
            .filter(|it| it.phase == Phase::Ahead)
        else {
            return false;
        };
        let target = ahead.fault.kind.target();
        let mut open = (self.courses.iter())
            .filter(|course| !matches!(course.phase, Phase::Ahead | Phase::Over));
        target.is_some() && open.any(|course| course.fault.kind.target() == target)
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
                Phase::Ahead => course.waiting = None,
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

    /// The faults that happened, and the figures of the seconds without any.
    pub(crate) fn over(self) -> (Vec<FaultRow>, Option<Box<ArmData>>) {
        if self.courses.is_empty() {
            return (Vec::new(), None);
        }
        let rows = self.courses.into_iter().filter_map(|course| {
            Some(FaultRow {
                callers: course.callers.figures(),
                ..course.row?
            })
        });
        (rows.collect(), Some(Box::new(self.undisturbed.into_data())))
    }
}

impl Course {
    fn go_on(
        &mut self,
        outcome: Option<Outcome>,
        scene: &Scene,
        topology: &mut Topology<'_>,
        recorder: &mut Recorder<'_>,
    ) -> Result<(), LabError> {
        let now = recorder.now();
        match (self.phase, outcome) {
            (Phase::Ahead, _) => self.inject(now, scene, topology, recorder),
            (Phase::Injecting, Some(outcome)) => {
                let (event, said) = self.injected(now, outcome, topology);
                self.tell(event, &said, now, scene, recorder)
            }
            (Phase::Open, _) => {
                if let Some(row) = &mut self.row {
                    row.heal_begun = now;
                }
                if let Some(why) = self.kind.unexercised() {
                    self.unproved(&why);
                    self.tell(EventKind::FaultNotProved, &why, now, scene, recorder)?;
                }
                self.phase = Phase::Healing;
                let healing = self.kind.heal(topology);
                self.waiting = Some(Waiting::Step(healing, Instant::now() + PATIENCE));
                Ok(())
            }
            (Phase::Healing, Some(outcome)) => self.healed(now, outcome, scene, topology, recorder),
            _ => Ok(()),
        }
    }

    fn inject(
        &mut self,
        now: f64,
        scene: &Scene,
        topology: &mut Topology<'_>,
        recorder: &mut Recorder<'_>,
    ) -> Result<(), LabError> {
        self.phase = Phase::Injecting;
        self.until = Instant::now() + self.fault.lasts;
        self.row = Some(FaultRow {
            name: self.fault.name.clone(),
            kind: self.fault.kind.word().to_owned(),
            target: self.fault.kind.target(),
            arm: scene.arm.clone(),
            block: scene.block,
            injected: now,
            proved: None,
            effect: String::new(),
            heal_begun: now,
            healed: None,
            heal: String::new(),
            callers: CallerFigures::default(),
        });
        self.tell(
            EventKind::FaultInjected,
            "is injected",
            now,
            scene,
            recorder,
        )?;
        let prepared = self.kind.undo(topology).and_then(|undo| match undo {
            Some(undo) => {
                let number = recorder
                    .open_undo(&self.fault.name, &undo)
                    .map_err(|e| e.to_string())?;
                self.undo = Some(number);
                topology
                    .warden()
                    .map_err(|e| e.to_string())?
                    .open(number, &self.fault.name, &undo)
            }
            None => Ok(()),
        });
        let injecting = match prepared {
            Ok(()) => self.kind.inject(topology),
            Err(why) => step(async move { Err(format!("it was not injected: {why}")) }),
        };
        self.waiting = Some(Waiting::Step(injecting, Instant::now() + PATIENCE));
        Ok(())
    }

    /// The fault is there, or not: until its end, in any case.
    fn injected(
        &mut self,
        now: f64,
        outcome: Outcome,
        topology: &mut Topology<'_>,
    ) -> (EventKind, String) {
        self.phase = Phase::Open;
        for (name, started) in outcome.started {
            topology.adopt(&name, started);
        }
        let until = match &outcome.proof {
            Ok(_) => self.until,
            // There is nothing to wait for.
            Err(_) => Instant::now(),
        };
        self.waiting = Some(Waiting::Moment(until));
        match outcome.proof {
            Ok(proof) => {
                if let Some(row) = &mut self.row {
                    row.proved = Some(now);
                    row.effect.clone_from(&proof);
                }
                (EventKind::FaultProved, format!("has its effect: {proof}"))
            }
            Err(why) => {
                self.unproved(&why);
                (
                    EventKind::FaultNotProved,
                    format!("has no proved effect: {why}"),
                )
            }
        }
    }

    fn unproved(&mut self, why: &str) {
        if let Some(row) = &mut self.row {
            row.proved = None;
            why.clone_into(&mut row.effect);
        }
    }

    fn healed(
        &mut self,
        now: f64,
        outcome: Outcome,
        scene: &Scene,
        topology: &mut Topology<'_>,
        recorder: &mut Recorder<'_>,
    ) -> Result<(), LabError> {
        self.phase = Phase::Over;
        for (name, started) in outcome.started {
            topology.adopt(&name, started);
        }
        let (event, said) = match outcome.proof {
            Ok(proof) => {
                if let Some(row) = &mut self.row {
                    row.healed = Some(now);
                    row.heal.clone_from(&proof);
                }
                (EventKind::FaultHealed, format!("is healed: {proof}"))
            }
            Err(why) => {
                if let Some(row) = &mut self.row {
                    row.heal.clone_from(&why);
                }
                (EventKind::FaultNotHealed, why)
            }
        };
        self.tell(event, &said, now, scene, recorder)?;
        if event == EventKind::FaultNotHealed {
            return Err(LabError::NotHealed {
                fault: self.fault.name.clone(),
                reason: said,
                run: recorder.dir().root().to_owned(),
            });
        }
        if let Some(number) = self.undo.take() {
            topology
                .warden()?
                .close(number)
                .map_err(LabError::Internal)?;
            recorder.close_undo(number)?;
        }
        Ok(())
    }

    fn tell(
        &self,
        event: EventKind,
        said: &str,
        now: f64,
        scene: &Scene,
        recorder: &mut Recorder<'_>,
    ) -> Result<(), LabError> {
        let target = self.fault.kind.target();
        let what = target.map_or_else(String::new, |target| format!(" {target}"));
        let message = format!(
            "fault `{}` ({}{what}) {said}",
            self.fault.name,
            self.fault.kind.word()
        );
        recorder.load_event(event, scene, now, &message)?;
        recorder.tell(Progress::Note(message));
        Ok(())
    }
}
