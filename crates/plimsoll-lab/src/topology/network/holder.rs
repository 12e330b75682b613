//! A holder seen from the lab: the child that holds a host's namespaces, and the way into its network.

use super::hold::{Held, Order};
use crate::topology::child::{BoundedLines, Child};
use crate::topology::namespace::NetworkNamespace;
use crate::topology::shim::Spec;
use std::io;
use std::path::Path;
use std::time::Duration;
use tokio::process::ChildStdout;
use tokio::time::timeout;

/// The subcommand of our own executable that holds namespaces.
pub(super) const SUBCOMMAND: &str = "hold";
/// How long a holder may take for an order.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);
/// The longest answer, in bytes.
const ANSWER_BYTES: usize = 64 * 1024;

/// A process that holds namespaces. Dropping it lets go of them.
pub(super) struct Holder {
    child: Child,
    answers: BoundedLines<ChildStdout>,
    network: NetworkNamespace,
}

impl Holder {
    /// Starts one, and waits until it holds.
    pub(super) async fn start(executable: &Path, log: &Path, held: &Held) -> io::Result<Self> {
        let spec = Spec {
            scratch: match held {
                Held::Host { dir, .. } => dir.parent().map(Path::to_owned),
                Held::Switch => None,
            },
            stdin_line: Some(serde_json::to_string(held)?),
            ..Spec::of(
                executable.to_owned(),
                vec![SUBCOMMAND.to_owned()],
                log.to_owned(),
            )
        };
        let mut child = Child::start(executable, &spec)
            .await
            .map_err(io::Error::other)?;
        let output = child.take_stdout().ok_or(io::ErrorKind::BrokenPipe)?;
        let mut answers = BoundedLines::new(output, ANSWER_BYTES);
        answered(&mut answers).await?;
        let network = NetworkNamespace::of(child.pid())?;
        Ok(Self {
            child,
            answers,
            network,
        })
    }

    /// The process whose namespaces they are.
    pub(super) fn pid(&self) -> u32 {
        self.child.pid()
    }

    /// Its network.
    pub(super) fn network(&self) -> &NetworkNamespace {
        &self.network
    }

    /// Gives an order and waits until it is carried out.
    pub(super) async fn order(&mut self, order: &Order) -> io::Result<()> {
        self.child.say(serde_json::to_string(order)?).await?;
        answered(&mut self.answers).await
    }

    /// Ends it, and waits for its end.
    pub(super) async fn end(mut self) {
        self.child.kill().await;
    }
}

/// Waits for the answer to one order; one that is not empty says why it was not carried out.
async fn answered(answers: &mut BoundedLines<ChildStdout>) -> io::Result<()> {
    let answer = timeout(ANSWER_WITHIN, answers.next()).await;
    let answer = answer.map_err(|_| io::ErrorKind::TimedOut)??;
    match answer.as_deref() {
        Some("") => Ok(()),
        Some(reason) => Err(io::Error::other(reason.to_owned())),
        None => Err(io::Error::other("its holder ended")),
    }
}
