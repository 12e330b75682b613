//! `run`: commands of the user's inject the fault and heal it.

use super::super::{Step, step};
use super::Kind;
use crate::topology::component::{Topology, inherited};
use crate::undo::Undo;
use plimsoll_experiment::{Run, Template};
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;
use tokio::time::{Instant, sleep};

/// How long a command that verifies may be asked again.
const CERTAIN_WITHIN: Duration = Duration::from_secs(10);
const AGAIN_AFTER: Duration = Duration::from_millis(50);
/// Most bytes of what a command says that are told.
const SAID_BYTES: usize = 300;

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
        let mut command = |arguments: &[Template]| command(topology, arguments);
        let ready = Ready {
            inject: command(&self.run.inject)?,
            verify: command(&self.run.verify)?,
            heal: command(&self.run.heal)?,
            healed: command(&self.run.healed)?,
        };
        let heal = ready.heal.clone();
        self.ready = Some(ready);
        Ok(Some(heal))
    }

    fn inject(&mut self, _: &mut Topology<'_>) -> Step {
        let ready = self.ready();
        step(async move {
            let ready = ready?;
            carry_out(&ready.inject)
                .await
                .map_err(|why| format!("`inject`: {why}"))?;
            certain(&ready.verify)
                .await
                .map_err(|why| format!("`verify`: {why}"))?;
            Ok("`verify` ends with status 0".to_owned())
        })
    }

    fn heal(&mut self, _: &mut Topology<'_>) -> Step {
        let ready = self.ready();
        step(async move {
            let ready = ready?;
            carry_out(&ready.heal)
                .await
                .map_err(|why| format!("`heal`: {why}"))?;
            certain(&ready.healed)
                .await
                .map_err(|why| format!("`healed`: {why}"))?;
            Ok("`healed` ends with status 0".to_owned())
        })
    }
}

/// A command with its substitutions made.
fn command(topology: &mut Topology<'_>, arguments: &[Template]) -> Result<Undo, String> {
    let directory = topology.directory();
    let (values, addresses) = topology.values();
    let environment = inherited(values);
    let arguments = arguments.iter().map(|argument| {
        let value = values.resolve(argument, None, addresses);
        value
            .map(|value| value.expose().to_owned())
            .map_err(|error| error.to_string())
    });
    Ok(Undo::Run {
        command: arguments.collect::<Result<_, _>>()?,
        dir: directory,
        environment,
    })
}

/// Runs a command until it ends with status 0.
async fn certain(run: &Undo) -> Result<(), String> {
    let deadline = Instant::now() + CERTAIN_WITHIN;
    loop {
        match carry_out(run).await {
            Err(why) if Instant::now() > deadline => return Err(why),
            Err(_) => sleep(AGAIN_AFTER).await,
            Ok(()) => return Ok(()),
        }
    }
}

async fn carry_out(run: &Undo) -> Result<(), String> {
    let Undo::Run {
        command,
        dir,
        environment,
    } = run
    else {
        return Err("it is no command".to_owned());
    };
    let (program, arguments) = command.split_first().ok_or("it is empty")?;
    let output = Command::new(program)
        .args(arguments)
        .current_dir(dir)
        .env_clear()
        .envs(environment)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said: String = said.trim().chars().take(SAID_BYTES).collect();
    Err(format!("{program}: {}: {said}", output.status))
}
