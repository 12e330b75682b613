//! The file that takes what a program writes to its standard streams.

use crate::Error;
use std::fs::File;
use std::path::PathBuf;
use std::process::Stdio;

/// Lines that an error quotes.
const QUOTED: usize = 4;

/// A program's messages.
pub struct Messages {
    path: PathBuf,
    file: File,
}

impl Messages {
    /// An empty file.
    ///
    /// # Errors
    /// [`Error::Io`]: the system refuses.
    pub fn create(path: PathBuf) -> Result<Self, Error> {
        let file = File::create(&path).map_err(Error::when("creating a log"))?;
        Ok(Self { path, file })
    }

    /// An end for a standard stream. Two streams may share the file: each line goes behind what is there.
    ///
    /// # Errors
    /// [`Error::Io`]: there is no descriptor left.
    pub fn stdio(&self) -> Result<Stdio, Error> {
        let file = self.file.try_clone();
        file.map(Stdio::from).map_err(Error::when("creating a log"))
    }

    /// Everything that was written so far.
    pub fn text(&self) -> String {
        std::fs::read_to_string(&self.path).unwrap_or_default()
    }

    /// The last lines that are not empty, as one.
    pub fn last_words(&self) -> String {
        let text = self.text();
        let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
        lines[lines.len().saturating_sub(QUOTED)..].join(" / ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn both_streams_go_to_one_file() {
        let directory = tempfile::tempdir().unwrap();
        let messages = Messages::create(directory.path().join("said")).unwrap();
        let script = "echo 1; echo 2 >&2; echo; echo 3; echo 4 >&2; echo 5";
        let status = Command::new("sh")
            .args(["-c", script])
            .stdout(messages.stdio().unwrap())
            .stderr(messages.stdio().unwrap())
            .status();
        assert!(status.unwrap().success());
        assert_eq!(messages.text(), "1\n2\n\n3\n4\n5\n");
        assert_eq!(messages.last_words(), "2 / 3 / 4 / 5");
    }
}
