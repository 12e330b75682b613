//! A fault on its way: ahead, aiming where roles decide whom it breaks, injecting, open, healing, over.

use super::aim::{Aim, CERTAIN_WITHIN, Unaimed};
use super::callers::Callers;
use super::kind::{self, Kind};
use super::{Outcome, Step, step};
use crate::error::LabError;
use crate::progress::Progress;
use crate::record::recorder::{Recorder, Scene};
use crate::topology::component::Topology;
use plimsoll_experiment::Fault;
use plimsoll_report::record::{CallerFigures, EventKind, FaultRow, Role};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Instant;

/// Something that a course waits for.
pub(super) enum Waiting {
    /// Its moment.
    Moment(Instant),
    /// A step.
    Step(Step, Instant),
}

/// Where a course stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Ahead,
    Aiming,
    Injecting,
    Open,
    Healing,
    Over,
}

/// How long a step of a fault may take before it counts as failed, beyond what a start of a component may.
const PATIENCE: Duration = Duration::from_secs(30);

/// A fault on its way.
pub(super) struct Course {
    pub(super) fault: Fault,
    pub(super) kind: Box<dyn Kind>,
    pub(super) phase: Phase,
    pub(super) waiting: Option<Waiting>,
    /// When it is to be healed, from its injection on.
    until: Instant,
    /// From its injection on.
    pub(super) row: Option<FaultRow>,
    pub(super) callers: Callers,
    /// Who chooses whom it breaks, until that is known.
    aim: Option<Aim>,
    role: Option<Role>,
    /// The number of its undo with the warden.
    undo: Option<u64>,
}

impl Course {
    /// A fault whose moment is not known yet.
    pub(super) fn new(fault: &Fault, aim: Option<&Aim>, callers: Callers) -> Self {
        Self {
            fault: fault.clone(),
            kind: kind::of(fault),
            phase: Phase::Ahead,
            waiting: None,
            until: Instant::now(),
            row: None,
            callers,
            aim: aim.cloned(),
            role: None,
            undo: None,
        }
    }

    /// Whether it is broken, or was until a moment ago.
    pub(super) fn is_open(&self) -> bool {
        !matches!(self.phase, Phase::Ahead | Phase::Aiming | Phase::Over)
    }

    /// When what it waits for has come, or is given up.
    pub(super) fn until(&self) -> Option<Instant> {
        match &self.waiting {
            Some(Waiting::Moment(at) | Waiting::Step(_, at)) => Some(*at),
            None => None,
        }
    }

    /// Whether what it waited for has come: a moment, or a step with its outcome.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Outcome>> {
        let now = Instant::now();
        let outcome = match &mut self.waiting {
            Some(Waiting::Moment(at)) if *at <= now => None,
            Some(Waiting::Step(step, until)) => match step.as_mut().poll(context) {
                Poll::Ready(outcome) => Some(outcome),
                Poll::Pending if *until <= now => {
                    Some(Err("nothing was certain in time".to_owned()).into())
                }
                Poll::Pending => return Poll::Pending,
            },
            _ => return Poll::Pending,
        };
        self.waiting = None;
        Poll::Ready(outcome)
    }

    /// Its row; none of a fault that a stop came before.
    pub(super) fn over(self, scene: &Scene, was_stopped: bool) -> Option<FaultRow> {
        let never = match self.phase {
            Phase::Aiming => {
                "it was never injected: no member was reported as leader until the end"
            }
            _ => "it was never injected: until the end its target was broken by another",
        };
        let row = match self.row {
            Some(row) => row,
            None if was_stopped => return None,
            None => FaultRow {
                effect: never.to_owned(),
                heal: "there was nothing to heal".to_owned(),
                healed: Some(scene.start + scene.total),
                ..Self::row(&self.fault, scene.start + scene.total, scene)
            },
        };
        Some(FaultRow {
            callers: self.callers.figures(),
            ..row
        })
    }

    fn row(fault: &Fault, now: f64, scene: &Scene) -> FaultRow {
        FaultRow {
            name: fault.name.clone(),
            kind: fault.kind.word().to_owned(),
            target: fault.kind.target(),
            role: None,
            arm: scene.arm.clone(),
            block: scene.block,
            injected: now,
            proved: None,
            effect: String::new(),
            heal_begun: now,
            healed: None,
            heal: String::new(),
            callers: CallerFigures::default(),
        }
    }

    /// Goes on, with the outcome of a step if that is what it waited for.
    ///
    /// # Errors
    /// [`LabError::NotHealed`] where something may be left of it, and [`LabError::Storage`].
    pub(super) fn go_on(
        &mut self,
        outcome: Option<Outcome>,
        scene: &Scene,
        topology: &mut Topology<'_>,
        recorder: &mut Recorder<'_>,
    ) -> Result<(), LabError> {
        let now = recorder.now();
        match (self.phase, outcome) {
            (Phase::Ahead, _) => match &self.aim {
                Some(aim) => {
                    self.phase = Phase::Aiming;
                    let until = Instant::now() + CERTAIN_WITHIN + PATIENCE;
                    self.waiting = Some(Waiting::Step(aim.step(topology), until));
                    Ok(())
                }
                None => self.inject(now, scene, topology, recorder),
            },
            (Phase::Aiming, Some(outcome)) => {
                self.take_aim(outcome.proof);
                self.inject(now, scene, topology, recorder)
            }
            (Phase::Injecting, Some(outcome)) => {
                let (event, said) = self.injected(now, outcome, topology);
                self.tell(event, &said, now, scene, recorder)
            }
            (Phase::Open, _) => {
                if let Some(row) = &mut self.row {
                    row.heal_begun = now;
                }
                let unexercised = self.kind.unexercised();
                self.phase = Phase::Healing;
                let patience = PATIENCE + self.kind.restart_within(topology);
                let healing = self.kind.heal(topology);
                self.waiting = Some(Waiting::Step(healing, Instant::now() + patience));
                if let Some(why) = unexercised {
                    self.unproved(&why);
                    self.tell(EventKind::FaultNotProved, &why, now, scene, recorder)?;
                }
                Ok(())
            }
            (Phase::Healing, Some(outcome)) => self.healed(now, outcome, scene, topology, recorder),
            _ => Ok(()),
        }
    }

    /// Who leads is known, or will not be.
    fn take_aim(&mut self, leader: Result<String, String>) {
        match (self.aim.take(), leader) {
            (Some(aim), Ok(leader)) => {
                self.role = Some(aim.take(&leader, &mut self.fault));
                self.kind = kind::of(&self.fault);
            }
            (_, Err(why)) => self.kind = Box::new(Unaimed(why)),
            (None, Ok(_)) => {}
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
            role: self.role,
            ..Self::row(&self.fault, now, scene)
        });
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
        let event = EventKind::FaultInjected;
        self.tell(event, "is injected", now, scene, recorder)
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
        let told = self.tell(event, &said, now, scene, recorder);
        if event == EventKind::FaultNotHealed {
            return Err(LabError::NotHealed {
                fault: self.fault.name.clone(),
                reason: said,
                run: recorder.dir().root().to_owned(),
            });
        }
        if let Some(number) = self.undo.take() {
            topology.close_undo(number);
            recorder.close_undo(number)?;
        }
        told
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
