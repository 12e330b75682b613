//! Where the parts of a load are written, for what the generator says of its plan.

use plimsoll_base::document::Path as Pointer;
use plimsoll_load::plan::{LoadField, LoadPartField, LoadPlace};

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

    /// Where a place of the plan's load is written.
    pub fn place(&self, loader: &Loader<'_>, layers: Layers<'_>, place: LoadPlace) -> Pointer {
        match place {
            LoadPlace::Stretch(index, field) | LoadPlace::Crowd(index, field) => {
                self.of_part(loader, layers, index, field)
            }
            LoadPlace::Field(LoadField::Profile | LoadField::Users) => self.whole.clone(),
            LoadPlace::Field(LoadField::GrowTo) => layers.place(loader, "when_busy").key("grow"),
            LoadPlace::Field(field) => layers.place(loader, field.name()),
        }
    }

    fn of_part(
        &self,
        loader: &Loader<'_>,
        layers: Layers<'_>,
        index: usize,
        field: LoadPartField,
    ) -> Pointer {
        let at = &self.parts[index];
        let key = field.name();
        let below = ["ramp", "staircase", "users"].map(|kind| at.key(kind).key(key));
        let names: &[&str] = match field {
            LoadPartField::Length => &["for", "nothing"],
            LoadPartField::Arrivals => &["stress_peak", "at_once"],
            LoadPartField::Times => &["replay"],
            LoadPartField::Spacing => &["profile"],
            LoadPartField::From | LoadPartField::To => &["users"],
            LoadPartField::Rate | LoadPartField::Every | LoadPartField::Step => &[],
        };
        let own = [key].into_iter().chain(names.iter().copied());
        let written = below.into_iter().chain(own.map(|name| at.key(name)));
        let mut written = written.filter(|at| loader.is_written(at));
        match (written.next(), field) {
            (Some(place), _) => place,
            (None, LoadPartField::Length) if at.holds(&self.whole) => {
                layers.place(loader, "duration")
            }
            (None, _) => at.clone(),
        }
    }
}
