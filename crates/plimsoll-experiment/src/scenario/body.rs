//! Request bodies: inline, from a file, JSON, a form, or parts of several kinds.

use std::path::PathBuf;

use plimsoll_base::document::{Entries, OneOrMany, Path as Pointer, Text};
use serde_json::Value as Json;

use crate::loader::Loader;
use crate::template::Template;
use crate::wire::{PartWire, StepWire};

/// A request body.
#[derive(Debug, Clone)]
pub enum Body {
    /// None.
    Empty,
    /// Written in the experiment file.
    Inline(Template),
    /// The content of a file.
    File {
        /// Where it was read.
        path: PathBuf,
        /// Its content.
        bytes: Vec<u8>,
    },
    /// One after the other.
    Parts(Vec<Body>),
}

/// Separator of parts: a text that none of them holds by chance.
const BOUNDARY: &str = "plimsoll-part-6f1d2c9ab4e84d07";

/// The body of a step, and its content type where that follows from how it is written.
pub(super) fn convert(
    loader: &mut Loader<'_>,
    wire: &StepWire,
    at: &Pointer,
) -> (Body, Option<String>) {
    let written: Vec<&str> = [
        ("body", wire.body.is_some()),
        ("body_file", wire.body_file.is_some()),
        ("json", wire.json.is_some()),
        ("form", wire.form.is_some()),
        ("multipart", wire.multipart.is_some()),
    ]
    .into_iter()
    .filter_map(|(key, is_written)| is_written.then_some(key))
    .collect();
    if let [first, second, ..] = written[..] {
        loader.refuse_key(
            at.key(second),
            format!("a step has one body: keep either `{first}` or `{second}`"),
        );
    }
    if let Some(file) = &wire.body_file {
        return (file_body(loader, &at.key("body_file"), file), None);
    }
    if let Some(text) = &wire.body {
        let text = loader.template(&at.key("body"), text, None);
        return (Body::Inline(text), None);
    }
    if let Some(json) = &wire.json {
        let template = json_text(loader, json, &at.key("json"));
        return (Body::Inline(template), Some("application/json".to_owned()));
    }
    if let Some(form) = &wire.form {
        let template = pairs(loader, form, &at.key("form"), "+");
        let media_type = "application/x-www-form-urlencoded".to_owned();
        return (Body::Inline(template), Some(media_type));
    }
    if let Some(parts) = &wire.multipart {
        let body = multipart(loader, parts, &at.key("multipart"));
        let media_type = format!("multipart/form-data; boundary={BOUNDARY}");
        return (body, Some(media_type));
    }
    (Body::Empty, None)
}

fn file_body(loader: &mut Loader<'_>, at: &Pointer, file: &str) -> Body {
    let bytes = loader.read(at, file);
    Body::File {
        path: loader.resolve(file),
        bytes,
    }
}

/// `name=value&…`, percent-encoded; what is written out as a space becomes `space`.
pub(super) fn pairs(
    loader: &mut Loader<'_>,
    entries: &Entries<Text>,
    at: &Pointer,
    space: &str,
) -> Template {
    let encode = |text: &str| percent_encoded(text).replace("%20", space);
    let mut parts = Vec::new();
    for (index, (name, value)) in entries.iter().enumerate() {
        let separator = if index == 0 { "" } else { "&" };
        parts.push(Template::literal(format!("{separator}{}=", encode(name))));
        let value = loader.template(&at.key(name), value, None);
        parts.push(value.encoded(encode, "urlencode"));
    }
    Template::concat(parts)
}

/// Everything but the unreserved characters of RFC 3986, section 2.3, as `%XX`.
fn percent_encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

/// JSON whose texts may hold substitutions.
fn json_text(loader: &mut Loader<'_>, json: &Json, at: &Pointer) -> Template {
    let literal = |text: &str| Template::literal(text);
    match json {
        Json::String(text) => {
            let inner = loader.template(at, text, None);
            let inner = inner.encoded(escaped, "json");
            Template::concat([literal("\""), inner, literal("\"")])
        }
        Json::Array(items) => {
            let mut parts = vec![literal("[")];
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    parts.push(literal(","));
                }
                parts.push(json_text(loader, item, &at.index(index)));
            }
            parts.push(literal("]"));
            Template::concat(parts)
        }
        Json::Object(entries) => {
            let mut parts = vec![literal("{")];
            for (index, (key, value)) in entries.iter().enumerate() {
                let separator = if index > 0 { "," } else { "" };
                parts.push(Template::literal(format!(
                    "{separator}\"{}\":",
                    escaped(key)
                )));
                parts.push(json_text(loader, value, &at.key(key)));
            }
            parts.push(literal("}"));
            Template::concat(parts)
        }
        other => Template::literal(other.to_string()),
    }
}

/// A text as it stands between the quotes of JSON.
fn escaped(text: &str) -> String {
    let quoted = Json::String(text.to_owned()).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

fn multipart(loader: &mut Loader<'_>, wire: &Entries<OneOrMany<PartWire>>, at: &Pointer) -> Body {
    let mut parts = Vec::new();
    for (name, OneOrMany(of_name)) in wire.iter() {
        let at = at.key(name);
        for (index, wire) in of_name.iter().enumerate() {
            let at = match of_name.len() {
                1 => at.clone(),
                _ => at.index(index),
            };
            parts.extend(part(loader, name, wire, &at));
        }
    }
    if parts.is_empty() {
        loader.refuse(at, "has no part");
    }
    parts.push(Body::Inline(Template::literal(format!(
        "--{BOUNDARY}--\r\n"
    ))));
    Body::Parts(parts)
}

/// The pieces of one part; none, with a problem noted, when it is not sound.
fn part(loader: &mut Loader<'_>, name: &str, part: &PartWire, at: &Pointer) -> Vec<Body> {
    let (content, default_type, filename) = match (&part.value, &part.file) {
        (Some(value), None) => {
            let value = loader.template(&at.key("value"), value, None);
            (Body::Inline(value), None, part.filename.clone())
        }
        (None, Some(file)) => {
            let own = file.rsplit('/').next().unwrap_or(file).to_owned();
            let body = file_body(loader, &at.key("file"), file);
            let filename = part.filename.clone().unwrap_or(own);
            (body, Some("application/octet-stream"), Some(filename))
        }
        _ => {
            loader.refuse(at, "is one of `value` and `file`");
            return Vec::new();
        }
    };
    let media_type = part.media_type.as_deref().or(default_type);
    for text in [Some(name), filename.as_deref(), media_type]
        .into_iter()
        .flatten()
    {
        if text.contains(['"', '\r', '\n']) {
            loader.refuse(
                at,
                "names, file names and types hold no quotes and no line ends",
            );
        }
    }
    let filename = filename.map_or_else(String::new, |name| format!("; filename=\"{name}\""));
    let media_type =
        media_type.map_or_else(String::new, |name| format!("\r\nContent-Type: {name}"));
    let head = format!(
        "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"{filename}{media_type}\r\n\r\n"
    );
    vec![
        Body::Inline(Template::literal(head)),
        content,
        Body::Inline(Template::literal("\r\n")),
    ]
}
