//! The examples of the repository, carried in the binary.

use include_dir::{Dir, DirEntry, include_dir};
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

static EXAMPLES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../examples");

/// The page that lists them: a table of name, question and needs.
const PAGE: &str = "README.md";

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Example {
    /// The name of its directory.
    pub name: &'static str,
    /// The question that it answers.
    pub question: &'static str,
    /// Its requirements, and how long it takes.
    pub needs: &'static str,
}

/// All of them, in the order in which the page lists them.
pub fn all() -> impl Iterator<Item = Example> {
    let page = EXAMPLES.get_file(PAGE);
    let text = page.and_then(|page| page.contents_utf8());
    text.unwrap_or_default().lines().filter_map(row)
}

/// A row of the page, `| [name](name) | question | needs |`.
fn row(line: &'static str) -> Option<Example> {
    let mut cells = line.strip_prefix("| [")?.strip_suffix(" |")?.split(" | ");
    let (name, _) = cells.next()?.split_once(']')?;
    Some(Example {
        name,
        question: cells.next()?,
        needs: cells.next()?,
    })
}

impl Example {
    /// The one of that name.
    pub fn named(name: &str) -> Option<Self> {
        all().find(|example| example.name == name)
    }

    /// Writes its files into `directory`, which is made and must not exist.
    ///
    /// # Errors
    /// An error of the file system; nothing is overwritten.
    pub fn write(self, directory: &Path) -> io::Result<()> {
        fs::create_dir(directory)?;
        EXAMPLES
            .get_dir(self.name)
            .map_or(Ok(()), |files| write(files, self.name, directory))
    }
}

fn write(files: &Dir<'_>, below: &str, directory: &Path) -> io::Result<()> {
    for entry in files.entries() {
        let path = entry.path().strip_prefix(below);
        let path = directory.join(path.unwrap_or(entry.path()));
        match entry {
            DirEntry::Dir(inner) => {
                fs::create_dir(&path)?;
                write(inner, below, directory)?;
            }
            DirEntry::File(file) => {
                fs::write(&path, file.contents())?;
                if file.contents().starts_with(b"#!") {
                    fs::set_permissions(&path, Permissions::from_mode(0o755))?;
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_page_lists_every_directory_once() {
        let listed: Vec<&str> = all().map(|example| example.name).collect();
        let there: BTreeSet<&str> = EXAMPLES
            .dirs()
            .filter_map(|dir| dir.path().to_str())
            .collect();
        assert_eq!(listed.iter().copied().collect::<BTreeSet<_>>(), there);
        assert_eq!(listed.len(), there.len());
        assert!(all().all(|example| example.question.ends_with('?')));
    }

    #[test]
    fn one_is_written_as_it_is_and_nothing_is_overwritten() {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("mine");
        let example = Example::named("shard-routing").unwrap();
        example.write(&directory).unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shard-routing");
        for file in ["experiment.yaml", "run"] {
            let [ours, theirs] = [&directory, &source].map(|dir| dir.join(file));
            assert_eq!(fs::read(&ours).unwrap(), fs::read(&theirs).unwrap());
            let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o100;
            assert_eq!(mode(ours), mode(theirs), "{file}");
        }
        let again = example.write(&directory).unwrap_err();
        assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
    }

    #[test]
    fn directories_within_one_are_written_too() {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("mine");
        Example::named("before-after")
            .unwrap()
            .write(&directory)
            .unwrap();
        assert!(directory.join("stubs/log").is_dir());
    }
}
