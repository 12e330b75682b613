//! A stub mapping's `request`: which requests it answers.

mod comparison;
mod distance;
pub(in crate::stub) mod method_pattern;
mod multipart_pattern;
pub(crate) mod url_pattern;

pub use comparison::Row;

use crate::budget::TooCostly;
use crate::matcher::Matcher;
use crate::matcher::several::Several;
use crate::reader::problem::StubProblem;
use crate::reader::{Node, Object, Problems};
use crate::request::Request;
use crate::request::content::Content;
use crate::request::parameters::Parameters;
use crate::stub::request_pattern::method_pattern::MethodPattern;
use crate::stub::request_pattern::url_pattern::UrlPattern;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use multipart_pattern::MultipartPattern;

/// Properties that WireMock 3.13 has and this version does not.
const LATER: &[&str] = &["customMatcher"];

/// A pattern of requests; the default matches every one.
#[derive(Debug, Clone, Default)]
pub struct RequestPattern {
    /// The pattern of its URL.
    pub url: UrlPattern,
    /// The pattern of its method.
    pub method: MethodPattern,
    headers: Vec<(String, Several)>,
    /// Properties that few patterns have, apart, so that the others are small.
    more: Option<Box<More>>,
}

/// Everything but URL, method and headers.
#[derive(Debug, Clone, Default)]
struct More {
    scheme: Option<String>,
    host: Option<Matcher>,
    port: Option<u16>,
    client: Option<Matcher>,
    /// With the place of the variable among those of the template.
    path: Vec<(usize, Matcher)>,
    query: Vec<(String, Several)>,
    cookies: Vec<(String, Matcher)>,
    form: Vec<(String, Several)>,
    bodies: Vec<Matcher>,
    parts: Vec<MultipartPattern>,
}

impl RequestPattern {
    /// Reads `request` of a mapping.
    pub fn read(node: &Node<'_>, problems: &mut Problems) -> Option<Self> {
        let mut object = node.object(problems)?;
        let url = UrlPattern::read(&mut object, problems).unwrap_or_default();
        let method = object
            .get("method")
            .and_then(|node| MethodPattern::read(&node, problems))
            .unwrap_or_default();
        let mut headers = read_named(object.get("headers"), problems);
        headers.extend(read_credentials(&mut object, problems));
        let more = More::read(&mut object, &url, problems);
        object.finish(LATER, problems);
        Some(Self {
            url,
            method,
            headers,
            more,
        })
    }

    /// Whether the request matches in every respect.
    pub fn holds(&self, request: &Request<'_>) -> Result<bool, TooCostly> {
        if !self.method.holds(request.method) || !self.url.holds(request)? {
            return Ok(false);
        }
        for (name, pattern) in &self.headers {
            if !pattern.holds(request.fields.get_all(name))? {
                return Ok(false);
            }
        }
        match &self.more {
            Some(more) => more.holds(request, &self.url),
            None => Ok(true),
        }
    }

    /// Whether it looks at bodies.
    pub fn wants_body(&self) -> bool {
        self.more.as_ref().is_some_and(|more| {
            !more.bodies.is_empty() || !more.form.is_empty() || !more.parts.is_empty()
        })
    }
}

impl More {
    fn read(
        object: &mut Object<'_>,
        url: &UrlPattern,
        problems: &mut Problems,
    ) -> Option<Box<Self>> {
        const NAMES: &[&str] = &[
            "scheme",
            "host",
            "port",
            "clientIp",
            "pathParameters",
            "queryParameters",
            "cookies",
            "formParameters",
            "bodyPatterns",
            "multipartPatterns",
        ];
        if !object.has_any(NAMES) {
            return None;
        }
        let scheme = object.get("scheme");
        let port = object.get("port");
        let mut pattern = |name| {
            let node = object.get(name)?;
            Matcher::read(&node, problems)
        };
        let (host, client) = (pattern("host"), pattern("clientIp"));
        let parts = object.get("multipartPatterns");
        let parts = parts.map_or_else(Vec::new, |node| node.items(problems));
        Some(Box::new(Self {
            scheme: scheme.and_then(|node| node.text(problems)),
            host,
            port: port.and_then(|node| read_port(&node, problems)),
            client,
            path: read_path_parameters(object, url, problems),
            query: read_named(object.get("queryParameters"), problems),
            cookies: read_cookies(object, problems),
            form: read_named(object.get("formParameters"), problems),
            bodies: read_bodies(object.get("bodyPatterns"), problems),
            parts: parts
                .iter()
                .filter_map(|node| MultipartPattern::read(node, problems))
                .collect(),
        }))
    }

    fn holds(&self, request: &Request<'_>, url: &UrlPattern) -> Result<bool, TooCostly> {
        Ok(self.holds_on_address(request)?
            && self.holds_on_path(request, url)?
            && all_hold(&self.query, || Ok(request.query_parameters()))?
            && self.holds_on_cookies(request)?
            && self.holds_on_body(request)?)
    }

    fn holds_on_address(&self, request: &Request<'_>) -> Result<bool, TooCostly> {
        let scheme = self.scheme.as_deref();
        if scheme.is_some_and(|scheme| scheme != request.channel.scheme.name())
            || self.port.is_some_and(|port| port != request.port())
        {
            return Ok(false);
        }
        if let Some(host) = &self.host
            && !host.holds(Some(&Content::of(request.host().as_bytes())))?
        {
            return Ok(false);
        }
        let Some(client) = &self.client else {
            return Ok(true);
        };
        let address = request.channel.client.map(|address| address.to_string());
        client.holds(address.map(Content::text_of).as_ref())
    }

    fn holds_on_path(&self, request: &Request<'_>, url: &UrlPattern) -> Result<bool, TooCostly> {
        let (UrlPattern::PathTemplate(template), false) = (url, self.path.is_empty()) else {
            return Ok(true);
        };
        let values = template.values(request.path)?.unwrap_or_default();
        for (place, pattern) in &self.path {
            let value = values
                .get(*place)
                .map(|value| Content::of(value.as_bytes()));
            if !pattern.holds(value.as_ref())? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn holds_on_cookies(&self, request: &Request<'_>) -> Result<bool, TooCostly> {
        for (name, pattern) in &self.cookies {
            let mut values = named(request.cookies(), name).peekable();
            if values.peek().is_none() {
                if !matches!(pattern, Matcher::Absent) {
                    return Ok(false);
                }
                continue;
            }
            let mut any = false;
            for value in values {
                any |= pattern.holds(Some(&Content::of(value)))?;
            }
            if !any {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn holds_on_body(&self, request: &Request<'_>) -> Result<bool, TooCostly> {
        if !all_hold(&self.form, || request.form_parameters())? {
            return Ok(false);
        }
        // An empty body is one that is not there.
        let body = Some(&request.body).filter(|body| !body.bytes().is_empty());
        for pattern in &self.bodies {
            if !pattern.holds(body)? {
                return Ok(false);
            }
        }
        for pattern in &self.parts {
            if !pattern.holds(request)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Whether all named values match; they are made only if some pattern wants them.
fn all_hold<'a>(
    patterns: &[(String, Several)],
    parameters: impl FnOnce() -> Result<&'a Parameters, TooCostly>,
) -> Result<bool, TooCostly> {
    if patterns.is_empty() {
        return Ok(true);
    }
    let parameters = parameters()?;
    for (name, pattern) in patterns {
        if !pattern.holds(named(parameters, name))? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn named<'a, 'n>(
    parameters: &'a Parameters,
    name: &'n str,
) -> impl Iterator<Item = &'a [u8]> + use<'a, 'n> {
    parameters.values(name).map(str::as_bytes)
}

/// Patterns by the names of headers or parameters.
fn read_named(node: Option<Node<'_>>, problems: &mut Problems) -> Vec<(String, Several)> {
    let entries = node.map_or_else(Vec::new, |node| node.entries(problems));
    entries
        .into_iter()
        .filter_map(|(name, node)| Some((name.to_owned(), Several::read(&node, problems)?)))
        .collect()
}

/// A list of patterns on a body.
fn read_bodies(node: Option<Node<'_>>, problems: &mut Problems) -> Vec<Matcher> {
    let items = node.map_or_else(Vec::new, |node| node.items(problems));
    items
        .iter()
        .filter_map(|node| Matcher::read(node, problems))
        .collect()
}

fn read_cookies(object: &mut Object<'_>, problems: &mut Problems) -> Vec<(String, Matcher)> {
    let cookies = object.get("cookies");
    let entries = cookies.map_or_else(Vec::new, |node| node.entries(problems));
    entries
        .into_iter()
        .filter_map(|(name, node)| Some((name.to_owned(), Matcher::read(&node, problems)?)))
        .collect()
}

/// `basicAuth`, in some files `basicAuthCredentials`: the `Authorization` field with these credentials.
fn read_credentials(object: &mut Object<'_>, problems: &mut Problems) -> Option<(String, Several)> {
    let (one, other) = (object.get("basicAuth"), object.get("basicAuthCredentials"));
    let node = one.or(other)?;
    let mut object = node.object(problems)?;
    let mut part = |name, problems: &mut Problems| {
        let node = object.required(name, problems)?;
        node.text(problems)
    };
    let (user, password) = (part("username", problems), part("password", problems));
    object.finish(&[], problems);
    let encoded = BASE64.encode(format!("{}:{}", user?, password?));
    let pattern = Matcher::basic_credentials(&encoded).ok()?;
    Some(("Authorization".to_owned(), Several::One(pattern)))
}

fn read_port(node: &Node<'_>, problems: &mut Problems) -> Option<u16> {
    let port = u16::try_from(node.integer(problems)?).ok();
    port.or_else(|| node.wrong("a port from 0 to 65535", problems))
}

/// `pathParameters`: patterns on the variables of `urlPathTemplate`.
fn read_path_parameters(
    object: &mut Object<'_>,
    url: &UrlPattern,
    problems: &mut Problems,
) -> Vec<(usize, Matcher)> {
    let Some(node) = object.get("pathParameters") else {
        return Vec::new();
    };
    let entries = node.entries(problems);
    let UrlPattern::PathTemplate(template) = url else {
        if !entries.is_empty() {
            let message = "needs a \"urlPathTemplate\" whose variables it is about";
            problems.push(StubProblem::invalid(&node.pointer, message));
        }
        return Vec::new();
    };
    let mut read = Vec::new();
    for (name, node) in entries {
        let place = template.names().iter().position(|own| own == name);
        // A name that the template does not have stands for a value that is never there.
        let place = place.unwrap_or(usize::MAX);
        read.extend(Matcher::read(&node, problems).map(|matcher| (place, matcher)));
    }
    read
}
