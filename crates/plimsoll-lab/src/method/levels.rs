//! `levels`: every arm at each level, level by level, so that what drifts falls on all arms alike.

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
    for (number, point) in (1_u32..).zip(&levels.points) {
        let label = format!("level {} ({number} of {of})", point.name());
        let block = Block {
            number,
            label: &label,
            keeping: Keeping::Apart,
        };
        for arm in &experiment.arms {
            let ending = session.load(&arm.at(*point, levels.hold), block).await?;
            if ending != Ending::Complete {
                return Ok(ending);
            }
        }
    }
    Ok(Ending::Complete)
}
