//! `levels`: every arm at each level, level by level, so that what drifts falls on all arms alike.

use super::outlook::{Outlook, length};
use super::{Block, Ending, Session};
use crate::error::LabError;
use crate::experiment::Levels;
use crate::load::Keeping;

pub(super) async fn run(
    session: &mut Session<'_, '_>,
    levels: &Levels,
) -> Result<Ending, LabError> {
    if session.start_missing().await? == Ending::Interrupted {
        return Ok(Ending::Interrupted);
    }
    let experiment = session.experiment;
    let of = levels.points.len();
    let of_point = |point| {
        let arms = experiment.arms.iter();
        arms.map(move |arm| length(&arm.at(point, levels.hold)))
    };
    let mut outlook = Outlook::of(levels.points.iter().copied().flat_map(of_point));
    for (number, point) in (1_u32..).zip(&levels.points) {
        let label = format!("level {} ({number} of {of})", point.name());
        for arm in &experiment.arms {
            let arm = arm.at(*point, levels.hold);
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
