//! The parts of a HAR that are read. Everything else in it is the recorder's, and none of a scenario's business.
//!
//! Recorders differ in what they leave out, and write `null` or `-1` for what they do not know: only what makes a request is required.

use super::time;
use serde::{Deserialize, Deserializer};

#[derive(Debug, Deserialize)]
pub struct Archive {
    pub log: Log,
}

#[derive(Debug, Deserialize)]
pub struct Log {
    pub entries: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    #[serde(default, deserialize_with = "or_default")]
    started_date_time: String,
    /// Milliseconds.
    #[serde(default, deserialize_with = "or_default")]
    time: f64,
    pub request: Request,
    /// Some recordings have requests only.
    #[serde(default)]
    response: Option<Response>,
    /// Chrome: the answer was the browser's own.
    #[serde(default, rename = "_fromCache", deserialize_with = "or_default")]
    from_cache: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    pub method: String,
    pub url: String,
    #[serde(default, deserialize_with = "or_default")]
    pub headers: Vec<Field>,
    #[serde(default)]
    pub post_data: Option<PostData>,
}

#[derive(Debug, Deserialize)]
pub struct Field {
    pub name: String,
    #[serde(default, deserialize_with = "or_default")]
    pub value: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PostData {
    #[serde(default, deserialize_with = "or_default")]
    pub mime_type: String,
    #[serde(default, deserialize_with = "or_default")]
    pub text: String,
    /// Encoding of `text`, which the format does not know and some recorders state.
    #[serde(default, deserialize_with = "or_default")]
    pub encoding: String,
    #[serde(default, deserialize_with = "or_default")]
    pub params: Vec<Param>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Param {
    pub name: String,
    #[serde(default)]
    pub value: Option<String>,
    #[serde(default)]
    pub file_name: Option<String>,
    #[serde(default)]
    pub content_type: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Response {
    /// 0 or less where there was no answer.
    #[serde(default, deserialize_with = "or_default")]
    status: i32,
    #[serde(default, deserialize_with = "or_default")]
    content: Content,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Content {
    #[serde(default, deserialize_with = "or_default")]
    mime_type: String,
}

/// A `null` is as good as absent.
fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

impl Entry {
    /// When it began and ended, in milliseconds since 1970, as far as it says.
    pub fn span(&self) -> (Option<i64>, Option<i64>) {
        let start = time::parse(&self.started_date_time);
        (start, start.map(|start| time::after(start, self.time)))
    }

    /// The status of its answer: 0 or less if it is known that there was none, `None` if nothing is known of it.
    pub fn status(&self) -> Option<i32> {
        self.response.as_ref().map(|response| response.status)
    }

    /// Whether it never went to the server.
    pub fn is_from_cache(&self) -> bool {
        !self.from_cache.is_empty()
    }

    /// Whether its answer was something that a page is made of, and a server's cache usually gives.
    pub fn is_static(&self) -> bool {
        const WHOLE: [&str; 3] = ["image/", "font/", "video/"];
        const PARTS: [&str; 5] = ["css", "javascript", "font", "audio/", "wasm"];
        let Some(response) = &self.response else {
            return false;
        };
        let kind = response.content.mime_type.to_ascii_lowercase();
        WHOLE.iter().any(|start| kind.starts_with(start))
            || PARTS.iter().any(|part| kind.contains(part))
    }
}
