//! Who is broken in a trial, where there is a choice.

use super::Session;
use crate::error::LabError;
use crate::topology::command::{Shim, carry_out, command};
use plimsoll_base::random::{Draw, Stream};
use plimsoll_experiment::{Choice, Row, Template};
use plimsoll_report::record::Role;

/// Who is broken.
#[derive(Debug, Default)]
pub(super) struct Victim {
    /// `None`: whom the fault names.
    pub(super) name: Option<String>,
    /// Its role, where roles are told apart.
    pub(super) role: Option<Role>,
}

/// Chooses the victim of trial `number`. Who leads is asked right before the load begins.
///
/// # Errors
/// [`LabError::Environment`] where nobody says who leads, or whoever does is no candidate.
pub(super) async fn choose(
    session: &mut Session<'_, '_>,
    row: &Row,
    number: u32,
) -> Result<Victim, LabError> {
    if row.among.is_empty() {
        return Ok(Victim::default());
    }
    // The first value of this key is the moment's.
    let mut draw = Draw::new(session.seed, Stream::Trials, u64::from(number));
    draw.bits();
    let (leads, leader) = match &row.choice {
        Choice::Any => {
            let name = pick(&mut draw, &row.among);
            return Ok(Victim { name, role: None });
        }
        Choice::ByRole { leads, leader } => (*leads, leader_of(session, row, leader).await?),
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
    Ok(Victim {
        name,
        role: Some(role),
    })
}

fn pick(draw: &mut Draw, among: &[String]) -> Option<String> {
    let place = draw.below(among.len().max(1) as u64);
    among.get(usize::try_from(place).ok()?).cloned()
}

async fn leader_of(
    session: &mut Session<'_, '_>,
    row: &Row,
    leader: &[Template],
) -> Result<String, LabError> {
    let failed = |why: String| {
        LabError::Environment(format!("row `{}`: who leads is not known: {why}", row.name))
    };
    let shim = Shim::new(&mut session.topology, "leader");
    let asked = command(&mut session.topology, leader).map_err(failed)?;
    let said = carry_out(&asked, &shim).await.map_err(failed)?;
    match row.among.contains(&said) {
        true => Ok(said),
        false => Err(failed(format!(
            "the command says `{said}`, which is none of {}",
            row.among.join(", ")
        ))),
    }
}
