//! A stage of a load as it is written, and how long it lasts.

use std::time::Duration;

use plimsoll_base::document::Path as Pointer;
use plimsoll_load::plan::{Profile, Spacing, Stretch};

use crate::loader::Loader;
use crate::wire::{ArrivalWire, StageWire};

/// A stage as written, or a load that has no stages.
pub(super) struct Stage<'a> {
    pub(super) wire: &'a StageWire,
    /// Where its keys are.
    pub(super) at: Pointer,
    /// How long it lasts, as far as that is written.
    pub(super) lasts: Option<Duration>,
    /// Where that is written.
    pub(super) lasts_at: Pointer,
    /// Of what it is the length.
    pub(super) extent: Extent,
    /// How arrivals are spaced where the stage does not say it.
    pub(super) spacing: Spacing,
}

/// Unit of a length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// One stage.
    Stage,
    /// The whole load, with its warm-up.
    Load,
}

impl Stage<'_> {
    /// How long it lasts: what is written, or else what follows from its kind. Never less than that.
    pub(super) fn length(
        &self,
        loader: &mut Loader<'_>,
        own: Option<Duration>,
    ) -> Option<Duration> {
        match (self.lasts, own, self.extent) {
            (Some(lasts), Some(own), extent) if lasts < own => {
                let whose = match extent {
                    Extent::Stage => "the stage",
                    Extent::Load => "the load, warm-up included,",
                };
                let message = format!(
                    "{whose} lasts {lasts:?}, and what happens in it takes {own:?}: write the longer time, or leave it out"
                );
                loader.refuse(&self.lasts_at, message);
                None
            }
            (Some(Duration::ZERO), _, Extent::Stage) => {
                loader.refuse(&self.lasts_at, "must be longer than 0");
                None
            }
            (Some(lasts), ..) => Some(lasts),
            (None, Some(Duration::ZERO), _) => {
                loader.refuse(
                    &self.at,
                    "takes no time: change it, or write how long it lasts",
                );
                None
            }
            (None, Some(own), _) => Some(own),
            (None, None, Extent::Load) => {
                loader.refuse(
                    &self.lasts_at,
                    "is missing: write for instance `duration: 30s`",
                );
                None
            }
            (None, None, Extent::Stage) => {
                loader.refuse(&self.at, "has no length: write for instance `for: 30s`");
                None
            }
        }
    }

    pub(super) fn stretch(&self, profile: Profile, length: Duration) -> Stretch {
        Stretch {
            profile,
            spacing: self.wire.profile.map_or(self.spacing, ArrivalWire::spacing),
            length,
        }
    }

    /// Refuses keys that say nothing in this stage.
    pub(super) fn refuse(&self, loader: &mut Loader<'_>, keys: &[&str], because: &str) {
        for key in keys {
            let at = self.at.key(key);
            if loader.is_written(&at) {
                loader.refuse_key(&at, format!("has no meaning with {because}: remove it"));
            }
        }
    }
}
