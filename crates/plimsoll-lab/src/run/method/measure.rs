//! `measure`: every arm once, in the order of the file.

use super::outlook::{Outlook, length};
use super::{Block, Ending, Session};
use crate::error::LabError;
use crate::load::Keeping;

pub(super) async fn run(session: &mut Session<'_, '_>) -> Result<Ending, LabError> {
    if session.start_missing().await? == Ending::Interrupted {
        return Ok(Ending::Interrupted);
    }
    let experiment = session.experiment;
    let mut outlook = Outlook::of(experiment.arms.iter().map(length));
    for arm in &experiment.arms {
        let ahead = outlook.begin(length(arm), session.recorder.now());
        let block = Block {
            number: 1,
            label: "",
            ahead: &ahead,
            keeping: Keeping::OfArm,
        };
        let ending = session.load(arm, block).await?;
        if ending != Ending::Complete {
            return Ok(ending);
        }
    }
    Ok(Ending::Complete)
}
