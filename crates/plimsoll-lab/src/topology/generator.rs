//! The load generator as the lab sees it: a child that takes a plan and says messages, one per line.

use crate::error::{LabError, LogTail};
use crate::mask::Mask;
use crate::topology::child::{BoundedLines, Child, STOP_GRACE};
use crate::topology::shim::Spec;
use plimsoll_base::ignored::Ignored as _;
use plimsoll_load::fragment::Message;
use plimsoll_load::plan::Plan;
use plimsoll_report::record::GENERATOR;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::process::ChildStdout;

/// The longest message: a second of every series of a long scenario.
const MESSAGE_BYTES: usize = 64 * 1024 * 1024;
/// How long the generator may take to end once it has said that it has finished.
const END_GRACE: Duration = Duration::from_secs(10);

/// How a generator is started.
#[derive(Debug, Clone)]
pub struct GeneratorSpec<'a> {
    /// Our own executable.
    pub executable: &'a Path,
    /// Processors that it is pinned to; any when empty.
    pub cpus: Vec<usize>,
    /// Its whole environment.
    pub environment: BTreeMap<String, String>,
    /// The file to which its standard error is appended.
    pub log: PathBuf,
    /// The process whose namespaces it joins.
    pub host: Option<u32>,
    /// The directory of the run, which its shim removes as the last where the lab is gone.
    pub scratch: PathBuf,
    /// Mask of its output.
    pub mask: &'a Mask,
}

/// A running generator.
pub struct Generator {
    child: Child,
    messages: BoundedLines<ChildStdout>,
    log: PathBuf,
}

impl Generator {
    /// Starts a generator and hands it the plan.
    ///
    /// # Errors
    /// [`LabError`] when it does not start.
    pub async fn start(spec: GeneratorSpec<'_>, plan: &Plan) -> Result<Self, LabError> {
        let line = serde_json::to_string(plan)
            .map_err(|error| LabError::Internal(format!("a plan: {error}")))?;
        let shim = Spec {
            environment: spec.environment,
            cpus: spec.cpus,
            host: spec.host,
            scratch: Some(spec.scratch),
            stdin_line: Some(line),
            secrets: spec.mask.secrets().to_vec(),
            ..Spec::of(
                spec.executable.to_owned(),
                vec!["generator".to_owned()],
                spec.log.clone(),
            )
        };
        let mut child = Child::start(spec.executable, &shim)
            .await
            .map_err(|error| error.into_lab_error(GENERATOR))?;
        let stdout = child
            .take_stdout()
            .ok_or_else(|| LabError::Internal("the generator has no output".to_owned()))?;
        Ok(Self {
            child,
            messages: BoundedLines::new(stdout, MESSAGE_BYTES),
            log: spec.log,
        })
    }

    /// The root of the process tree that belongs to it.
    #[must_use]
    pub fn shim_pid(&self) -> u32 {
        self.child.shim_pid()
    }

    /// The next message. May be dropped and called again.
    ///
    /// # Errors
    /// [`LabError::Died`] when the generator ends without having said that it finished; [`LabError::Internal`] for what is not a message.
    pub async fn next(&mut self) -> Result<Message, LabError> {
        let line = self.messages.next().await;
        let line = line.map_err(|error| LabError::Internal(format!("the generator: {error}")))?;
        match line {
            Some(line) => serde_json::from_str(&line).map_err(|error| {
                let start: String = line.chars().take(200).collect();
                LabError::Internal(format!("the generator said `{start}`: {error}"))
            }),
            None => {
                let exit = self.child.ended().await;
                Err(LabError::Died {
                    component: GENERATOR.to_owned(),
                    reason: exit.to_string(),
                    log: LogTail::read(&self.log),
                })
            }
        }
    }

    /// Asks for a clean end: arrivals stop, exchanges under way are given up, accounts are said.
    pub async fn ask_to_stop(&mut self) {
        self.child
            .close_stdin()
            .await
            .ignored("one that has ended already says so with its messages");
    }

    /// Waits for the end after the last message.
    pub async fn finish(mut self) {
        if tokio::time::timeout(END_GRACE, self.child.ended())
            .await
            .is_err()
        {
            self.child.stop(STOP_GRACE).await;
        }
    }
}
