//! `run`: commands of the user's inject the fault and heal it.

use super::super::{Step, step};
use super::Kind;
use crate::topology::command::{Shim, carry_out, command};
use crate::topology::component::Topology;
use crate::undo::Undo;
use plimsoll_experiment::{Run, Template};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long a command that verifies may be asked again.
const CERTAIN_WITHIN: Duration = Duration::from_secs(10);
const AGAIN_AFTER: Duration = Duration::from_millis(50);

pub(super) struct Commands {
    run: Run,
    /// The commands with their substitutions made, once they are needed.
    ready: Option<Ready>,
}

/// A fault's commands, as they are run.
#[derive(Clone)]
struct Ready {
    inject: Undo,
    verify: Undo,
    heal: Undo,
    healed: Undo,
    shim: Shim,
}

impl Commands {
    pub(super) fn new(run: Run) -> Self {
        Self { run, ready: None }
    }

    fn ready(&self) -> Result<Ready, String> {
        self.ready
            .clone()
            .ok_or_else(|| "its commands are not known".to_owned())
    }
}

impl Kind for Commands {
    fn undo(&mut self, topology: &mut Topology<'_>) -> Result<Option<Undo>, String> {
        let shim = Shim::new(topology, "faults");
        let mut command = |arguments: &[Template]| command(topology, arguments);
        let ready = Ready {
            inject: command(&self.run.inject)?,
            verify: command(&self.run.verify)?,
            heal: command(&self.run.heal)?,
            healed: command(&self.run.healed)?,
            shim,
        };
        let heal = ready.heal.clone();
        self.ready = Some(ready);
        Ok(Some(heal))
    }

    fn inject(&mut self, _: &mut Topology<'_>) -> Step {
        let ready = self.ready();
        step(async move {
            let ready = ready?;
            let run = async |name: &str, undo: &Undo| {
                let done = carry_out(undo, &ready.shim).await;
                done.map_err(|why| format!("`{name}`: {why}"))
            };
            if run("verify", &ready.verify).await.is_ok() {
                return Err("`verify` ends with status 0 before anything is injected".to_owned());
            }
            run("inject", &ready.inject).await?;
            certain(&ready.verify, &ready.shim)
                .await
                .map_err(|why| format!("`verify`: {why}"))?;
            Ok("`verify` ends with status 0, and did not before".to_owned())
        })
    }

    fn heal(&mut self, _: &mut Topology<'_>) -> Step {
        let ready = self.ready();
        step(async move {
            let ready = ready?;
            carry_out(&ready.heal, &ready.shim)
                .await
                .map_err(|why| format!("`heal`: {why}"))?;
            certain(&ready.healed, &ready.shim)
                .await
                .map_err(|why| format!("`healed`: {why}"))?;
            Ok("`healed` ends with status 0".to_owned())
        })
    }
}

/// Runs a command until it ends with status 0.
async fn certain(run: &Undo, shim: &Shim) -> Result<(), String> {
    let deadline = Instant::now() + CERTAIN_WITHIN;
    loop {
        match carry_out(run, shim).await {
            Err(why) if Instant::now() > deadline => return Err(why),
            Err(_) => sleep(AGAIN_AFTER).await,
            Ok(_) => return Ok(()),
        }
    }
}
