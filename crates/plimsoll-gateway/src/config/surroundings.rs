//! Inputs of a configuration beside its own text: the files and variables that it names, and the time of day by which certificates expire.

use std::fmt;
use std::io;
use std::time::Duration;

/// Reads a file that a configuration names, relative to wherever the configuration is.
pub type ReadFile<'a> = &'a dyn Fn(&str) -> io::Result<Vec<u8>>;

/// Reads a variable of the environment; `None` if it is not set.
pub type ReadVariable<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Inputs of a configuration when it is read.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// How files are read that it names.
    pub files: ReadFile<'a>,
    /// How variables of the environment are read that it names, and those of AWS.
    pub variables: ReadVariable<'a>,
    /// The time of day, since 1970.
    pub now: Duration,
}

impl Surroundings<'_> {
    /// No files and no variables at all.
    #[must_use]
    pub fn none() -> Self {
        Self {
            files: &|_| Err(io::Error::other("there are no files here")),
            variables: &|_| None,
            now: Duration::ZERO,
        }
    }
}

impl fmt::Debug for Surroundings<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Surroundings")
            .field("now", &self.now)
            .finish_non_exhaustive()
    }
}
