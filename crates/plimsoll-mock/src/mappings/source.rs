//! Stub mappings from a root directory: `mappings/**/*.json`, bodies from `__files`.
//!
//! Files are read in the order of their paths; a later one is newer. Links are followed only to places below the root.

use crate::error::MockError;
use plimsoll_base::ignored::Ignored as _;
use plimsoll_files::{Limit, read_text};
use plimsoll_wiremock::reader::body_files::BodyFiles;
use plimsoll_wiremock::reader::problem::{FileProblem, StubProblem};
use plimsoll_wiremock::reader::surroundings::Surroundings;
use plimsoll_wiremock::stub::{Shape, SourceFile, Stub, StubMapping, read_document, read_mapping};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::num::NonZero;
use std::path::{Path, PathBuf};

/// The fewest files for which a thread is worth its while.
const FILES_PER_THREAD: usize = 250;

/// Content of a directory.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    /// How many mapping files there are.
    pub(crate) files: usize,
    /// The mappings that can be used.
    pub(crate) mappings: Vec<StubMapping>,
    /// How many mappings have problems.
    pub(crate) refused: usize,
    /// Every problem of every file.
    pub(crate) problems: Vec<FileProblem>,
}

/// Reads every mapping that a mock begins with: those of its root directory, if it has one, and below them the one that sends
/// everything else to `proxy_all`.
pub(crate) fn load_initial(
    root: Option<&Path>,
    around: &Surroundings,
    proxy_all: Option<&str>,
) -> Result<Loaded, MockError> {
    /// WireMock's: stubs without a priority of their own come first.
    const PRIORITY: i32 = 10;
    let mut loaded = match root {
        Some(root) => load(root, around)?,
        None => Loaded::default(),
    };
    if let Some(url) = proxy_all {
        let mapping = json!({
            "priority": PRIORITY, "request": {"method": "ANY"}, "response": {"proxyBaseUrl": url},
        });
        loaded.add("--proxy-all", read_mapping(&mapping.to_string(), around));
    }
    Ok(loaded)
}

/// Reads every mapping below `root`. A root without `mappings` has none.
pub(crate) fn load(root: &Path, around: &Surroundings) -> Result<Loaded, MockError> {
    let failed = |error| MockError::File {
        path: root.to_owned(),
        error,
    };
    let root = root.canonicalize().map_err(failed)?;
    let mut found = MappingFiles::default();
    let mappings = root.join("mappings");
    if mappings.exists() {
        found.walk(&root, &mappings).map_err(failed)?;
    }
    let around = Surroundings {
        files: BodyFiles::below(&root),
        ..around.clone()
    };
    let mut loaded = Loaded {
        files: found.files.len(),
        problems: found.problems,
        ..Loaded::default()
    };
    let mut ids = BTreeMap::new();
    let files: Vec<&PathBuf> = found.files.iter().collect();
    let documents = read_all(&files, |path| read_file(path, &around));
    for (path, results) in files.iter().zip(documents) {
        let name = shown(&root, path);
        for result in results {
            let result = result.and_then(|mapping| claim_id(mapping, &name, &mut ids));
            loaded.add(&name, result);
        }
    }
    Ok(loaded)
}

/// Reads the mappings of a file, each with the file that it is in.
fn read_file(path: &Path, around: &Surroundings) -> Vec<Result<StubMapping, Vec<StubProblem>>> {
    let text = match read_text(path, Limit::DOCUMENT) {
        Ok(text) => text,
        Err(error) => return vec![Err(vec![StubProblem::invalid("", error.to_string())])],
    };
    let (results, shape) = read_document(&text, around);
    let file = match shape {
        Shape::One => SourceFile::Single(path.to_owned()),
        Shape::List => SourceFile::List(path.to_owned()),
    };
    let of_file = |result: Result<StubMapping, _>| Ok(result?.in_file(file.clone()));
    results.into_iter().map(of_file).collect()
}

/// Reads files on as many threads as there are processors, if there are many; what was read is in the order of the files.
fn read_all<T: Send>(files: &[&PathBuf], read: impl Fn(&Path) -> T + Sync) -> Vec<T> {
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    let share = files.len().div_ceil(threads).max(FILES_PER_THREAD);
    let read = &read;
    let read_share = |files: &[&PathBuf]| files.iter().map(|path| read(path)).collect::<Vec<T>>();
    std::thread::scope(|scope| {
        let shares: Vec<_> = files
            .chunks(share)
            .map(|files| scope.spawn(move || read_share(files)))
            .collect();
        let read = shares.into_iter().flat_map(|share| match share.join() {
            Ok(read) => read,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        read.collect()
    })
}

/// Writes a stub to the file that it came from, or else to one of its own below `mappings`: as a whole, under another name first.
pub(crate) fn save(root: &Path, stub: &Stub) -> io::Result<()> {
    let path = match stub
        .file
        .get_or_init(|| SourceFile::Single(saved_path(root, stub)))
    {
        SourceFile::Single(path) => path,
        SourceFile::List(path) => return Err(read_only(path, "saved")),
    };
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    let mut document = stub.document.clone();
    document["persistent"] = true.into();
    let unfinished = path.with_extension("unfinished");
    let written = fs::write(&unfinished, format!("{document:#}\n"));
    let written = written.and_then(|()| fs::rename(&unfinished, path));
    written.inspect_err(|_| {
        fs::remove_file(&unfinished)
            .ignored("what cannot be removed was most likely not written either");
    })
}

/// WireMock's words about a file with a list of mappings.
fn read_only(path: &Path, what: &str) -> io::Error {
    let path = path.display();
    io::Error::other(format!(
        "Stubs loaded from multi-mapping files are read-only, and therefore cannot be {what}: {path}"
    ))
}

/// The names of the files in which stubs are saved; none where there is no such directory.
pub(crate) fn saved_names(root: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(root.join("mappings")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let name = |entry: io::Result<fs::DirEntry>| Ok(entry?.file_name().display().to_string());
    entries.map(name).collect()
}

/// Removes the file that a stub is in, if it is in one. The error says of a file with a list of mappings that it stays.
pub(crate) fn forget(stub: &Stub) -> io::Result<()> {
    match stub.file.get() {
        None => Ok(()),
        Some(SourceFile::List(path)) => Err(read_only(path, "removed")),
        Some(SourceFile::Single(path)) => match fs::remove_file(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            result => result,
        },
    }
}

/// Where a stub is saved: its name, where it has one, and its id.
fn saved_path(root: &Path, stub: &Stub) -> PathBuf {
    let name = stub.document.get("name").and_then(Value::as_str);
    let name: String = name
        .unwrap_or_default()
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_lowercase()
            } else {
                '-'
            }
        })
        .take(100)
        .collect();
    let separator = if name.is_empty() { "" } else { "-" };
    root.join("mappings")
        .join(format!("{name}{separator}{}.json", stub.id))
}

impl Loaded {
    fn add(&mut self, file: &str, result: Result<StubMapping, Vec<StubProblem>>) {
        match result {
            Ok(mapping) => self.mappings.push(mapping),
            Err(problems) => {
                self.refused += 1;
                self.problems
                    .extend(problems.into_iter().map(|problem| FileProblem {
                        file: file.to_owned(),
                        problem,
                    }));
            }
        }
    }
}

/// An id belongs to the first file that has it.
fn claim_id(
    mapping: StubMapping,
    file: &str,
    ids: &mut BTreeMap<plimsoll_wiremock::stub_id::StubId, String>,
) -> Result<StubMapping, Vec<StubProblem>> {
    if let Some(id) = mapping.id
        && let Some(first) = ids.insert(id, file.to_owned())
    {
        let message = format!("{id} is already the id of a mapping in {first}");
        return Err(vec![StubProblem::invalid("/id", message)]);
    }
    Ok(mapping)
}

/// The mapping files of a directory tree.
#[derive(Debug, Default)]
struct MappingFiles {
    files: BTreeSet<PathBuf>,
    /// Directories seen, by their real paths: links may form circles.
    directories: BTreeSet<PathBuf>,
    problems: Vec<FileProblem>,
}

impl MappingFiles {
    fn walk(&mut self, root: &Path, directory: &Path) -> io::Result<()> {
        if !self.directories.insert(directory.canonicalize()?) {
            return Ok(());
        }
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let path = entry.path();
            // What is no link in a directory that was resolved is where its path says: one question to the system less per file.
            if entry.file_type()?.is_file() {
                if is_mapping(&path) {
                    self.files.insert(path);
                }
                continue;
            }
            let real = path.canonicalize()?;
            if !real.starts_with(root) {
                self.problems.push(FileProblem {
                    file: shown(root, &path),
                    problem: StubProblem::invalid("", "a link that leaves the root directory"),
                });
            } else if real.is_dir() {
                self.walk(root, &path)?;
            } else if is_mapping(&path) {
                self.add(root, path, &real);
            }
        }
        Ok(())
    }

    /// Notes a mapping file. Reading anything but a regular file could wait for ever.
    fn add(&mut self, root: &Path, path: PathBuf, real: &Path) {
        if real.is_file() {
            self.files.insert(path);
        } else {
            self.problems.push(FileProblem {
                file: shown(root, &path),
                problem: StubProblem::invalid("", "not a regular file"),
            });
        }
    }
}

fn is_mapping(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "json")
}

/// A path as the user knows it: below the root.
fn shown(root: &Path, path: &Path) -> String {
    path.strip_prefix(root)
        .unwrap_or(path)
        .display()
        .to_string()
}
