//! `-F` and `--form-string`: the parts of a multipart body, as curl writes them. Files are read when the load is prepared.

use super::data::Read;
use serde_json::{Map, Value, json};

/// One part.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Part {
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

impl Part {
    /// `-F`: `name=content`, `name=@file` or `name=<file`, and behind it `;type=…` and `;filename=…`.
    pub fn parse(text: &str, read: Read<'_>) -> Result<Self, String> {
        let (name, rest) = named(text)?;
        let mut pieces = rest.split(';');
        let mut content = pieces.next().unwrap_or_default().to_owned();
        let mut part = Self {
            name: name.to_owned(),
            ..Self::default()
        };
        for piece in pieces {
            match piece.trim().split_once('=') {
                Some(("type", value)) => part.media_type = Some(value.to_owned()),
                Some(("filename", value)) => {
                    part.filename = Some(value.trim_matches('"').to_owned());
                }
                Some(("headers" | "encoder", _)) => {
                    return Err(format!(
                        "`-F {text}`: of a part only `type` and `filename` are understood"
                    ));
                }
                // A semicolon of the content's own.
                _ => {
                    content.push(';');
                    content.push_str(piece);
                }
            }
        }
        part.content = match (content.strip_prefix('@'), content.strip_prefix('<')) {
            (Some("-") | None, Some("-")) | (Some("-"), None) => {
                return Err(format!("`-F {text}`: write the name of a file"));
            }
            (Some(file), _) => Content::File(file.trim_matches('"').to_owned()),
            (None, Some(file)) => Content::Value(read(file.trim_matches('"'))?),
            (None, None) => Content::Value(content.trim_matches('"').to_owned()),
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

fn named(text: &str) -> Result<(&str, &str), String> {
    text.split_once('=')
        .ok_or_else(|| format!("`-F {text}`: write `name=content` or `name=@file`"))
}

/// The parts as the experiment file has them.
///
/// # Errors
/// Two parts of one name.
pub fn multipart(
    parts: &[Part],
    literal: impl Fn(&str) -> String,
) -> Result<Map<String, Value>, String> {
    let mut all = Map::new();
    for part in parts {
        let mut wire = match &part.content {
            Content::Value(value) => json!({ "value": literal(value) }),
            Content::File(file) => json!({ "file": file }),
        };
        for (key, value) in [("filename", &part.filename), ("type", &part.media_type)] {
            if let Some(value) = value {
                wire[key] = value.as_str().into();
            }
        }
        if all.insert(part.name.clone(), wire).is_some() {
            return Err(format!(
                "two parts of a form are called `{}`: a body here has each name once",
                part.name
            ));
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The part as the experiment file has it, or what is wrong.
    fn check(text: &str, expected: &str) {
        let read = |file: &str| Ok(format!("content of {file}"));
        let shown = Part::parse(text, &read)
            .and_then(|part| multipart(&[part], str::to_owned))
            .map_or_else(|why| why, |parts| Value::from(parts).to_string());
        assert_eq!(shown, expected);
    }

    #[test]
    fn parts_mean_what_they_mean_to_curl() {
        check("a=b;c", r#"{"a":{"value":"b;c"}}"#);
        check(
            "a={\"b\":1};type=application/json",
            r#"{"a":{"value":"{\"b\":1}","type":"application/json"}}"#,
        );
        check("f=@x.png", r#"{"f":{"file":"x.png"}}"#);
        check(
            "f=@x.png;type=image/png;filename=\"y z.png\"",
            r#"{"f":{"file":"x.png","filename":"y z.png","type":"image/png"}}"#,
        );
        check("f=<note.txt", r#"{"f":{"value":"content of note.txt"}}"#);
        check("f=@-", "`-F f=@-`: write the name of a file");
        check(
            "nothing",
            "`-F nothing`: write `name=content` or `name=@file`",
        );
    }

    #[test]
    fn a_name_stands_once() {
        let parts = ["a=1", "a=2"].map(|text| Part::plain(text).unwrap());
        assert!(multipart(&parts, str::to_owned).is_err());
    }
}
