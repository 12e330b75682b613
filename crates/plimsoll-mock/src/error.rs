//! Why a mock does not start, or ended.

use plimsoll_wiremock::reader::problem::FileProblem;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Why a mock does not start, or ended.
#[derive(Debug, thiserror::Error)]
pub enum MockError {
    /// Something in the stub files is wrong or not supported: wrong input.
    #[error("{}", list(.0))]
    Stubs(Vec<FileProblem>),
    /// The configuration contradicts itself: wrong input.
    #[error("{0}")]
    Config(String),
    /// A file or directory cannot be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// Which one.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on {listen}: {error}")]
    Listen {
        /// The address asked for.
        listen: SocketAddr,
        /// The system's error.
        error: io::Error,
    },
    /// A recording cannot be kept.
    #[error("what was recorded cannot be kept: {0}")]
    Record(String),
    /// The system refused something that serving needs: a thread, a descriptor, a timer.
    #[error("cannot serve: {0}")]
    Serve(#[from] io::Error),
}

/// One problem per line.
fn list(problems: &[FileProblem]) -> String {
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    lines.join("\n")
}
