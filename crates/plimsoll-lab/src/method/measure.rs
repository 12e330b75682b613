//! `measure`: every arm once, in the order of the file.

use super::{Block, Ending, Session};
use crate::error::LabError;

pub(super) async fn run(session: &mut Session<'_, '_>) -> Result<Ending, LabError> {
    if session.start_missing().await? == Ending::Interrupted {
        return Ok(Ending::Interrupted);
    }
    let experiment = session.experiment;
    for arm in &experiment.arms {
        let block = Block { number: 1, of: 1 };
        let ending = session.load(arm, block).await?;
        if ending != Ending::Complete {
            return Ok(ending);
        }
    }
    Ok(Ending::Complete)
}
