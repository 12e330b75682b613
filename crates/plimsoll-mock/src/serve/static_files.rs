//! Files below `__files` that are served by their paths: WireMock's answer to a GET that no stub matches.
//!
//! Whether there is such a file is a question to the system, or a few for a directory, asked on the shard; reading it is left to whoever can wait.

use plimsoll_wiremock::reader::body_files::BodyFiles;
use plimsoll_wiremock::request::parameters::decode;
use plimsoll_wiremock::response::answer::{Answer, AnswerBuilder};

/// The files that stand for a directory, the first that is there.
const INDEX: [&str; 4] = ["index.json", "index.html", "index.xml", "index.txt"];

/// The type of what has no extension, or one that is not known.
const DEFAULT_TYPE: &str = "application/json";

/// Types by the extensions of names.
const TYPES: &[(&str, &str)] = &[
    ("css", "text/css"),
    ("csv", "text/csv"),
    ("gif", "image/gif"),
    ("gz", "application/gzip"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("ico", "image/x-icon"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("js", "text/javascript"),
    ("json", "application/json"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("svg", "image/svg+xml"),
    ("txt", "text/plain"),
    ("wasm", "application/wasm"),
    ("webp", "image/webp"),
    ("woff", "font/woff"),
    ("woff2", "font/woff2"),
    ("xml", "application/xml"),
    ("zip", "application/zip"),
];

/// A file that answers a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StaticFile {
    name: String,
    content_type: String,
}

/// The file of a request's path, or the index of a directory; `None` if there is neither.
pub(crate) fn find(files: &BodyFiles, path: &str) -> Option<StaticFile> {
    let name = decode(path).trim_start_matches('/').to_owned();
    // One question where there is nothing, as for most requests that nobody answers.
    let kind = files.file_type(&name)?;
    if kind.is_file() {
        let content_type = type_of(&name).to_owned();
        return Some(StaticFile { name, content_type });
    }
    if !kind.is_dir() {
        return None;
    }
    let directory = name.trim_end_matches('/');
    let in_directory = |index: &str| match directory {
        "" => index.to_owned(),
        directory => format!("{directory}/{index}"),
    };
    let is_file = |name: &String| files.file_type(name).is_some_and(|kind| kind.is_file());
    let mut names = INDEX.iter().map(|index| in_directory(index));
    let name = names.find(is_file)?;
    let content_type = format!("{};charset=utf-8", type_of(&name));
    Some(StaticFile { name, content_type })
}

impl StaticFile {
    /// The answer with this file; blocks.
    pub(crate) fn read(&self, files: &BodyFiles) -> Answer {
        match files.read(&self.name) {
            Ok(bytes) => AnswerBuilder::new(200, None)
                .field("Content-Type", &self.content_type)
                .body(&bytes),
            Err(message) => Answer::text(500, &message),
        }
    }
}

fn type_of(name: &str) -> &'static str {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let found = TYPES
        .iter()
        .find(|(own, _)| extension.eq_ignore_ascii_case(own));
    found.map_or(DEFAULT_TYPE, |(_, own)| own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_to_a_file_or_to_the_index_of_a_directory() {
        let root = tempfile::tempdir().unwrap();
        let files = BodyFiles::below(root.path());
        for name in ["a.xml", "json/12345", "a & b/index.xml", "index.txt"] {
            files.write(name, b"x").unwrap();
        }
        std::fs::write(root.path().join("secret"), "x").unwrap();
        let check = |path: &str, expected: Option<(&str, &str)>| {
            let found = find(&files, path);
            let found = found.as_ref();
            let found = found.map(|file| (file.name.as_str(), file.content_type.as_str()));
            assert_eq!(found, expected, "{path}");
        };
        check("/a.xml", Some(("a.xml", "application/xml")));
        check("/json/12345", Some(("json/12345", "application/json")));
        let index = Some(("a & b/index.xml", "application/xml;charset=utf-8"));
        check("/a%20&%20b", index);
        check("/a%20&%20b/", index);
        check("/", Some(("index.txt", "text/plain;charset=utf-8")));
        check("/json", None);
        check("/json/12345/", None);
        check("/json/12345/index.txt", None);
        check("/../secret", None);
        check("/%2e%2e/secret", None);
        check("/b.xml", None);
        assert!(find(&BodyFiles::default(), "/a.xml").is_none());
    }
}
