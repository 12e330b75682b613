//! The places where the load of one arm is written, one over the other.

use plimsoll_base::document::Path as Pointer;

use crate::loader::Loader;
use crate::wire::LoadWire;

/// Load keys of one place, and where that is.
pub type Layer<'a> = (&'a LoadWire, Pointer);

/// The load of one arm as written in one or more places, the common one first; a later one prevails, key by key.
#[derive(Clone, Copy)]
pub struct Layers<'a>(&'a [Layer<'a>]);

impl<'a> Layers<'a> {
    /// # Panics
    /// Without a layer.
    pub fn new(layers: &'a [Layer<'a>]) -> Self {
        assert!(!layers.is_empty(), "a load is written somewhere");
        Self(layers)
    }

    /// The value that applies: that of the last layer that has one.
    pub fn get<T>(&self, field: impl Fn(&'a LoadWire) -> Option<T>) -> Option<T> {
        self.0.iter().rev().find_map(|(wire, _)| field(wire))
    }

    /// Where `key` is written last; where it would be in common, when it is nowhere.
    pub fn place(&self, loader: &Loader<'_>, key: &str) -> Pointer {
        let last = self
            .0
            .iter()
            .rev()
            .map(|(_, at)| at.key(key))
            .find(|at| loader.is_written(at));
        last.unwrap_or_else(|| self.at().key(key))
    }

    /// The layers from the last one on of which something holds; all of them, when it holds of none.
    pub fn since(&self, holds: impl Fn(&LoadWire) -> bool) -> Self {
        let last = self.0.iter().rposition(|(wire, _)| holds(wire));
        Self(&self.0[last.unwrap_or(0)..])
    }

    /// The first layer.
    pub fn first(&self) -> &'a Layer<'a> {
        &self.0[0]
    }

    /// Where a missing field is reported.
    pub fn at(&self) -> &'a Pointer {
        &self.first().1
    }

    /// Refuses keys that say nothing in these layers, because of what is written in the first of them.
    pub fn refuse(&self, loader: &mut Loader<'_>, keys: &[&str], because: &str) {
        for (_, at) in self.0 {
            for key in keys {
                let at = at.key(key);
                if loader.is_written(&at) {
                    loader.refuse_key(&at, format!("has no meaning with {because}: remove it"));
                }
            }
        }
    }
}
