//! The experiment that a command line spells out, as if it were a file of the current directory.

use crate::environment;
use plimsoll_experiment::Surroundings;
use plimsoll_files::{Kinds, Limit, read_of};
use std::io;
use std::path::Path;

/// Place of problems of the arguments.
pub const SOURCE: &str = "(command line)";

/// Its text. Files that it names are those on disk, and pipes.
pub struct Spelled(pub String);

impl Surroundings for Spelled {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        if path == Path::new(SOURCE) {
            Ok(self.0.clone().into_bytes())
        } else {
            // Named on a command line, where a shell may have made it: `-b @<(…)`.
            read_of(path, Limit::CONTENT, Kinds::FilesAndPipes)
        }
    }

    fn is_directory(&self, path: &Path) -> bool {
        path != Path::new(SOURCE) && environment::surroundings().is_directory(path)
    }

    fn variable(&self, name: &str) -> Option<String> {
        environment::variable(name)
    }
}
