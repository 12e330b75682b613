//! Everything that an experiment file refers to beyond itself, as one interface, so that loading is a function of its inputs.

use plimsoll_files::Limit;
use std::io;
use std::path::Path;

/// The longest file that an experiment may name, in bytes: bodies are held in memory.
pub const MAX_FILE_BYTES: u64 = Limit::CONTENT.bytes();

/// Files and environment variables as seen by the loader.
pub trait Surroundings {
    /// The content of a file.
    ///
    /// # Errors
    /// As of [`plimsoll_files::read`]; [`io::ErrorKind::FileTooLarge`] beyond [`MAX_FILE_BYTES`].
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// Whether `path` is a directory.
    fn is_directory(&self, path: &Path) -> bool;

    /// The names of what is in a directory, in no particular order; those that are no UTF-8 are left out.
    ///
    /// # Errors
    /// As of [`std::fs::read_dir`]; [`io::ErrorKind::Unsupported`] where there are no directories.
    fn list(&self, _path: &Path) -> io::Result<Vec<String>> {
        Err(io::ErrorKind::Unsupported.into())
    }

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
        plimsoll_files::read(path, Limit::CONTENT)
    }

    fn is_directory(&self, path: &Path) -> bool {
        path.is_dir()
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        let mut names = vec![];
        for entry in std::fs::read_dir(path)? {
            names.extend(entry?.file_name().into_string());
        }
        Ok(names)
    }

    fn variable(&self, name: &str) -> Option<String> {
        (self.0)(name)
    }
}

/// One experiment file that exists nowhere but here; what it names is on the disk.
pub struct Inline<'a> {
    /// Name of the file in its problems.
    pub name: &'a str,
    /// Its text.
    pub text: String,
}

impl Surroundings for Inline<'_> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        if path == Path::new(self.name) {
            Ok(self.text.clone().into_bytes())
        } else {
            Disk(nothing).read(path)
        }
    }

    fn is_directory(&self, path: &Path) -> bool {
        Disk(nothing).is_directory(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        Disk(nothing).list(path)
    }

    fn variable(&self, name: &str) -> Option<String> {
        nothing(name)
    }
}

fn nothing(_: &str) -> Option<String> {
    None
}
