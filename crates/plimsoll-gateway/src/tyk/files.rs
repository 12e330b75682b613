//! Finding and reading Tyk's files.

use plimsoll_base::document::{Document, Problem, Problems};
use plimsoll_files::Limit;
use std::path::{Path, PathBuf};

/// A file's name, as messages carry it, and its content.
#[derive(Debug)]
pub(super) struct File {
    pub(super) name: String,
    pub(super) text: String,
}

impl File {
    pub(super) fn document(&self) -> Result<Document, Problems> {
        Document::parse_json(&self.name, &self.text)
    }
}

/// Reads one file.
pub(super) fn read(path: &Path) -> Result<File, Problems> {
    let name = path.display().to_string();
    match plimsoll_files::read_text(path, Limit::DOCUMENT) {
        Ok(text) => Ok(File { name, text }),
        Err(error) => Err(Problem::of_file(name, error.to_string()).into()),
    }
}

/// The definitions of a directory, in the order of their names. Companions of OAS and MCP definitions, which lie beside these, are none.
pub(super) fn definitions(directory: &Path) -> Result<Vec<File>, Problems> {
    let is_companion = |name: &str| {
        let stem = ["-oas.json", "-mcp.json"]
            .into_iter()
            .find_map(|end| name.strip_suffix(end));
        stem.is_some_and(|stem| directory.join(format!("{stem}.json")).exists())
    };
    json_files(directory, |name| !is_companion(name))
}

/// The policies of a directory, in the order of their names.
pub(super) fn policies(directory: &Path) -> Result<Vec<File>, Problems> {
    json_files(directory, |_| true)
}

/// A script in a directory, if there is one.
pub(super) fn script(directory: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(directory).ok()?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut scripts = paths.filter(|path| path.extension().is_some_and(|end| end == "js"));
    scripts.next()
}

/// Files beyond which none of a directory is read.
const MOST_FILES: usize = 10_000;

fn json_files(directory: &Path, counts: impl Fn(&str) -> bool) -> Result<Vec<File>, Problems> {
    let refused = |message: String| {
        Problems::from(Problem::of_file(directory.display().to_string(), message))
    };
    let entries = std::fs::read_dir(directory).map_err(|error| refused(error.to_string()))?;
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| refused(error.to_string()))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.ends_with(".json") && counts(&name) {
            paths.push(path);
        }
    }
    if paths.len() > MOST_FILES {
        let count = paths.len();
        let message = format!("{count} files: at most {MOST_FILES} of a directory are read");
        return Err(refused(message));
    }
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}
