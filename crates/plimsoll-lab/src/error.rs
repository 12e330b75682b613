//! Why a run ended early, and which kind of reason that is. Exit codes are the binary's decision: it maps [`ErrorKind`].

use crate::mask::Mask;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Whose doing an error is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The author of the experiment: something in the file, or the run directory's name.
    Input,
    /// The host: a component that did not start, a port, a permission, a full disk.
    Environment,
    /// A defect of this program.
    Internal,
    /// A component ended in the middle of the run although nothing told it to.
    ComponentDied,
}

/// Why a run ended early. Every message names what to look at.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The experiment asks for something that cannot be.
    #[error("{0}")]
    Input(String),
    /// The host does not allow or lacks something.
    #[error("{0}")]
    Environment(String),
    /// An invariant of this program does not hold.
    #[error("internal error: {0}")]
    Internal(String),
    /// A file or directory of the run could not be written or read.
    #[error("{}: cannot {action}: {source}", path.display())]
    Storage {
        /// The attempted action, after "cannot".
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A component never became ready.
    #[error("component `{component}` did not start: {reason}{}", log.iter().map(LogTail::to_string).collect::<String>())]
    NotStarted {
        /// Its name in the experiment.
        component: String,
        /// The reason.
        reason: String,
        /// The end of its log; `None` when its program never ran.
        log: Option<LogTail>,
    },
    /// A component of ours refuses what the experiment gives it: a stub, a configuration.
    #[error("component `{component}` refuses its input{log}")]
    RefusedInput {
        /// Its name in the experiment.
        component: String,
        /// The end of its log, which lists what is wrong.
        log: LogTail,
    },
    /// A feeder of a load came to its end, and the experiment says that this is an error. What was measured until then is kept.
    #[error(
        "the feeder `{feeder}` has dealt all of its {rows} rows: give it more, or write `at_end: repeat`"
    )]
    OutOfRows {
        /// Its name.
        feeder: String,
        /// How many it had.
        rows: u32,
    },
    /// A fault was injected, and something of it may be left.
    #[error("fault `{fault}` is not healed: {reason}; `plimsoll heal {}` undoes what is left of it", run.display())]
    NotHealed {
        /// Its name in the experiment.
        fault: String,
        /// The reason.
        reason: String,
        /// The run directory, whose record says what is to be undone.
        run: PathBuf,
    },
    /// A component ended by itself after it had been ready.
    #[error("component `{component}` died: {reason}{log}")]
    Died {
        /// Its name in the experiment.
        component: String,
        /// Its exit status, in words.
        reason: String,
        /// The end of its log.
        log: LogTail,
    },
}

impl LabError {
    /// Whose doing the error is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Input(_) | Self::RefusedInput { .. } | Self::OutOfRows { .. } => ErrorKind::Input,
            Self::Environment(_)
            | Self::Storage { .. }
            | Self::NotStarted { .. }
            | Self::NotHealed { .. } => ErrorKind::Environment,
            Self::Internal(_) => ErrorKind::Internal,
            Self::Died { .. } => ErrorKind::ComponentDied,
        }
    }

    /// This error, with the run's secrets masked in the words of components and servers of others.
    pub(crate) fn masked(mut self, mask: &Mask) -> Self {
        let hide = |text: &mut String| *text = mask.text(text).into_owned();
        match &mut self {
            Self::Input(said) | Self::Environment(said) | Self::Internal(said) => hide(said),
            Self::NotHealed { reason, .. } => hide(reason),
            Self::NotStarted { reason, log, .. } => {
                hide(reason);
                let lines = log.iter_mut().flat_map(|log| &mut log.0);
                lines.for_each(hide);
            }
            Self::RefusedInput { log, .. } => log.0.iter_mut().for_each(hide),
            Self::Died { reason, log, .. } => {
                hide(reason);
                log.0.iter_mut().for_each(hide);
            }
            Self::Storage { .. } | Self::OutOfRows { .. } => {}
        }
        self
    }

    /// A function that turns an I/O error on `path` into [`LabError::Storage`]; `action` follows "cannot".
    pub(crate) fn storage(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Storage {
            action,
            path,
            source,
        }
    }
}

/// The last lines of a component's log, printed below a message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogTail(pub Vec<String>);

impl LogTail {
    /// How many lines are shown.
    pub const LINES: usize = 10;
    /// How many bytes at the end of a log are looked at.
    const BYTES: u64 = 16 * 1024;

    /// The end of the log at `path`; empty when there is none.
    #[must_use]
    pub fn read(path: &Path) -> Self {
        Self::try_read(path).unwrap_or_default()
    }

    fn try_read(path: &Path) -> io::Result<Self> {
        use std::io::{Read as _, Seek as _, SeekFrom};
        let mut file = std::fs::File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(Self::BYTES)))?;
        let mut bytes = Vec::new();
        file.take(Self::BYTES).read_to_end(&mut bytes)?;
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.lines().collect();
        let first = lines.len().saturating_sub(Self::LINES);
        Ok(Self(lines[first..].iter().map(|&l| l.to_owned()).collect()))
    }
}

impl fmt::Display for LogTail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return write!(f, " (its log is empty)");
        }
        write!(f, "; the end of its log:")?;
        self.0.iter().try_for_each(|line| write!(f, "\n    {line}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_log_is_cut_to_its_last_lines() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let text: Vec<String> = (0..5000).map(|i| format!("line {i}")).collect();
        std::fs::write(file.path(), text.join("\n")).unwrap();
        assert_eq!(LogTail::read(file.path()).0, text[4990..]);
    }

    #[test]
    fn a_death_names_component_status_and_log() {
        let error = LabError::Died {
            component: "proxy".into(),
            reason: "exit status 1".into(),
            log: LogTail(vec!["bind: address in use".into()]),
        };
        insta::assert_snapshot!(error, @r"
        component `proxy` died: exit status 1; the end of its log:
            bind: address in use
        ");
    }
}
