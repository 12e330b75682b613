//! What an experiment file refers to beyond itself, as one interface, so that loading is a function of its inputs.

use std::io;
use std::path::Path;

/// Files and environment variables as seen by the loader.
pub trait Surroundings {
    /// The content of a file.
    ///
    /// # Errors
    /// As of [`std::fs::read`].
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// Whether `path` is a directory.
    fn is_directory(&self, path: &Path) -> bool;

    /// The value of an environment variable.
    fn variable(&self, name: &str) -> Option<String>;
}

/// The disk; variables come from whoever may read the environment.
pub struct Disk<F>(
    /// Looks up an environment variable.
    pub F,
);

impl<F: Fn(&str) -> Option<String>> Surroundings for Disk<F> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        std::fs::read(path)
    }

    fn is_directory(&self, path: &Path) -> bool {
        path.is_dir()
    }

    fn variable(&self, name: &str) -> Option<String> {
        (self.0)(name)
    }
}
