//! The stubs of a running mock: every shard reads the current set without a lock, changes replace it as a whole.
//!
//! A change is visible to every shard when its call returns.

use crate::stub::id::StubId;
use crate::stub::{Stub, StubMapping};
use crate::stub_set::StubSet;
use arc_swap::{ArcSwap, Guard};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The current set of stubs.
#[derive(Debug)]
pub(crate) struct Stubs {
    current: ArcSwap<StubSet>,
    /// Serialises changes. A blocking lock: it is held for one rebuild of the set, never across a wait, and never by a request.
    writer: Mutex<Writer>,
}

#[derive(Debug)]
struct Writer {
    seed: u64,
    insertions: u64,
}

/// An id that another stub has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("ID of the provided stub mapping '{0}' is already taken by another stub mapping")]
pub(crate) struct DuplicateId(pub(crate) StubId);

impl Stubs {
    /// A set of these mappings, added in their order. `seed` decides the ids of those that have none.
    pub(crate) fn new(seed: u64, mappings: Vec<StubMapping>) -> Result<Self, DuplicateId> {
        let stubs = Self {
            current: ArcSwap::default(),
            writer: Mutex::new(Writer {
                seed,
                insertions: 0,
            }),
        };
        stubs.replace_all(mappings)?;
        Ok(stubs)
    }

    /// The set as it is now.
    pub(crate) fn current(&self) -> Guard<Arc<StubSet>> {
        self.current.load()
    }

    /// The stub with this id.
    pub(crate) fn get(&self, id: StubId) -> Option<Arc<Stub>> {
        find(self.current().stubs(), id).cloned()
    }

    /// Adds a mapping.
    pub(crate) fn add(&self, mapping: StubMapping) -> Result<Arc<Stub>, DuplicateId> {
        let mut writer = self.lock();
        let mut stubs = self.current().stubs().to_vec();
        let stub = writer.place(mapping, &stubs)?;
        stubs.push(Arc::clone(&stub));
        self.publish(stubs);
        Ok(stub)
    }

    /// Puts a mapping in the place of the stub with this id, if there is one.
    pub(crate) fn replace(&self, id: StubId, mapping: StubMapping) -> Option<Arc<Stub>> {
        let _writer = self.lock();
        let mut stubs = self.current().stubs().to_vec();
        let place = stubs.iter_mut().find(|stub| stub.id == id)?;
        let stub = Arc::new(mapping.place(id, place.insertion));
        *place = Arc::clone(&stub);
        self.publish(stubs);
        Some(stub)
    }

    /// Removes the stub with this id; `None` if there is none.
    pub(crate) fn remove(&self, id: StubId) -> Option<()> {
        let _writer = self.lock();
        let mut stubs = self.current().stubs().to_vec();
        let position = stubs.iter().position(|stub| stub.id == id)?;
        stubs.remove(position);
        self.publish(stubs);
        Some(())
    }

    /// Replaces the whole set.
    pub(crate) fn replace_all(&self, mappings: Vec<StubMapping>) -> Result<(), DuplicateId> {
        let mut writer = self.lock();
        let mut stubs = Vec::with_capacity(mappings.len());
        let mut ids = std::collections::HashSet::new();
        for mapping in mappings {
            if let Some(id) = mapping.id.filter(|id| !ids.insert(*id)) {
                return Err(DuplicateId(id));
            }
            stubs.push(writer.place(mapping, &[])?);
        }
        self.publish(stubs);
        Ok(())
    }

    fn publish(&self, stubs: Vec<Arc<Stub>>) {
        self.current.store(Arc::new(StubSet::new(stubs)));
    }

    /// A change that panicked has published nothing, so the state behind a poisoned lock is whole.
    fn lock(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Writer {
    fn place(
        &mut self,
        mapping: StubMapping,
        others: &[Arc<Stub>],
    ) -> Result<Arc<Stub>, DuplicateId> {
        let id = mapping
            .id
            .unwrap_or_else(|| StubId::minted(self.seed, self.insertions));
        if find(others, id).is_some() {
            return Err(DuplicateId(id));
        }
        self.insertions += 1;
        Ok(Arc::new(mapping.place(id, self.insertions)))
    }
}

fn find(stubs: &[Arc<Stub>], id: StubId) -> Option<&Arc<Stub>> {
    stubs.iter().find(|stub| stub.id == id)
}
