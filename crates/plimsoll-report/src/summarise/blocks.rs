//! Which blocks of a comparison a figure may be read from.

use crate::judgement::validity;
use crate::record::{ArmBlocks, Statistic};
use std::collections::{BTreeMap, BTreeSet};

/// The blocks that hold every arm, and the figures that each of them cannot carry.
pub(super) struct Blocks<'a> {
    planned: BTreeSet<u32>,
    void: BTreeMap<&'a str, BTreeMap<u32, Vec<Statistic>>>,
}

impl<'a> Blocks<'a> {
    pub(super) fn of(arms: &'a [ArmBlocks]) -> Self {
        let all = arms.iter().flat_map(|arm| arm.blocks.keys().copied());
        let planned = all
            .filter(|block| arms.iter().all(|arm| arm.blocks.contains_key(block)))
            .collect();
        let void = arms.iter().map(|arm| (arm.name.as_str(), void(arm)));
        Self {
            planned,
            void: void.collect(),
        }
    }

    /// Blocks that hold every arm.
    pub(super) fn planned(&self) -> &BTreeSet<u32> {
        &self.planned
    }

    /// Figures of one arm's block that enter no difference.
    pub(super) fn void_for(&self, arm: &str, block: u32) -> &[Statistic] {
        let figures = self.void.get(arm).and_then(|blocks| blocks.get(&block));
        figures.map_or(&[], Vec::as_slice)
    }

    /// Whether one arm's block carries a figure.
    pub(super) fn carries(&self, arm: &str, block: u32, statistic: Statistic) -> bool {
        !self.void_for(arm, block).contains(&statistic)
    }

    /// Blocks in which some arm carries no figure at all.
    pub(super) fn void_for_all(&self) -> Vec<u32> {
        let lost = |block: &u32| {
            let figures = self.void.values().filter_map(|blocks| blocks.get(block));
            figures.into_iter().any(|f| f.len() == Statistic::ALL.len())
        };
        self.planned.iter().copied().filter(lost).collect()
    }
}

fn void(arm: &ArmBlocks) -> BTreeMap<u32, Vec<Statistic>> {
    let judged = arm.blocks.iter();
    judged
        .map(|(block, data)| (*block, validity::void_figures(data)))
        .collect()
}
