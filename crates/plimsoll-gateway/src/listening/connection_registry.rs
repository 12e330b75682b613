//! Who is connected: which certificate each has shown, and how its connection is ended when that does not do any more.

use crate::clients::trust::{Shown, Withdrawn};
use crate::listening::listener_id::ListenerId;
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;
use tokio::task::{AbortHandle, Id};

/// Connections of one shard.
#[derive(Debug, Default)]
pub(crate) struct ConnectionRegistry {
    by_task: HashMap<Id, Entry>,
    /// Why connections were ended that have not come to it yet.
    why: HashMap<Id, Withdrawn>,
    /// No certificate expires before this second since 1970.
    soonest: Option<i64>,
}

#[derive(Debug)]
struct Entry {
    task: AbortHandle,
    listener_id: Rc<ListenerId>,
    shown: Showing,
}

/// Whether a client has shown a certificate.
#[derive(Debug, Clone)]
pub(crate) enum Showing {
    /// Its handshake has not ended.
    NotYet,
    /// It has none, or was not asked.
    Nothing,
    This(Rc<Shown>),
}

impl ConnectionRegistry {
    /// A connection that has come in by this listener_id.
    pub(crate) fn enter(&mut self, task: AbortHandle, listener_id: Rc<ListenerId>, shown: Showing) {
        let id = task.id();
        self.by_task.insert(
            id,
            Entry {
                task,
                listener_id,
                shown,
            },
        );
    }

    /// Notes the certificate that it has shown when its handshake has ended.
    pub(crate) fn show(&mut self, id: Id, shown: Option<Shown>) {
        if let Some(entry) = self.by_task.get_mut(&id) {
            if let Some(shown) = &shown {
                let soonest = self.soonest.unwrap_or(i64::MAX);
                self.soonest = Some(soonest.min(shown.not_after));
            }
            entry.shown = shown.map_or(Showing::Nothing, |shown| Showing::This(Rc::new(shown)));
        }
    }

    /// A connection that has ended.
    pub(crate) fn leave(&mut self, id: Id) {
        self.by_task.remove(&id);
        self.why.remove(&id);
    }

    /// Why a connection was ended, if it was.
    pub(crate) fn why(&self, id: Id) -> Option<Withdrawn> {
        self.why.get(&id).copied()
    }

    /// Everybody, by which listener_id each came in and what it has shown.
    pub(crate) fn everybody(&self) -> Vec<(Id, Rc<ListenerId>, Showing)> {
        let entries = self.by_task.iter();
        entries
            .map(|(id, entry)| (*id, Rc::clone(&entry.listener_id), entry.shown.clone()))
            .collect()
    }

    /// Ends a connection, whatever it is doing. Says whether it was still there.
    pub(crate) fn end(&mut self, id: Id, why: Withdrawn) -> bool {
        let entry = self.by_task.remove(&id);
        if let Some(entry) = &entry {
            self.why.insert(id, why);
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
        let known = self.by_task.iter().filter_map(|(id, entry)| {
            let Showing::This(shown) = &entry.shown else {
                return None;
            };
            Some((*id, Rc::clone(shown)))
        });
        let (expired, left): (Vec<_>, Vec<_>) =
            known.partition(|(_, shown)| shown.has_expired(now));
        self.soonest = left.iter().map(|(_, shown)| shown.not_after).min();
        let ended = expired
            .into_iter()
            .filter(|(id, _)| self.end(*id, Withdrawn::Expired));
        ended.count() as u64
    }
}
