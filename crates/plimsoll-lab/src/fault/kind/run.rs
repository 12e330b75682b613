//! `run`: commands of the user's inject the fault and heal it.

use super::super::{Step, step};
use super::Kind;
use crate::topology::child::{Child, Exit};
use crate::topology::component::{Topology, inherited};
use crate::topology::shim::{Spec, Stdout};
use crate::undo::Undo;
use plimsoll_base::ignored::Ignored as _;
use plimsoll_experiment::{Run, Template};
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long a command that verifies may be asked again.
const CERTAIN_WITHIN: Duration = Duration::from_secs(10);
const AGAIN_AFTER: Duration = Duration::from_millis(50);
/// Most bytes of what a command says that are told.
const SAID_BYTES: u64 = 300;

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

/// How commands are run.
#[derive(Clone)]
struct Shim {
    executable: PathBuf,
    log: PathBuf,
    secrets: Vec<String>,
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
        let shim = Shim {
            executable: topology.executable().to_owned(),
            log: topology.log("faults"),
            secrets: topology.values().0.mask().secrets().to_vec(),
        };
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
async fn certain(run: &Undo, shim: &Shim) -> Result<(), String> {
    let deadline = Instant::now() + CERTAIN_WITHIN;
    loop {
        match carry_out(run, shim).await {
            Err(why) if Instant::now() > deadline => return Err(why),
            Err(_) => sleep(AGAIN_AFTER).await,
            Ok(()) => return Ok(()),
        }
    }
}

/// Runs a command to its end: under a shim, so that nothing of it outlives the step or the lab.
async fn carry_out(run: &Undo, shim: &Shim) -> Result<(), String> {
    let Undo::Run {
        command,
        dir,
        environment,
    } = run
    else {
        return Err("it is no command".to_owned());
    };
    let (program, arguments) = command.split_first().ok_or("it is empty")?;
    let known = std::fs::metadata(&shim.log).map_or(0, |log| log.len());
    let spec = Spec {
        environment: environment.clone(),
        dir: Some(dir.clone()),
        stdout: Stdout::Log(shim.log.clone()),
        secrets: shim.secrets.clone(),
        ..Spec::of(program.into(), arguments.to_vec(), shim.log.clone())
    };
    let started = Child::start(&shim.executable, &spec).await;
    let mut child = started.map_err(|error| error.to_string())?;
    child.close_stdin().await.ignored("it has ended already");
    match child.ended().await {
        Exit::Code(0) => Ok(()),
        exit => Err(format!("{program}: {exit}: {}", said(&shim.log, known))),
    }
}

/// The beginning of what was said since the log was so long.
fn said(log: &Path, known: u64) -> String {
    let read = || -> io::Result<Vec<u8>> {
        let mut file = File::open(log)?;
        file.seek(SeekFrom::Start(known))?;
        let mut said = Vec::new();
        file.take(SAID_BYTES).read_to_end(&mut said)?;
        Ok(said)
    };
    let said = read().unwrap_or_default();
    String::from_utf8_lossy(&said).trim().to_owned()
}
