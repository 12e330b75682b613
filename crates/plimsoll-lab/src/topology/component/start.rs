//! A component on its way: owned by whoever waits for it, so that the others can be watched meanwhile.

use super::Running;
use super::address::Address;
use super::announce::{self, Silence};
use super::failure::not_started;
use super::launch::Launch;
use super::ready;
use super::watched::Watched;
use crate::error::{LabError, LogTail};
use crate::topology::child::{Child, Exit};
use crate::topology::way::Way;
use plimsoll_experiment::{Command, HTTPS};
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;

/// The exit code with which a component of ours refuses its input.
const WRONG_INPUT: u8 = 2;

/// A component that is being started: ready, or why not, and then nothing is left of it.
pub(crate) type Starting = Pin<Box<dyn Future<Output = Result<Started, LabError>>>>;

/// A component that is ready.
pub(crate) struct Started {
    pub(super) running: Running,
    /// Where it listens, as it says itself.
    pub(super) announced: Vec<(String, Address)>,
}

/// When a component counts as ready.
pub(super) enum Readying {
    /// When it says where it listens.
    Announced,
    /// When it answers there.
    Answers(Box<Command>, Address),
}

/// A component that is ready to be started.
pub(super) struct Start {
    pub(super) name: String,
    /// Our own executable, which is its shim.
    pub(super) executable: PathBuf,
    pub(super) launch: Launch,
    pub(super) log: PathBuf,
    pub(super) readying: Readying,
    /// How it is reached; on a host, where it runs.
    pub(super) way: Way,
}

impl Start {
    /// Starts it, and waits until it is ready.
    pub(super) fn begin(self) -> Starting {
        Box::pin(self.run())
    }

    async fn run(mut self) -> Result<Started, LabError> {
        let holder = self.way.holder().await;
        self.launch.spec.host = holder.map_err(|error| LabError::NotStarted {
            component: self.name.clone(),
            reason: format!("its host has no power: {error}"),
            log: None,
        })?;
        let Self { name, log, .. } = &self;
        let mut child = Child::start(&self.executable, &self.launch.spec)
            .await
            .map_err(|error| error.into_lab_error(name))?;
        let ready = match &self.readying {
            Readying::Announced => match announce::wait(&mut child).await {
                Err(Silence::Ended(Exit::Code(WRONG_INPUT))) => {
                    return Err(LabError::RefusedInput {
                        component: name.clone(),
                        log: LogTail::read(log),
                    });
                }
                announced => announced.map_err(|silence| silence.to_string()),
            },
            Readying::Answers(command, address) => {
                let ready = ready::wait(&mut child, command, (&self.way, address)).await;
                ready.map(|()| Vec::new())
            }
        };
        let mut announced = match ready {
            Ok(announced) => announced,
            Err(reason) => return Err(not_started(name, child, &reason, log).await),
        };
        for (listener, address) in &mut announced {
            address.secure = listener == HTTPS;
        }
        Ok(Started {
            running: Running {
                child: Some(child),
                may_end: false,
                groups: self.launch.spec.cgroups,
                log: self.log,
                counters: self.launch.counters,
                watched: Watched::below_shim(),
            },
            announced,
        })
    }
}
