//! `--record-mappings`: a mapping for each request that is sent on, written before its answer goes out. Of requests that came twice the first answer
//! counts. Names and layout of the files are those of WireMock's older recorder.

use super::draft::Draft;
use super::spec::{Extract, Keep, Spec};
use super::{Recorded, Recordings, names};
use crate::mappings::source;
use plimsoll_base::random::{Draw, Stream};
use plimsoll_wiremock::java;
use plimsoll_wiremock::reader::body_files::BodyFiles;
use plimsoll_wiremock::request::Request;
use plimsoll_wiremock::response::answer::Answer;
use plimsoll_wiremock::stub_id::StubId;
use std::collections::HashSet;
use std::fs;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Mappings of one run; further requests are missing.
const MOST: usize = 100_000;
/// Characters of the id in a file's name.
const ID_CHARACTERS: usize = 5;

/// Recorder that writes mappings at once.
#[derive(Debug)]
pub(crate) struct AtOnce {
    spec: Spec,
    mappings: PathBuf,
    files: BodyFiles,
    seed: u64,
    hashes: RandomState,
    /// A blocking lock, held for a look into sets.
    made: Mutex<Made>,
}

/// Mappings made so far.
#[derive(Debug, Default)]
struct Made {
    /// Of the patterns of requests.
    hashes: HashSet<u64>,
    /// Ids in the names of files, those included that were there before.
    ids: HashSet<String>,
    /// How many ids were drawn.
    drawn: u64,
    written: u64,
    missing: u64,
    /// Why a mapping could not be written, the first time.
    error: Option<String>,
}

/// A mapping that is to be written.
#[derive(Debug)]
pub(crate) struct Unwritten {
    path: PathBuf,
    files: BodyFiles,
    recorded: Recorded,
}

impl AtOnce {
    /// Makes the directories below a root. `fields` are those of requests that mappings match, too.
    pub(crate) fn begin(root: &Path, fields: &[String], seed: u64) -> io::Result<Self> {
        let mappings = root.join("mappings");
        fs::create_dir_all(&mappings)?;
        fs::create_dir_all(root.join("__files"))?;
        let names = source::saved_names(root)?;
        let ids = names
            .iter()
            .filter_map(|name| Some(id_in(name)?.to_owned()));
        let made = Made {
            ids: ids.collect(),
            ..Made::default()
        };
        Ok(Self {
            spec: Spec {
                capture: fields.iter().map(|name| (name.clone(), None)).collect(),
                extract: Some(Extract { text: 0, binary: 0 }),
                keep: Keep::InMemory,
                ..Spec::default()
            },
            mappings,
            files: BodyFiles::below(root),
            seed,
            hashes: RandomState::new(),
            made: Mutex::new(made),
        })
    }

    /// The mapping of a request and what another server answered; `None` if there is one of such a request, or no room.
    pub(crate) fn record(&self, request: &Request<'_>, answer: &Answer) -> Option<Unwritten> {
        let mut draft = Draft::of(request, answer.shown(), &self.spec);
        draft.match_whole_url(request.url);
        let hash = self.hashes.hash_one(draft.request.to_string());
        let mut made = self.lock();
        if made.hashes.contains(&hash) {
            return None;
        }
        if made.hashes.len() >= MOST {
            made.missing += 1;
            return None;
        }
        made.hashes.insert(hash);
        let (file_id, id) = made.next_id(self.seed);
        drop(made);
        let path = names::of_segments(request.path);
        let name = format!("mapping-{path}-{file_id}.json");
        let of_body = |ending: &str| format!("body-{path}-{file_id}.{ending}");
        let recorded = draft.finish(id, &self.spec, |_, ending| of_body(ending));
        Some(Unwritten {
            path: self.mappings.join(name),
            files: self.files.clone(),
            recorded,
        })
    }

    /// Notes whether a mapping was written.
    pub(crate) fn note(&self, written: Result<(), String>) {
        let mut made = self.lock();
        match written {
            Ok(()) => made.written += 1,
            Err(error) => {
                made.missing += 1;
                made.error.get_or_insert(error);
            }
        }
    }

    /// The mappings that it has made; the error says why the first of those that are missing was not written.
    pub(crate) fn finish(&self) -> Result<Recordings, String> {
        let made = self.lock();
        match &made.error {
            Some(error) => Err(error.clone()),
            None => Ok(Recordings {
                mappings: made.written,
                missing: made.missing,
            }),
        }
    }

    /// Whoever panicked has changed nothing, or counted what it wrote.
    fn lock(&self) -> MutexGuard<'_, Made> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Unwritten {
    /// Writes it: first its body, so that no mapping names a file that is not there.
    pub(crate) fn write(&self) -> Result<(), String> {
        if let Some((name, bytes)) = &self.recorded.file {
            self.files.create(name, bytes)?;
        }
        let text = format!("{}\n", java::json::pretty(&self.recorded.document));
        let written = fs::File::create_new(&self.path);
        let written = written.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| format!("{} cannot be written: {error}", self.path.display()))
    }
}

impl Made {
    /// The next id that no file has, and that of its mapping.
    fn next_id(&mut self, seed: u64) -> (String, StubId) {
        /// Keeps these ids apart from those of other stubs under the same seed.
        const DOMAIN: u64 = 0x7265_636f_7264_6f6e;
        loop {
            let drawn = self.drawn;
            self.drawn += 1;
            let mut draw = Draw::new(seed ^ DOMAIN, Stream::Data, drawn);
            let id = short_id(draw.bits());
            if self.ids.insert(id.clone()) {
                return (id, StubId::minted(seed ^ DOMAIN, drawn));
            }
        }
    }
}

/// Letters and digits of these bits.
fn short_id(mut bits: u64) -> String {
    const CHARACTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let mut next = || {
        let place = bits % 62;
        bits /= 62;
        char::from(CHARACTERS[usize::try_from(place).unwrap_or(0)])
    };
    (0..ID_CHARACTERS).map(|_| next()).collect()
}

/// The id in the name of a mapping's file.
fn id_in(name: &str) -> Option<&str> {
    let (_, id) = name.strip_suffix(".json")?.rsplit_once('-')?;
    (id.len() == ID_CHARACTERS).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_new_whatever_files_there_are() {
        assert_eq!(id_in("mapping-a-b-AbC12.json"), Some("AbC12"));
        assert_eq!(id_in("mapping-a-AbC123.json"), None);
        let mut made = Made::default();
        let (first, its) = made.next_id(7);
        assert_eq!(first.len(), ID_CHARACTERS);
        let mut later = Made {
            ids: HashSet::from([first.clone()]),
            ..Made::default()
        };
        let (second, other) = later.next_id(7);
        assert_ne!((first, its), (second, other));
    }
}
