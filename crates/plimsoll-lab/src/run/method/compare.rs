//! `compare`: blocks that hold every arm once, in random order, each with the same arrivals; our components are new in each.
//!
//! Drifts (temperature, caches, neighbours) so fall on all arms alike, and chances of a start (memory layout,
//! which shard gets which connection) varies between blocks instead of hiding in one arm.

use super::outlook::{Outlook, length};
use super::{Block, Ending, Session};
use crate::error::LabError;
use crate::load::Keeping;
use plimsoll_base::random::{Draw, Stream};
use plimsoll_experiment::Arm;

pub(super) async fn run(session: &mut Session<'_, '_>, blocks: u32) -> Result<Ending, LabError> {
    let experiment = session.experiment;
    let lengths = || experiment.arms.iter().map(length);
    let mut outlook = Outlook::of((0..blocks).flat_map(|_| lengths()));
    for number in 1..=blocks {
        session.stop_own().await?;
        if session.start_missing().await? == Ending::Interrupted {
            return Ok(Ending::Interrupted);
        }
        let label = format!("block {number} of {blocks}");
        for arm in order(&experiment.arms, session.seed, number) {
            let ahead = outlook.begin(length(arm), session.recorder.now());
            let block = Block {
                number,
                label: &label,
                ahead: &ahead,
                keeping: Keeping::OfArm,
            };
            let ending = session.load(arm, block).await?;
            if ending != Ending::Complete {
                return Ok(ending);
            }
        }
    }
    Ok(Ending::Complete)
}

/// The arms in the order of this block.
fn order(arms: &[Arm], seed: u64, block: u32) -> Vec<&Arm> {
    let mut order: Vec<&Arm> = arms.iter().collect();
    Draw::new(seed, Stream::Order, u64::from(block)).shuffle(&mut order);
    order
}
