//! Finding and reading Tyk's files.

use plimsoll_base::document::{Problem, Problems};
use std::path::Path;

/// Definitions beyond which none is read.
const MOST_DEFINITIONS: usize = 10_000;

/// A file's name, as messages carry it, and its content.
#[derive(Debug)]
pub(super) struct File {
    pub(super) name: String,
    pub(super) text: String,
}

/// Reads one file.
pub(super) fn read(path: &Path) -> Result<File, Problems> {
    let name = path.display().to_string();
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(File { name, text }),
        Err(error) => Err(Problem::of_file(name, error.to_string()).into()),
    }
}

/// The definitions of a directory, in the order of their names. Companions of OAS and MCP definitions are none.
pub(super) fn definitions(directory: &Path) -> Result<Vec<File>, Problems> {
    let refused = |message: String| {
        Problems::from(Problem::of_file(directory.display().to_string(), message))
    };
    let entries = std::fs::read_dir(directory).map_err(|error| refused(error.to_string()))?;
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| refused(error.to_string()))?.path();
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        let is_companion = name.ends_with("-oas.json") || name.ends_with("-mcp.json");
        if name.ends_with(".json") && !is_companion {
            paths.push(path);
        }
    }
    if paths.len() > MOST_DEFINITIONS {
        return Err(refused(format!(
            "{} definitions: at most {MOST_DEFINITIONS} are read",
            paths.len()
        )));
    }
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}
