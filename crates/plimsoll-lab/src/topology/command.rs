//! Commands of the user's, each run to its end.

use super::child::{Child, Exit};
use super::component::{Topology, inherited};
use super::shim::{Spec, Stdout};
use crate::undo::Undo;
use plimsoll_base::ignored::Ignored as _;
use plimsoll_experiment::Template;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

/// Most bytes of what a command says that are told.
const SAID_BYTES: u64 = 300;

/// How commands are run.
#[derive(Clone)]
pub(crate) struct Shim {
    executable: PathBuf,
    log: PathBuf,
    /// Where errors go.
    errors: PathBuf,
    secrets: Vec<String>,
}

impl Shim {
    /// For commands whose output goes to the log of this name.
    pub(crate) fn new(topology: &mut Topology<'_>, log: &str) -> Self {
        Self {
            executable: topology.executable().to_owned(),
            log: topology.log(log),
            errors: topology.log(log),
            secrets: topology.values().0.mask().secrets().to_vec(),
        }
    }

    /// For commands whose output is an answer: their errors go to a log of their own.
    pub(crate) fn apart(topology: &mut Topology<'_>, log: &str) -> Self {
        Self {
            errors: topology.log(&format!("{log}-errors")),
            ..Self::new(topology, log)
        }
    }
}

/// A command with its substitutions made.
///
/// # Errors
/// In words, which of its substitutions has no value.
pub(crate) fn command(topology: &mut Topology<'_>, arguments: &[Template]) -> Result<Undo, String> {
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

/// Runs a command to its end, and gives the beginning of what it said: under a shim, so that nothing of it outlives the step or the lab.
///
/// # Errors
/// In words, that it did not end with status 0.
pub(crate) async fn carry_out(run: &Undo, shim: &Shim) -> Result<String, String> {
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
        ..Spec::of(program.into(), arguments.to_vec(), shim.errors.clone())
    };
    let started = Child::start(&shim.executable, &spec).await;
    let mut child = started.map_err(|error| error.to_string())?;
    child.close_stdin().await.ignored("it has ended already");
    match child.ended().await {
        Exit::Code(0) => Ok(said(&shim.log, known)),
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
