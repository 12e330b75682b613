//! `levels`: every arm at each level, level by level, so that what drifts falls on all arms alike. A level's number is its place by size,
//! whenever its turn comes.

use super::outlook::{Outlook, length};
use super::{Block, Ending, Session};
use crate::error::LabError;
use crate::load::Keeping;
use plimsoll_experiment::Levels;

pub(super) async fn run(
    session: &mut Session<'_, '_>,
    levels: &Levels,
) -> Result<Ending, LabError> {
    if session.start_missing().await? == Ending::Interrupted {
        return Ok(Ending::Interrupted);
    }
    let experiment = session.experiment;
    let of = levels.points.len();
    let turns = levels.turns(session.seed);
    let of_point = |point| {
        let arms = experiment.arms.iter();
        arms.map(move |arm| length(&arm.at(point, levels.hold)))
    };
    let mut outlook = Outlook::of(turns.iter().flat_map(|(_, point)| of_point(*point)));
    for (turn, (number, point)) in (1_u32..).zip(turns) {
        let label = format!("level {} ({turn} of {of})", point.name());
        for arm in &experiment.arms {
            let arm = arm.at(point, levels.hold);
            let ahead = outlook.begin(length(&arm), session.recorder.now());
            let block = Block {
                number,
                label: &label,
                ahead: &ahead,
                keeping: Keeping::Apart,
            };
            let ending = session.load(&arm, block).await?;
            if ending != Ending::Complete {
                return Ok(ending);
            }
        }
    }
    Ok(Ending::Complete)
}
