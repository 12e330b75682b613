//! `-F` and `--form-string`: the parts of a multipart body, as curl writes them. Files are read when the load is prepared.

use super::data::Read;
use serde_json::{Map, Value, json};

/// One part.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct CurlPart {
    name: String,
    content: Content,
    filename: Option<String>,
    media_type: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
enum Content {
    Value(String),
    File(String),
}

impl Default for Content {
    fn default() -> Self {
        Self::Value(String::new())
    }
}

impl CurlPart {
    /// `-F`: `name=content`, `name=@file` or `name=<file`, and behind it `;type=…` and `;filename=…`. What has a semicolon in it is quoted.
    pub fn parse(text: &str, read: Read<'_>) -> Result<Self, String> {
        let refused = |why: &str| Err(format!("`-F {text}`: {why}"));
        let (name, rest) = named(text)?;
        let is_file = rest.starts_with(['@', '<']);
        let (sign, rest) = rest.split_at(usize::from(is_file));
        let (content, mut rest) = word(rest);
        let mut part = Self {
            name: name.to_owned(),
            ..Self::default()
        };
        while let Some(further) = rest.strip_prefix(';') {
            let further = further.trim_start();
            let (key, value) = further.split_once('=').unwrap_or((further, ""));
            let (value, after) = word(value);
            match (key.trim_end(), &mut part.media_type) {
                ("type", _) => part.media_type = Some(value),
                ("filename", _) => part.filename = Some(value),
                ("headers" | "encoder", _) => {
                    return refused("of a part only `type` and `filename` are understood");
                }
                // A parameter of the type's own.
                (parameter, Some(media_type)) if further.contains('=') => {
                    media_type.push_str(&format!(";{parameter}={value}"));
                }
                _ => {
                    return refused(
                        "what stands behind a semicolon is `type=` or `filename=`; a text that has one is quoted: `name=\"a;b\"`",
                    );
                }
            }
            rest = after;
        }
        part.content = match (sign, content.as_str()) {
            ("@" | "<", "-") => return refused("write the name of a file"),
            ("@", _) => Content::File(content),
            ("<", file) => Content::Value(read(file)?),
            _ => Content::Value(content),
        };
        Ok(part)
    }

    /// `--form-string`: `name=content`, in which nothing has a meaning of its own.
    pub fn plain(text: &str) -> Result<Self, String> {
        let (name, value) = named(text)?;
        Ok(Self {
            name: name.to_owned(),
            content: Content::Value(value.to_owned()),
            ..Self::default()
        })
    }
}

/// A text up to the next semicolon, or a quoted one up to its closing quote, and what follows.
fn word(text: &str) -> (String, &str) {
    if let Some(quoted) = text.trim_start().strip_prefix('"') {
        let mut word = String::new();
        let mut rest = quoted.chars();
        while let Some(next) = rest.next() {
            match next {
                '"' => {
                    let after = rest.as_str().trim_start();
                    return (word, &after[after.find(';').unwrap_or(after.len())..]);
                }
                '\\' if rest.as_str().starts_with(['"', '\\']) => word.extend(rest.next()),
                other => word.push(other),
            }
        }
        // Not closed: it is as it is.
    }
    let (word, rest) = text.split_at(text.find(';').unwrap_or(text.len()));
    (word.trim().to_owned(), rest)
}

fn named(text: &str) -> Result<(&str, &str), String> {
    text.split_once('=')
        .ok_or_else(|| format!("`-F {text}`: write `name=content` or `name=@file`"))
}

/// curl's content types, by the end of a file's name; everything else is `application/octet-stream`.
const TYPES: [(&str, &str); 10] = [
    (".gif", "image/gif"),
    (".htm", "text/html"),
    (".html", "text/html"),
    (".jpeg", "image/jpeg"),
    (".jpg", "image/jpeg"),
    (".pdf", "application/pdf"),
    (".png", "image/png"),
    (".svg", "image/svg+xml"),
    (".txt", "text/plain"),
    (".xml", "application/xml"),
];

/// The parts as the experiment file has them: several of one name are a list.
pub fn multipart(parts: &[CurlPart], literal: impl Fn(&str) -> String) -> Map<String, Value> {
    let mut all = Map::new();
    for part in parts {
        let wire = part.wire(&literal);
        match all.get_mut(&part.name) {
            None => {
                all.insert(part.name.clone(), wire);
            }
            Some(Value::Array(list)) => list.push(wire),
            Some(one) => *one = Value::Array(vec![one.take(), wire]),
        }
    }
    all
}

impl CurlPart {
    fn wire(&self, literal: impl Fn(&str) -> String) -> Value {
        let (mut wire, known) = match &self.content {
            Content::Value(value) => (json!({ "value": literal(value) }), None),
            Content::File(file) => {
                // Either name tells.
                let name = self.filename.as_ref().unwrap_or(file).to_ascii_lowercase();
                let known = TYPES.iter().find(|(end, _)| name.ends_with(end));
                (json!({ "file": file }), known.map(|(_, known)| *known))
            }
        };
        let media_type = self.media_type.as_deref().or(known);
        for (key, value) in [("filename", self.filename.as_deref()), ("type", media_type)] {
            if let Some(value) = value {
                wire[key] = value.into();
            }
        }
        wire
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The part as the experiment file has it, or what is wrong.
    fn check(text: &str, expected: &str) {
        let read = |file: &str| Ok(format!("content of {file}"));
        let shown = CurlPart::parse(text, &read)
            .map(|part| multipart(&[part], str::to_owned))
            .map_or_else(|why| why, |parts| Value::from(parts).to_string());
        assert_eq!(shown, expected);
    }

    #[test]
    fn parts_mean_what_they_mean_to_curl() {
        check("a= b ", r#"{"a":{"value":"b"}}"#);
        check(
            r#"a="b;c\"d\"";type=text/plain"#,
            r#"{"a":{"value":"b;c\"d\"","type":"text/plain"}}"#,
        );
        check("a=\"b", r#"{"a":{"value":"\"b"}}"#);
        check(
            "a=b; type=text/html;charset=utf-8;filename=z",
            r#"{"a":{"value":"b","filename":"z","type":"text/html;charset=utf-8"}}"#,
        );
        check(
            "a={\"b\":1};type=application/json",
            r#"{"a":{"value":"{\"b\":1}","type":"application/json"}}"#,
        );
        check("f=@x", r#"{"f":{"file":"x"}}"#);
        check("f=@x.PNG", r#"{"f":{"file":"x.PNG","type":"image/png"}}"#);
        check(
            "f=@x;filename=y.txt",
            r#"{"f":{"file":"x","filename":"y.txt","type":"text/plain"}}"#,
        );
        check(
            "f=@x.png;type=image/png;filename=\"y z.png\"",
            r#"{"f":{"file":"x.png","filename":"y z.png","type":"image/png"}}"#,
        );
        check("f=<note.txt", r#"{"f":{"value":"content of note.txt"}}"#);
        check(
            "a=b;c",
            "`-F a=b;c`: what stands behind a semicolon is `type=` or `filename=`; a text that has one is quoted: `name=\"a;b\"`",
        );
        check("f=@-", "`-F f=@-`: write the name of a file");
        check(
            "nothing",
            "`-F nothing`: write `name=content` or `name=@file`",
        );
    }

    #[test]
    fn several_parts_of_one_name_are_a_list() {
        let parts = ["a=1", "b=2", "a=3", "a=4"].map(|text| CurlPart::plain(text).unwrap());
        assert_eq!(
            Value::from(multipart(&parts, str::to_owned)).to_string(),
            r#"{"a":[{"value":"1"},{"value":"3"},{"value":"4"}],"b":{"value":"2"}}"#
        );
    }
}
