//! A response's body as its mapping writes it: `body`, `jsonBody`, `base64Body` or `bodyFileName`.

use crate::reader::body_files::BodyFiles;
use crate::reader::problem::StubProblem;
use crate::reader::{Object, Problems};
use crate::stub::raw::normalise;
use crate::stub::response::transformers::Templates;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::value::RawValue;

/// A body as it is written.
#[derive(Debug)]
pub enum Body {
    Text(String),
    Bytes(Vec<u8>),
    /// Content of a file.
    File(Vec<u8>),
    /// A file whose name is a template.
    FileNamed(String),
}

impl Body {
    /// Reads the body that wins. `json_body` is the source text of a `jsonBody`.
    pub(in crate::stub) fn read(
        object: &mut Object<'_>,
        json_body: Option<&RawValue>,
        files: &BodyFiles,
        templates: Templates,
        problems: &mut Problems,
    ) -> Self {
        let json = object.get("jsonBody").map(|node| {
            json_body.map_or_else(|| node.value.to_string(), |raw| normalise(raw.get()))
        });
        let base64 = object.get("base64Body").and_then(|node| {
            let text = node.text(problems)?;
            let bytes = BASE64.decode(text).ok();
            bytes.or_else(|| node.wrong("base64", problems))
        });
        let file = object.get("bodyFileName").and_then(|node| {
            let name = node.text(problems)?;
            if templates == Templates::Yes && name.contains("{{") {
                return Some(Body::FileNamed(name));
            }
            let read = files.read(&name).map(Body::File);
            read.map_err(|message| problems.push(StubProblem::invalid(&node.pointer, message)))
                .ok()
        });
        let text = object.get("body").and_then(|node| node.text(problems));
        text.or(json)
            .map(Body::Text)
            .or(base64.map(Body::Bytes))
            .or(file)
            .unwrap_or_else(|| Body::Bytes(Vec::new()))
    }

    /// The bytes that are the same for every request.
    pub(in crate::stub) fn into_bytes(self) -> Vec<u8> {
        match self {
            Self::Text(text) => text.into_bytes(),
            Self::Bytes(bytes) | Self::File(bytes) => bytes,
            Self::FileNamed(_) => Vec::new(),
        }
    }
}
