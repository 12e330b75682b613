//! A request pattern's URL: `url`, `urlPattern`, `urlPath`, `urlPathPattern`, `urlPathTemplate`, or none of them.
//!
//! `url` is the path and query as they came, undecoded. If a mapping has several forms, the first of that order counts,
//! as in WireMock.

use crate::budget::TooCostly;
use crate::java::regex::JavaRegex;
use crate::matcher::path_template::PathTemplate;
use crate::reader::{Object, Problems};
use crate::request::Request;

/// Which URLs match.
#[derive(Debug, Clone, Default)]
pub enum UrlPattern {
    #[default]
    Any,
    Url(String),
    UrlRegex(JavaRegex),
    Path(String),
    PathRegex(JavaRegex),
    PathTemplate(PathTemplate),
}

impl UrlPattern {
    /// Reads whichever forms the request pattern has; all are checked, one is kept.
    pub fn read(object: &mut Object<'_>, problems: &mut Problems) -> Option<Self> {
        let url = object.get("url");
        let url_pattern = object.get("urlPattern");
        let path = object.get("urlPath");
        let path_pattern = object.get("urlPathPattern");
        let template = object.get("urlPathTemplate");
        let forms = [
            url.and_then(|node| node.text(problems)).map(Self::Url),
            url_pattern
                .and_then(|node| JavaRegex::read(&node, problems))
                .map(Self::UrlRegex),
            path.and_then(|node| node.text(problems)).map(Self::Path),
            path_pattern
                .and_then(|node| JavaRegex::read(&node, problems))
                .map(Self::PathRegex),
            template
                .and_then(|node| PathTemplate::read(&node, problems))
                .map(Self::PathTemplate),
        ];
        forms.into_iter().flatten().next()
    }

    /// Whether the request's URL matches.
    pub fn holds(&self, request: &Request<'_>) -> Result<bool, TooCostly> {
        match self {
            Self::Any => Ok(true),
            Self::Url(url) => Ok(url == request.url),
            Self::UrlRegex(regex) => regex.matches(request.url),
            Self::Path(path) => Ok(path == request.path),
            Self::PathRegex(regex) => regex.matches(request.path),
            Self::PathTemplate(template) => template.matches(request.path),
        }
    }
}
