//! The parts of a HAR that are read. Everything else in it is the recorder's, and none of a scenario's business.

use super::time;
use serde::Deserialize;

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
    #[serde(default)]
    started_date_time: String,
    /// Milliseconds.
    #[serde(default)]
    time: f64,
    pub request: Request,
    #[serde(default)]
    pub response: Response,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    pub method: String,
    pub url: String,
    #[serde(default)]
    pub headers: Vec<Field>,
    post_data: Option<PostData>,
}

#[derive(Debug, Deserialize)]
pub struct Field {
    pub name: String,
    pub value: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PostData {
    #[serde(default)]
    mime_type: String,
    text: Option<String>,
    encoding: Option<String>,
    #[serde(default)]
    params: Vec<Param>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Param {
    name: String,
    #[serde(default)]
    value: String,
    file_name: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
pub struct Response {
    #[serde(default)]
    pub status: u16,
    #[serde(default)]
    content: Content,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Content {
    #[serde(default)]
    mime_type: String,
}

impl Entry {
    /// When it began and ended, in milliseconds since 1970, as far as it says.
    pub fn span(&self) -> (Option<i64>, Option<i64>) {
        let start = time::parse(&self.started_date_time);
        (start, start.map(|start| time::after(start, self.time)))
    }

    /// Whether its answer was something that a page is made of, and a server's cache usually gives.
    pub fn is_static(&self) -> bool {
        const WHOLE: [&str; 3] = ["image/", "font/", "video/"];
        const PARTS: [&str; 5] = ["css", "javascript", "font", "audio/", "wasm"];
        let kind = self.response.content.mime_type.to_ascii_lowercase();
        WHOLE.iter().any(|start| kind.starts_with(start))
            || PARTS.iter().any(|part| kind.contains(part))
    }
}

impl Request {
    /// The body as text.
    pub fn body(&self) -> Result<Option<String>, String> {
        let Some(data) = &self.post_data else {
            return Ok(None);
        };
        if let Some(encoding) = &data.encoding {
            return Err(format!(
                "its body is recorded as {encoding}, and a body here is text"
            ));
        }
        match &data.text {
            Some(text) if !text.is_empty() || data.params.is_empty() => {
                Ok(Some(text.clone()).filter(|text| !text.is_empty()))
            }
            _ if data.params.is_empty() => Ok(None),
            _ if data.params.iter().any(|param| param.file_name.is_some())
                || data.mime_type.starts_with("multipart/") =>
            {
                Err("the files of its form were not recorded".to_owned())
            }
            _ => {
                // Recorded as they were sent: encoded already.
                let pairs = data
                    .params
                    .iter()
                    .map(|param| format!("{}={}", param.name, param.value));
                Ok(Some(pairs.collect::<Vec<_>>().join("&")))
            }
        }
    }
}
