//! Who is connected by a certificate: what each has shown, and how its connection is ended when that holds no more.

use crate::doors::DoorId;
use crate::trust::Shown;
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;
use tokio::task::{AbortHandle, Id};

/// Connections of one shard whose clients were asked for a certificate.
#[derive(Debug, Default)]
pub(crate) struct Roll {
    by_task: HashMap<Id, Entry>,
    /// No certificate expires before this second since 1970.
    soonest: Option<i64>,
}

#[derive(Debug)]
struct Entry {
    task: AbortHandle,
    /// What it has shown and where it came in, from the end of its handshake on.
    shown: Option<(Rc<DoorId>, Rc<Shown>)>,
}

impl Roll {
    /// A connection whose handshake is beginning.
    pub(crate) fn enter(&mut self, task: AbortHandle) {
        let id = task.id();
        self.by_task.insert(id, Entry { task, shown: None });
    }

    /// What it has shown.
    pub(crate) fn show(&mut self, id: Id, shown: Shown, door: Rc<DoorId>) {
        if let Some(entry) = self.by_task.get_mut(&id) {
            let soonest = self.soonest.unwrap_or(i64::MAX);
            self.soonest = Some(soonest.min(shown.not_after));
            entry.shown = Some((door, Rc::new(shown)));
        }
    }

    /// A connection that has ended.
    pub(crate) fn leave(&mut self, id: Id) {
        self.by_task.remove(&id);
    }

    /// Everybody who has shown something.
    pub(crate) fn known(&self) -> Vec<(Id, Rc<DoorId>, Rc<Shown>)> {
        let entries = self.by_task.iter();
        entries
            .filter_map(|(id, entry)| {
                let (door, shown) = entry.shown.as_ref()?;
                Some((*id, Rc::clone(door), Rc::clone(shown)))
            })
            .collect()
    }

    /// Ends a connection, whatever it is doing. Says whether it was still there.
    pub(crate) fn end(&mut self, id: Id) -> bool {
        let entry = self.by_task.remove(&id);
        if let Some(entry) = &entry {
            entry.task.abort();
        }
        entry.is_some()
    }

    /// Ends the connections whose certificates have expired at this time since 1970; how many those were.
    pub(crate) fn end_expired(&mut self, now: Duration) -> u64 {
        let second = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
        if self.soonest.is_none_or(|soonest| second <= soonest) {
            return 0;
        }
        let known = self.known();
        let (expired, left): (Vec<_>, Vec<_>) =
            (known.into_iter()).partition(|(_, _, shown)| shown.has_expired(now));
        self.soonest = left.iter().map(|(_, _, shown)| shown.not_after).min();
        let ended = expired.into_iter().filter(|(id, ..)| self.end(*id));
        ended.count() as u64
    }
}
