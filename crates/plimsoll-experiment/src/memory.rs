//! Experiments in memory, for tests.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use plimsoll_base::document::Problems;

use super::Experiment;
use super::surroundings::Surroundings;

/// Files by path; every variable is set, to its own name in small letters.
pub struct Memory(BTreeMap<PathBuf, String>);

impl Memory {
    /// `e/experiment.yaml` with this text, and further files.
    pub fn new(experiment: &str, others: &[(&str, &str)]) -> Self {
        let all = [("e/experiment.yaml", experiment)]
            .into_iter()
            .chain(others.iter().copied());
        Self(
            all.map(|(path, text)| (PathBuf::from(path), text.to_owned()))
                .collect(),
        )
    }

    /// Loads it, with these values in place of its own.
    pub fn load(&self, overrides: &[&str]) -> Result<Experiment, Problems> {
        let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
        Experiment::load(Path::new("e"), &overrides, self)
    }
}

impl Surroundings for Memory {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let text = self
            .0
            .get(path)
            .ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        Ok(text.clone().into_bytes())
    }

    fn is_directory(&self, path: &Path) -> bool {
        self.0
            .keys()
            .any(|file| file != path && file.starts_with(path))
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        let names = self.0.keys().filter(|file| file.parent() == Some(path));
        Ok(names
            .filter_map(|file| file.file_name()?.to_str().map(str::to_owned))
            .collect())
    }

    fn variable(&self, name: &str) -> Option<String> {
        Some(name.to_ascii_lowercase())
    }
}

/// An experiment with one mock and this load, and whatever else is given as further lines.
pub fn with_load(load: &str, rest: &str) -> Memory {
    let text = format!(
        "version: 1\nname: x\ncomponents: {{ upstream: {{ mock: {{}} }} }}\nscenario: [{{ get: /a }}]\nload: {load}\n{rest}"
    );
    Memory::new(&text, &[])
}
