//! The stubs of a running mock: every shard reads the current set without a lock, changes replace it as a whole.
//!
//! A change is visible to every shard when its call returns.

use arc_swap::{ArcSwap, Guard};
use plimsoll_wiremock::java;
use plimsoll_wiremock::response::delay::Delay;
use plimsoll_wiremock::stub::set::StubSet;
use plimsoll_wiremock::stub::state::{StateMachine, StateMachines, Step};
use plimsoll_wiremock::stub::{Stub, StubMapping};
use plimsoll_wiremock::stub_id::StubId;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::convert::Infallible;
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
    machines: StateMachines,
    default_delay: Delay,
}

/// A scenario and the stubs that belong to it, in match order.
#[derive(Debug)]
pub(crate) struct ScenarioStubs {
    pub(crate) machine: Arc<StateMachine>,
    pub(crate) stubs: Vec<Arc<Stub>>,
}

/// The set while it is changed.
#[derive(Debug)]
pub(crate) struct Draft<'a> {
    stubs: Vec<Arc<Stub>>,
    /// Bytes of their documents.
    bytes: usize,
    places: StubPlaces,
    writer: &'a mut Writer,
}

/// Where the stubs of a draft stand, by their ids. Whoever asks once is answered by a look through all of them.
#[derive(Debug, Default)]
enum StubPlaces {
    #[default]
    Unasked,
    AskedOnce,
    Table(HashMap<StubId, usize>),
}

/// Stubs to which the admin API may add another.
const MOST_STUBS: usize = 100_000;
/// Bytes of all their documents to which it may.
const MOST_BYTES: usize = 256 << 20;

/// Why a mapping does not become a stub.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotPlaced {
    #[error("ID of the provided stub mapping '{0}' is already taken by another stub mapping")]
    DuplicateId(StubId),
    #[error("no stub mapping can be added to {MOST_STUBS}, or to {} MiB of them", MOST_BYTES >> 20)]
    TooMany,
}

impl Stubs {
    /// A set of these mappings, added in their order. `seed` decides the ids of those that have none.
    pub(crate) fn new(seed: u64, mappings: Vec<StubMapping>) -> Result<Self, NotPlaced> {
        let stubs = Self {
            current: ArcSwap::default(),
            writer: Mutex::new(Writer {
                seed,
                insertions: 0,
                machines: StateMachines::default(),
                default_delay: Delay::default(),
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

    /// The scenarios by their names, each with its stubs in the order in which they came.
    pub(crate) fn scenarios(&self) -> Vec<ScenarioStubs> {
        let mut scenarios: BTreeMap<String, ScenarioStubs> = BTreeMap::new();
        for stub in self.current().stubs() {
            if let Some(step) = &stub.step {
                let scenario = scenarios.entry(step.machine.name.clone());
                let scenario = scenario.or_insert_with(|| ScenarioStubs {
                    machine: Arc::clone(&step.machine),
                    stubs: Vec::new(),
                });
                scenario.stubs.push(Arc::clone(stub));
            }
        }
        for scenario in scenarios.values_mut() {
            scenario.stubs.sort_by_key(|stub| stub.insertion);
        }
        scenarios.into_values().collect()
    }

    /// Changes the set as a whole: if `change` fails, nothing has changed.
    pub(crate) fn change<R, E>(
        &self,
        change: impl FnOnce(&mut Draft<'_>) -> Result<R, E>,
    ) -> Result<R, E> {
        let mut writer = self.lock();
        let stubs = self.current().stubs().to_vec();
        let bytes = stubs.iter().map(|stub| stub.bytes).sum();
        let mut draft = Draft {
            stubs,
            bytes,
            places: StubPlaces::default(),
            writer: &mut writer,
        };
        let result = change(&mut draft)?;
        let stubs = draft.stubs;
        let steps = stubs.iter().filter_map(|stub| stub.step.as_ref());
        writer.machines.keep(steps);
        let default_delay = writer.default_delay.clone();
        self.publish(stubs, default_delay);
        Ok(result)
    }

    /// Adds a mapping.
    pub(crate) fn add(&self, mapping: StubMapping) -> Result<Arc<Stub>, NotPlaced> {
        self.change(|draft| draft.add(mapping))
    }

    /// Puts a mapping in the place of the stub with this id, if there is one.
    pub(crate) fn replace(
        &self,
        id: StubId,
        mapping: StubMapping,
    ) -> Result<Option<Arc<Stub>>, NotPlaced> {
        if self.get(id).is_none() {
            return Ok(None);
        }
        self.change(|draft| draft.replace(id, mapping))
    }

    /// Removes the stub with this id; `None` if there is none.
    pub(crate) fn remove(&self, id: StubId) -> Option<Arc<Stub>> {
        let stub = self.get(id)?;
        self.retain(|other| other.id != id);
        Some(stub)
    }

    /// Removes the stubs that are not to stay.
    pub(crate) fn retain(&self, stays: impl Fn(&Stub) -> bool) {
        let retained: Result<(), Infallible> = self.change(|draft| {
            draft.retain(stays);
            Ok(())
        });
        let Ok(()) = retained;
    }

    /// Sets the delay of stubs that have none of their own.
    pub(crate) fn set_default_delay(&self, delay: Delay) {
        let mut writer = self.lock();
        writer.default_delay = delay.clone();
        self.publish(self.current().stubs().to_vec(), delay);
    }

    /// Replaces the whole set.
    pub(crate) fn replace_all(&self, mappings: Vec<StubMapping>) -> Result<(), NotPlaced> {
        let mut ids = HashSet::new();
        if let Some(id) = mappings
            .iter()
            .filter_map(|mapping| mapping.id)
            .find(|id| !ids.insert(*id))
        {
            return Err(NotPlaced::DuplicateId(id));
        }
        self.change(|draft| {
            draft.stubs.clear();
            draft.bytes = 0;
            draft.places = StubPlaces::default();
            draft.writer.machines.clear();
            for mapping in mappings {
                let id = draft.writer.id_of(&mapping);
                let stub = draft.writer.place(id, mapping);
                draft.push(stub);
            }
            Ok(())
        })
    }

    fn publish(&self, stubs: Vec<Arc<Stub>>, default_delay: Delay) {
        self.current
            .store(Arc::new(StubSet::new(stubs, default_delay)));
    }

    /// A change that panicked has published nothing, so the state behind a poisoned lock is whole.
    fn lock(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ScenarioStubs {
    /// The states that its stubs name, each once, in the order in which WireMock's set of them goes.
    pub(crate) fn states(&self) -> Vec<String> {
        let steps = || self.stubs.iter().filter_map(|stub| stub.step.as_ref());
        let required = steps().filter_map(Step::required);
        java::set::in_order(required.chain(steps().filter_map(Step::new_state)))
    }
}

impl Draft<'_> {
    /// Adds a mapping.
    pub(crate) fn add(&mut self, mapping: StubMapping) -> Result<Arc<Stub>, NotPlaced> {
        let id = self.writer.id_of(&mapping);
        if self.has(id) {
            return Err(NotPlaced::DuplicateId(id));
        }
        if self.stubs.len() >= MOST_STUBS || self.bytes >= MOST_BYTES {
            return Err(NotPlaced::TooMany);
        }
        let stub = self.writer.place(id, mapping);
        self.push(Arc::clone(&stub));
        Ok(stub)
    }

    /// Puts a stub that was removed back where it was, unless another has its id by now.
    pub(crate) fn put_back(&mut self, stub: Arc<Stub>) -> Result<(), NotPlaced> {
        if self.has(stub.id) {
            return Err(NotPlaced::DuplicateId(stub.id));
        }
        self.push(stub);
        Ok(())
    }

    /// Puts a mapping in the place of the stub with this id, if there is one.
    pub(crate) fn replace(
        &mut self,
        id: StubId,
        mapping: StubMapping,
    ) -> Result<Option<Arc<Stub>>, NotPlaced> {
        let Some(place) = self.place_of(id) else {
            return Ok(None);
        };
        let old = &mut self.stubs[place];
        let stub = mapping.place(id, old.insertion, &mut self.writer.machines);
        let stub = Arc::new(stub.in_place_of(old));
        let others = self.bytes - old.bytes;
        if stub.bytes > old.bytes && others >= MOST_BYTES {
            return Err(NotPlaced::TooMany);
        }
        self.bytes = others + stub.bytes;
        *old = Arc::clone(&stub);
        Ok(Some(stub))
    }

    /// Removes the stubs that are not to stay.
    pub(crate) fn retain(&mut self, stays: impl Fn(&Stub) -> bool) {
        self.stubs.retain(|stub| stays(stub));
        self.bytes = self.stubs.iter().map(|stub| stub.bytes).sum();
        self.places = StubPlaces::default();
    }

    /// Whether there is a stub with this id.
    pub(crate) fn has(&mut self, id: StubId) -> bool {
        self.place_of(id).is_some()
    }

    fn place_of(&mut self, id: StubId) -> Option<usize> {
        let stubs = self.stubs.iter();
        match &self.places {
            StubPlaces::Unasked => {
                let place = stubs.map(|stub| stub.id).position(|own| own == id);
                self.places = StubPlaces::AskedOnce;
                place
            }
            StubPlaces::AskedOnce => {
                let table: HashMap<StubId, usize> = stubs.map(|stub| stub.id).zip(0..).collect();
                let place = table.get(&id).copied();
                self.places = StubPlaces::Table(table);
                place
            }
            StubPlaces::Table(table) => table.get(&id).copied(),
        }
    }

    fn push(&mut self, stub: Arc<Stub>) {
        if let StubPlaces::Table(table) = &mut self.places {
            table.insert(stub.id, self.stubs.len());
        }
        self.bytes += stub.bytes;
        self.stubs.push(stub);
    }
}

impl Writer {
    /// The id that a mapping came with, or the next.
    fn id_of(&self, mapping: &StubMapping) -> StubId {
        let minted = || StubId::minted(self.seed, self.insertions);
        mapping.id.unwrap_or_else(minted)
    }

    fn place(&mut self, id: StubId, mapping: StubMapping) -> Arc<Stub> {
        self.insertions += 1;
        Arc::new(mapping.place(id, self.insertions, &mut self.machines))
    }
}

fn find(stubs: &[Arc<Stub>], id: StubId) -> Option<&Arc<Stub>> {
    stubs.iter().find(|stub| stub.id == id)
}
