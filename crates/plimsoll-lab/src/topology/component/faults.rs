//! Effects of faults on the topology as a whole, and who undoes them.

use super::Topology;
use crate::error::LabError;
use crate::topology::child::Child;
use crate::topology::warden::Warden;
use plimsoll_experiment::{ComponentKind, FaultKind};
use std::time::Duration;

/// How long a component that has been healed may take to answer.
pub(super) const READY_WITHIN: Duration = Duration::from_secs(10);

impl Topology<'_> {
    /// Says whether a component may end by itself: because of a fault, and that is no accident.
    pub(crate) fn expect_end(&mut self, name: &str, expected: bool) {
        if let Some(running) = self.running.get_mut(name) {
            running.may_end = expected;
        }
    }

    /// A number for a fault of the network, which no other has.
    pub(crate) fn next_number(&mut self) -> u32 {
        self.numbers += 1;
        self.numbers
    }

    /// Tells who undoes faults that one is healed. Who is gone meanwhile is started anew with the next fault.
    pub(crate) fn close_undo(&mut self, number: u64) {
        let gone = self.warden.take_if(|warden| warden.close(number).is_err());
        gone.into_iter().for_each(Warden::finish);
    }

    /// The process that undoes faults should this one die.
    ///
    /// # Errors
    /// [`LabError::Environment`] when it cannot be started.
    pub(crate) fn warden(&mut self) -> Result<&mut Warden, LabError> {
        let warden = match self.warden.take() {
            Some(warden) => warden,
            None => Warden::start(&self.places.executable)?,
        };
        Ok(self.warden.insert(warden))
    }

    /// Hands over a component that is to be down: nobody watches it any more, and its end is no accident.
    pub(crate) fn take_down(&mut self, name: &str) -> Option<Child> {
        self.running.shift_remove(name)?.child
    }

    /// How long a component may take to be ready.
    pub(crate) fn ready_within(&self, name: &str) -> Duration {
        match self.experiment.component(name).map(|one| &one.kind) {
            Some(ComponentKind::Command(command)) => command.ready_within,
            _ => READY_WITHIN,
        }
    }

    /// The components that are started anew to heal a fault, or may have to be.
    pub(crate) fn restarted_by(&self, kind: &FaultKind) -> Vec<String> {
        match kind {
            FaultKind::PowerOff(host) => self.on_host(host),
            kind if kind.restarts() => kind.component().map(str::to_owned).into_iter().collect(),
            _ => Vec::new(),
        }
    }

    /// Whether two faults break one thing: a host is also all that runs on it.
    pub(crate) fn touch(&self, one: &FaultKind, other: &FaultKind) -> bool {
        let things = |kind: &FaultKind| -> Vec<String> {
            let on_host = match kind {
                FaultKind::PowerOff(host) => self.on_host(host),
                _ => Vec::new(),
            };
            kind.target().into_iter().chain(on_host).collect()
        };
        let others = things(other);
        one.overlaps(other) || things(one).iter().any(|thing| others.contains(thing))
    }
}
