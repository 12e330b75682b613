//! Reads and writes body files: only below `__files`, links included.

use plimsoll_base::ignored::Ignored as _;
use plimsoll_files::Limit;
use std::fs::{self, FileType};
use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

/// The largest body file. Bodies are held in memory, ready to send.
const LONGEST: Limit = Limit::CONTENT;

/// By what a file that has changed is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// The length in bytes.
    pub bytes: u64,
    modified: Option<SystemTime>,
}

/// The `__files` directory of a root, or nothing where there is no root.
#[derive(Debug, Clone, Default)]
pub struct BodyFiles {
    directory: Option<PathBuf>,
}

impl BodyFiles {
    /// The body files of a root directory.
    pub fn below(root: &Path) -> Self {
        Self {
            directory: Some(root.join("__files")),
        }
    }

    /// The names of all files, sorted.
    pub fn list(&self) -> Result<Vec<String>, String> {
        let Some(directory) = self.directory.as_deref().filter(|path| path.is_dir()) else {
            return Ok(Vec::new());
        };
        let failed = |error: io::Error| format!("__files cannot be read: {error}");
        let mut names = Vec::new();
        walk(directory, directory, &mut names).map_err(failed)?;
        names.sort();
        Ok(names)
    }

    /// Writes a file; directories on its way are made.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), String> {
        self.write_by(name, |path| fs::write(path, bytes))
    }

    /// Writes a file that is not there yet, as a whole or not at all; directories on its way are made.
    pub fn create(&self, name: &str, bytes: &[u8]) -> Result<(), String> {
        self.write_by(name, |path| {
            let mut file = fs::File::create_new(path)?;
            file.write_all(bytes).inspect_err(|_| {
                fs::remove_file(path)
                    .ignored("what cannot be removed either stays, and the error is told");
            })
        })
    }

    fn write_by(
        &self,
        name: &str,
        write: impl FnOnce(&Path) -> io::Result<()>,
    ) -> Result<(), String> {
        let path = self.place(name)?;
        let failed =
            |error: io::Error| format!("\"{name}\" cannot be written below __files: {error}");
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        write(&path).map_err(failed)
    }

    /// Removes a file, if it is there.
    pub fn remove(&self, name: &str) -> Result<(), String> {
        match fs::remove_file(self.place(name)?) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(format!("\"{name}\" cannot be removed: {error}"))
            }
            _ => Ok(()),
        }
    }

    /// Where a file of this name is or would be. What of its way is there must lie below `__files`, links included.
    fn place(&self, name: &str) -> Result<PathBuf, String> {
        let (directory, relative) = self.relative(name)?;
        let outside = || format!("\"{name}\" lies outside __files");
        let failed =
            |error: io::Error| format!("\"{name}\" cannot be placed below __files: {error}");
        if relative
            .components()
            .any(|part| part == Component::ParentDir)
        {
            return Err(outside());
        }
        fs::create_dir_all(directory).map_err(failed)?;
        let directory = directory.canonicalize().map_err(failed)?;
        let path = directory.join(relative);
        let there = path
            .ancestors()
            .find(|part| part.symlink_metadata().is_ok());
        let real = there.map_or(Ok(directory.clone()), Path::canonicalize);
        if !real.map_err(failed)?.starts_with(&directory) {
            return Err(outside());
        }
        Ok(path)
    }

    /// The directory, and a name as a path in it that does not climb out.
    fn relative<'a>(&self, name: &'a str) -> Result<(&Path, &'a Path), String> {
        let lower = name.to_ascii_lowercase();
        if ["%2e", "%2f", "%5c", "\0"]
            .iter()
            .any(|encoded| lower.contains(encoded))
        {
            return Err(format!(
                "\"{name}\" has encoded dots or slashes: write the file's own name"
            ));
        }
        let Some(directory) = &self.directory else {
            return Err("body files need a root directory".to_owned());
        };
        let relative = Path::new(name.trim_start_matches('/'));
        if leaves(relative) {
            return Err(format!("\"{name}\" lies outside __files"));
        }
        Ok((directory, relative))
    }

    /// Whether a file, a directory or nothing has this name; links are followed.
    pub fn file_type(&self, name: &str) -> Option<FileType> {
        let (directory, relative) = self.relative(name).ok()?;
        let metadata = fs::metadata(directory.join(relative)).ok()?;
        Some(metadata.file_type())
    }

    /// By what a file would be known if it changed. Whether it may be read is not asked.
    pub fn stamp(&self, name: &str) -> Result<Stamp, String> {
        let (directory, relative) = self.relative(name)?;
        let metadata = fs::metadata(directory.join(relative));
        let missing =
            |error: io::Error| format!("\"{name}\" cannot be read below __files: {error}");
        let metadata = metadata.map_err(missing)?;
        Ok(Stamp {
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
        })
    }

    /// The content of the file that a mapping names; the error says what is wrong with the name.
    pub fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        let (directory, relative) = self.relative(name)?;
        let missing =
            |error: io::Error| format!("\"{name}\" cannot be read below __files: {error}");
        let directory = directory.canonicalize().map_err(missing)?;
        let path = directory.join(relative).canonicalize().map_err(missing)?;
        if !path.starts_with(&directory) {
            return Err(format!("\"{name}\" lies outside __files"));
        }
        plimsoll_files::read(&path, LONGEST).map_err(missing)
    }
}

/// Gathers the names of the files below `directory`, relative to `top`. Links are not followed.
fn walk(top: &Path, directory: &Path, names: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let path = entry.path();
        let kind = entry.file_type()?;
        if kind.is_dir() {
            walk(top, &path, names)?;
        } else if kind.is_file()
            && let Ok(name) = path.strip_prefix(top)
        {
            names.push(name.display().to_string());
        }
    }
    Ok(())
}

/// Whether a relative path climbs out of where it starts.
fn leaves(path: &Path) -> bool {
    let mut depth = 0_i32;
    path.components().any(|component| {
        depth += match component {
            Component::Normal(_) => 1,
            Component::ParentDir => -1,
            Component::CurDir | Component::RootDir | Component::Prefix(_) => 0,
        };
        depth < 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_not_created_again() {
        let root = tempfile::tempdir().unwrap();
        let files = BodyFiles::below(root.path());
        files.create("sub/a", b"first").unwrap();
        let refused = files.create("sub/a", b"second").unwrap_err();
        assert!(refused.contains("exists"), "{refused}");
        assert_eq!(files.read("sub/a").unwrap(), b"first");
    }

    #[test]
    fn nothing_outside_the_directory_is_read() {
        let root = tempfile::tempdir().unwrap();
        let inside = root.path().join("__files/sub");
        fs::create_dir_all(&inside).unwrap();
        fs::write(inside.join("a.txt"), "a").unwrap();
        fs::write(root.path().join("secret.txt"), "s").unwrap();
        std::os::unix::fs::symlink("../../secret.txt", inside.join("link.txt")).unwrap();
        std::os::unix::fs::symlink("a.txt", inside.join("inner.txt")).unwrap();
        std::process::Command::new("mkfifo")
            .arg(inside.join("pipe"))
            .status()
            .unwrap();
        let files = BodyFiles::below(root.path());
        let check = |name: &str, expected: Result<&str, &str>| match (files.read(name), expected) {
            (Ok(actual), Ok(expected)) => assert_eq!(actual, expected.as_bytes(), "{name}"),
            (Err(actual), Err(expected)) => assert!(actual.contains(expected), "{actual}"),
            (actual, expected) => panic!("{name}: {actual:?}, expected {expected:?}"),
        };
        check("sub/a.txt", Ok("a"));
        check("sub/pipe", Err("this is a pipe, not a file"));
        check("sub", Err("this is a directory, not a file"));
        check("/sub/a.txt", Ok("a"));
        check("sub/../sub/a.txt", Ok("a"));
        check("sub/inner.txt", Ok("a"));
        check("../secret.txt", Err("outside"));
        check("../nothing.txt", Err("outside"));
        check("sub/link.txt", Err("outside"));
        check("%2e%2e/secret.txt", Err("encoded"));
        check("sub%2Fa.txt", Err("encoded"));
        check("nothing.txt", Err("cannot be read"));
    }
}
