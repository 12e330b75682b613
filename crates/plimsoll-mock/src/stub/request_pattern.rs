//! A stub mapping's `request`: which requests it answers.

use super::method_pattern::MethodPattern;
use super::reader::{Node, Problems};
use super::url_pattern::UrlPattern;
use crate::java_regex::TooCostly;
use crate::matcher::Matcher;
use crate::request::Request;

/// What WireMock 3.13 has and this version does not.
const LATER: &[&str] = &[
    "basicAuth",
    "basicAuthCredentials",
    "bodyPatterns",
    "clientIp",
    "cookies",
    "customMatcher",
    "formParameters",
    "host",
    "multipartPatterns",
    "pathParameters",
    "port",
    "queryParameters",
    "scheme",
    "urlPathTemplate",
];

/// A pattern of requests; the default matches every one.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestPattern {
    pub(crate) url: UrlPattern,
    pub(crate) method: MethodPattern,
    headers: Vec<(String, Matcher)>,
}

impl RequestPattern {
    pub(crate) fn read(node: &Node<'_>, problems: &mut Problems) -> Option<Self> {
        let mut object = node.object(problems)?;
        let url = UrlPattern::read(&mut object, problems).unwrap_or_default();
        let method = object
            .get("method")
            .and_then(|node| MethodPattern::read(&node, problems))
            .unwrap_or_default();
        let headers = object.get("headers");
        let headers = headers.map_or_else(Vec::new, |node| node.entries(problems));
        let headers = headers
            .into_iter()
            .filter_map(|(name, node)| Some((name.to_owned(), Matcher::read(&node, problems)?)))
            .collect();
        object.finish(LATER, problems);
        Some(Self {
            url,
            method,
            headers,
        })
    }

    /// Whether the request matches in every respect.
    pub(crate) fn holds(&self, request: &Request<'_>) -> Result<bool, TooCostly> {
        if !self.method.holds(request.method) || !self.url.holds(request)? {
            return Ok(false);
        }
        for (name, matcher) in &self.headers {
            if !matcher.holds(request.fields.get_all(name))? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
