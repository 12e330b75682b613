//! Why something could not be measured.

use rustix::io::Errno;
use std::sync::Arc;

/// An error of measuring, by whose it is.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system refused something.
    #[error("{what}: {source}")]
    Io {
        /// The thing that was tried.
        what: String,
        /// The system's refusal.
        source: std::io::Error,
    },
    /// The measured program did not behave as the measurement needs it.
    #[error("{0}")]
    Measured(String),
    /// This machine lacks something.
    #[error("{0}")]
    Missing(String),
    /// The arguments ask for what there is not.
    #[error("{0}")]
    Asked(String),
    /// The program was asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// An error of the system.
    pub fn io(what: impl Into<String>, source: std::io::Error) -> Self {
        let what = what.into();
        Self::Io { what, source }
    }

    /// Wraps an error of the system with what was tried.
    pub fn when(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }

    /// An error that came of touching a process that shall be running. That it is gone is its own failure, not the machine's: ESRCH, and
    /// under `/proc` ENOENT.
    pub fn at_process(what: impl Into<String>, source: std::io::Error) -> Self {
        let gone = [Errno::SRCH, Errno::NOENT].map(|errno| Some(errno.raw_os_error()));
        if gone.contains(&source.raw_os_error()) {
            return Self::Measured(format!("{}: the process has vanished", what.into()));
        }
        Self::io(what, source)
    }

    /// An error that came of talking to a server that shall be running. That it refuses, resets, closes or keeps silent is its own failure;
    /// what this process or machine has too little of is not.
    pub fn at_server(
        what: impl Into<String>,
        error: impl std::error::Error + Send + Sync + 'static,
    ) -> Self {
        let ours = [
            Errno::MFILE,
            Errno::NFILE,
            Errno::ADDRNOTAVAIL,
            Errno::NOBUFS,
            Errno::NOMEM,
        ];
        match errno(&error).filter(|errno| ours.contains(errno)) {
            Some(errno) => Self::io(what, errno.into()),
            None => Self::Measured(format!("{}: {}", what.into(), in_full(&error))),
        }
    }
}

/// The error of the system that an error of a library came of.
fn errno(error: &(dyn std::error::Error + 'static)) -> Option<Errno> {
    let of_system = error.downcast_ref().and_then(Errno::from_io_error);
    let shared = || errno(&**error.downcast_ref::<Arc<dyn std::error::Error + Send + Sync>>()?);
    of_system.or_else(shared).or_else(|| errno(error.source()?))
}

/// An error with those that it came of, where it does not say them itself.
fn in_full(error: &dyn std::error::Error) -> String {
    let said = error.to_string();
    match error.source().map(in_full) {
        Some(cause) if !said.contains(&cause) => format!("{said}: {cause}"),
        _ => said,
    }
}
