//! Reads body files: only below `__files`, links included.

use std::fs;
use std::path::{Component, Path, PathBuf};

/// The largest body file, in bytes. Bodies are held in memory, ready to send.
const LONGEST: u64 = 64 << 20;

/// The `__files` directory of a root, or nothing where there is no root.
#[derive(Debug, Clone, Default)]
pub(crate) struct BodyFiles {
    directory: Option<PathBuf>,
}

impl BodyFiles {
    /// The body files of a root directory.
    pub(crate) fn below(root: &Path) -> Self {
        Self {
            directory: Some(root.join("__files")),
        }
    }

    /// The content of the file that a mapping names; the error says what is wrong with the name.
    pub(crate) fn read(&self, name: &str) -> Result<Vec<u8>, String> {
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
        let missing = |error| format!("\"{name}\" cannot be read below __files: {error}");
        let directory = directory.canonicalize().map_err(missing)?;
        let path = directory.join(relative).canonicalize().map_err(missing)?;
        if !path.starts_with(&directory) {
            return Err(format!("\"{name}\" lies outside __files"));
        }
        let metadata = fs::metadata(&path).map_err(missing)?;
        if !metadata.is_file() {
            // Reading a pipe would wait for a writer that may never come.
            return Err(format!("\"{name}\" is not a regular file"));
        }
        let size = metadata.len();
        if size > LONGEST {
            return Err(format!(
                "\"{name}\" has {size} bytes, more than the limit of {LONGEST}"
            ));
        }
        fs::read(&path).map_err(missing)
    }
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
        check("sub/pipe", Err("is not a regular file"));
        check("sub", Err("is not a regular file"));
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
