//! Where the parts of a load are written, for what the generator says of its plan.

use plimsoll_base::document::{Path as Pointer, Segment};

use super::layers::Layers;
use crate::loader::Loader;

/// Where the stretches or crowds of a load come from.
#[derive(Debug)]
pub struct Written {
    /// Place of the key that says how arrivals come about.
    whole: Pointer,
    /// For each stretch or crowd, where the keys of its stage are.
    parts: Vec<Pointer>,
}

impl Written {
    /// Of a load whose arrivals are said by `model`, a key at `layer`.
    pub(super) fn new(layer: &Pointer, model: &str) -> Self {
        Self {
            whole: layer.key(model),
            parts: Vec::new(),
        }
    }

    /// So many further parts come from the stage at `at`.
    pub(super) fn note(&mut self, at: &Pointer, parts: usize) {
        self.parts.extend(std::iter::repeat_n(at.clone(), parts));
    }

    /// The stage of the last part.
    pub(super) fn last(&self) -> &Pointer {
        self.parts.last().unwrap_or(&self.whole)
    }

    /// Where a field of the plan's load is written, given by its path below `load`.
    pub fn place(&self, loader: &Loader<'_>, layers: Layers<'_>, path: &[Segment]) -> Pointer {
        match path {
            [Segment::Key(_), Segment::Index(index), Segment::Key(key)] => {
                self.of_part(loader, layers, *index, key)
            }
            [Segment::Key(list)] if list == "profile" || list == "users" => self.whole.clone(),
            [Segment::Key(key)] if key == "grow_to" => {
                layers.place(loader, "when_busy").key("grow")
            }
            [Segment::Key(key), ..] => layers.place(loader, key),
            _ => self.whole.clone(),
        }
    }

    fn of_part(&self, loader: &Loader<'_>, layers: Layers<'_>, index: usize, key: &str) -> Pointer {
        let at = &self.parts[index];
        let below = ["ramp", "staircase", "users"].map(|kind| at.key(kind).key(key));
        let names: &[&str] = match key {
            "length" => &["for", "nothing"],
            "arrivals" => &["stress_peak", "at_once"],
            "times" => &["replay"],
            "spacing" => &["profile"],
            "from" | "to" => &["users"],
            _ => &[],
        };
        let own = [key].into_iter().chain(names.iter().copied());
        let written = below.into_iter().chain(own.map(|name| at.key(name)));
        let mut written = written.filter(|at| loader.is_written(at));
        match (written.next(), key) {
            (Some(place), _) => place,
            (None, "length") if at.holds(&self.whole) => layers.place(loader, "duration"),
            (None, _) => at.clone(),
        }
    }
}
