//! `nothing`: no fault at all, at the same moments.

use super::super::{Step, step};
use super::Kind;
use crate::topology::component::Topology;

pub(super) struct Nothing;

impl Kind for Nothing {
    fn inject(&mut self, _: &mut Topology<'_>) -> Step {
        step(async { Ok("nothing was to be done".to_owned()) })
    }

    fn heal(&mut self, _: &mut Topology<'_>) -> Step {
        step(async { Ok("nothing was done".to_owned()) })
    }
}
