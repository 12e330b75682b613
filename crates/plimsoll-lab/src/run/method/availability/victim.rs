//! Who is broken in a trial, where there is a choice.

use super::Session;
use crate::error::LabError;
use crate::load::stopped;
use crate::topology::command::{Shim, carry_out, command};
use plimsoll_base::random::{Draw, Stream};
use plimsoll_experiment::{Choice, Row, Template};
use plimsoll_report::record::Role;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout_at};

/// How long it may take until somebody leads.
const CERTAIN_WITHIN: Duration = Duration::from_secs(10);
const AGAIN_AFTER: Duration = Duration::from_millis(100);

/// Who is broken.
#[derive(Debug, Default)]
pub(super) struct Victim {
    /// `None`: whom the fault names.
    pub(super) name: Option<String>,
    /// Its role, where roles are told apart.
    pub(super) role: Option<Role>,
}

/// Chooses the victim of trial `number`; `None`: the run is to stop. Who leads is asked right before the load begins.
///
/// # Errors
/// [`LabError::Environment`] where nobody says who leads, or whoever does is no candidate.
pub(super) async fn choose(
    session: &mut Session<'_, '_>,
    row: &Row,
    number: u32,
) -> Result<Option<Victim>, LabError> {
    if row.among.is_empty() {
        return Ok(Some(Victim::default()));
    }
    let mut draw = Draw::new(session.seed, Stream::Victims, u64::from(number));
    let (leads, leader) = match &row.choice {
        Choice::Any => {
            let name = pick(&mut draw, &row.among);
            return Ok(Some(Victim { name, role: None }));
        }
        Choice::ByRole { leads, leader } => match leader_of(session, row, leader).await? {
            Some(found) => (*leads, found),
            None => return Ok(None),
        },
    };
    let candidates: Vec<String> = match leads {
        Some(true) => vec![leader.clone()],
        Some(false) => {
            let mut others = row.among.clone();
            others.retain(|name| *name != leader);
            others
        }
        None => row.among.clone(),
    };
    let name = pick(&mut draw, &candidates);
    let role = match name.as_ref() == Some(&leader) {
        true => Role::Leader,
        false => Role::Follower,
    };
    Ok(Some(Victim {
        name,
        role: Some(role),
    }))
}

fn pick(draw: &mut Draw, among: &[String]) -> Option<String> {
    let place = draw.below(among.len().max(1) as u64);
    among.get(usize::try_from(place).ok()?).cloned()
}

/// Asks until somebody leads: after a fault there may be no leader for a while. `None`: the run is to stop.
async fn leader_of(
    session: &mut Session<'_, '_>,
    row: &Row,
    leader: &[Template],
) -> Result<Option<String>, LabError> {
    let failed = |why: String| {
        LabError::Environment(format!("row `{}`: who leads is not known: {why}", row.name))
    };
    let shim = Shim::apart(&mut session.topology, "leader");
    let asked = command(&mut session.topology, leader).map_err(failed)?;
    let among = &row.among;
    let asking = async {
        let mut why = "nobody has answered yet".to_owned();
        let until = Instant::now() + CERTAIN_WITHIN;
        loop {
            match timeout_at(until, carry_out(&asked, &shim)).await {
                Ok(Ok(said)) if among.contains(&said) => return Ok(said),
                Ok(Ok(said)) => {
                    why = format!(
                        "the command says `{said}`, which is none of {}",
                        among.join(", ")
                    );
                }
                Ok(Err(error)) => why = error,
                Err(_) => return Err(why),
            }
            sleep(AGAIN_AFTER).await;
        }
    };
    tokio::select! {
        found = asking => found.map(Some).map_err(failed),
        () = stopped(&mut session.stop) => Ok(None),
    }
}
