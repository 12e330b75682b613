//! Body files whose names are templates: kept, and compiled, once they were read; read again when they have changed.
//!
//! Whether a file has changed is one question to the system for each request, which the shard asks; reading and compiling it would hold up everybody
//! there, so that is an [`UnreadFile`], for whoever can wait.

use crate::reader::body_files::{BodyFiles, Stamp};
use crate::template::Template;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Files that one stub keeps.
const MOST_FILES: usize = 1_000;
/// Bytes that they have together.
const MOST_BYTES: u64 = 32 << 20;

/// The files that one stub answers with.
#[derive(Debug, Clone)]
pub(super) struct KeptFiles {
    files: BodyFiles,
    /// A blocking lock, held for a look into the map.
    kept: Arc<Mutex<Kept>>,
}

/// A file that is not kept: it was not asked for yet, or has changed.
#[derive(Debug, Clone)]
pub struct UnreadFile {
    pub(super) files: KeptFiles,
    pub(super) name: String,
    pub(super) is_template: bool,
}

/// Content of a file.
#[derive(Debug)]
pub enum FileBody {
    Bytes(Vec<u8>),
    Text(Template),
}

#[derive(Debug, Default)]
struct Kept {
    by_name: HashMap<String, (Stamp, Arc<FileBody>)>,
    bytes: u64,
}

impl KeptFiles {
    pub(super) fn of(files: &BodyFiles) -> Self {
        Self {
            files: files.clone(),
            kept: Arc::default(),
        }
    }

    /// The file of this name as it is now, if it is kept. The error says why there is none.
    pub(super) fn kept(&self, name: &str) -> Result<Option<Arc<FileBody>>, String> {
        let stamp = self.files.stamp(name)?;
        Ok(self.lock().get(name, stamp))
    }

    /// A file's content, read if it is not kept, which may take its time. It may be no template.
    fn read(&self, name: &str, is_template: bool) -> Result<Arc<FileBody>, String> {
        let stamp = self.files.stamp(name)?;
        if let Some(body) = self.lock().get(name, stamp) {
            return Ok(body);
        }
        let bytes = self.files.read(name)?;
        let body = match String::from_utf8(bytes) {
            Ok(text) if is_template => FileBody::Text(Template::compile(&text)?),
            Ok(text) => FileBody::Bytes(text.into_bytes()),
            Err(error) => FileBody::Bytes(error.into_bytes()),
        };
        let body = Arc::new(body);
        self.lock().keep(name, stamp, &body);
        Ok(body)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl UnreadFile {
    /// Reads it; whoever comes second finds it kept. The error says why there is none, or where it is no template.
    pub fn read(&self) -> Result<Arc<FileBody>, String> {
        self.files.read(&self.name, self.is_template)
    }
}

impl Kept {
    fn get(&mut self, name: &str, stamp: Stamp) -> Option<Arc<FileBody>> {
        let (kept, body) = self.by_name.get(name)?;
        (*kept == stamp).then(|| Arc::clone(body))
    }

    /// Keeps a file in the place of what it was; where there is no room, nothing is kept.
    fn keep(&mut self, name: &str, stamp: Stamp, body: &Arc<FileBody>) {
        if let Some((old, _)) = self.by_name.remove(name) {
            self.bytes -= old.bytes;
        }
        if self.by_name.len() < MOST_FILES && self.bytes + stamp.bytes <= MOST_BYTES {
            self.bytes += stamp.bytes;
            let entry = (stamp, Arc::clone(body));
            self.by_name.insert(name.to_owned(), entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_kept_until_it_changes() {
        let root = tempfile::tempdir().unwrap();
        let files = BodyFiles::below(root.path());
        files.write("a", b"one").unwrap();
        let kept = KeptFiles::of(&files);
        let read = |name: &str, is_template| {
            let unread = UnreadFile {
                files: kept.clone(),
                name: name.to_owned(),
                is_template,
            };
            unread.read()
        };
        assert!(kept.kept("a").unwrap().is_none());
        let first = read("a", true).unwrap();
        assert!(matches!(&*first, FileBody::Text(_)));
        for again in [read("a", true).unwrap(), kept.kept("a").unwrap().unwrap()] {
            assert!(Arc::ptr_eq(&first, &again));
        }
        files.write("a", b"other").unwrap();
        assert!(kept.kept("a").unwrap().is_none());
        let second = read("a", false).unwrap();
        assert!(matches!(&*second, FileBody::Bytes(bytes) if bytes == b"other"));
        assert_eq!(kept.lock().bytes, 5);
        files.remove("a").unwrap();
        for name in ["a", "../a"] {
            assert!(kept.kept(name).is_err() && read(name, true).is_err());
        }
    }
}
