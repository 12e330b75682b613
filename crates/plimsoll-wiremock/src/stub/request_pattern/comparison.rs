//! A request beside a pattern, part by part: what the table of differences shows. The texts are WireMock 3.13.2's.
//!
//! Whether a part matches is asked of the pattern; what it says is left to `comparison/wish.rs`.

mod wish;

use super::{More, RequestPattern, named};
use crate::budget::TooCostly;
use crate::document::xml::{Document, ItemId, print};
use crate::java;
use crate::matcher::Matcher;
use crate::matcher::several::Several;
use crate::request::Request;
use crate::request::content::Content;
use crate::stub::request_pattern::url_pattern::UrlPattern;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::Value;
use wish::{Wish, method, operator_of, url};

/// A row of the comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Row {
    /// The two sides of a comparison.
    Part {
        /// By the stub.
        expected: String,
        /// In the request.
        actual: String,
        /// Remark on a part that does not match.
        remark: Option<String>,
    },
    /// An empty line.
    Gap,
}

/// Bytes of XML that are laid out for a row: more than a table shows.
const MOST_SHOWN: usize = 128 << 10;

/// One compared part of a pattern.
struct ComparedPart<'p> {
    kind: &'static str,
    expected: String,
    actual: String,
    holds: bool,
    /// Of a URL, its pattern: some mistakes in it have a remark of their own.
    url: Option<(&'p UrlPattern, &'p str)>,
}

impl RequestPattern {
    /// The comparison with a request; `document` is what the pattern was read from.
    pub fn compare(&self, document: &Value, request: &Request<'_>) -> Result<Vec<Row>, TooCostly> {
        let mut rows = Vec::new();
        let more = self.more.as_deref();
        if let Some(more) = more {
            more.compare_address(document, request, &mut rows)?;
        }
        rows.push(
            ComparedPart::new(
                "HTTP method",
                method(document),
                request.method,
                self.method.holds(request.method),
            )
            .row(),
        );
        let (shown, bare) = url(document);
        let mut part = ComparedPart::new("URL", shown, request.url, self.url.holds(request)?);
        part.url = Some((&self.url, bare));
        rows.push(part.row());
        rows.push(Row::Gap);
        self.compare_headers(document, request, &mut rows)?;
        if let Some(more) = more {
            more.compare_rest(document, request, &self.url, &mut rows)?;
        }
        Ok(rows)
    }

    fn compare_headers(
        &self,
        document: &Value,
        request: &Request<'_>,
        rows: &mut Vec<Row>,
    ) -> Result<(), TooCostly> {
        for (name, pattern) in &self.headers {
            let wish = match &document["headers"][name] {
                Value::Null => Wish::credentials(document),
                pattern => Wish::of_several(pattern, ""),
            };
            let text = if wish.text.is_empty() {
                String::new()
            } else {
                format!(": {}", wish.text)
            };
            let values = || request.fields.get_all(name);
            let part = ComparedPart {
                kind: "Header",
                expected: format!("{name}{}{text}", wish.operator),
                actual: key_with(name, values()),
                holds: pattern.holds(values())?,
                url: None,
            };
            rows.push(part.row());
        }
        if !self.headers.is_empty() {
            rows.push(Row::Gap);
        }
        Ok(())
    }
}

impl More {
    fn compare_address(
        &self,
        document: &Value,
        request: &Request<'_>,
        rows: &mut Vec<Row>,
    ) -> Result<(), TooCostly> {
        if let Some(host) = &self.host {
            let wish = Wish::of(&document["host"], "");
            let holds = host.holds(Some(&Content::of(request.host().as_bytes())))?;
            let expected = format!("{}{}", wish.operator, wish.text).trim().to_owned();
            rows.push(ComparedPart::new("Host", expected, request.host(), holds).row());
        }
        if let Some(port) = self.port {
            let actual = request.port();
            rows.push(
                ComparedPart::new(
                    "Port",
                    port.to_string(),
                    &actual.to_string(),
                    port == actual,
                )
                .row(),
            );
        }
        if let Some(scheme) = &self.scheme {
            let own = request.channel.scheme.name();
            rows.push(ComparedPart::new("Scheme", scheme.clone(), own, scheme == own).row());
        }
        Ok(())
    }

    fn compare_rest(
        &self,
        document: &Value,
        request: &Request<'_>,
        url: &UrlPattern,
        rows: &mut Vec<Row>,
    ) -> Result<(), TooCostly> {
        self.compare_path(document, request, url, rows)?;
        let query = || Ok(request.query_parameters());
        compare_named(
            ("Query", "Query"),
            &self.query,
            &document["queryParameters"],
            query,
            rows,
        )?;
        let form = || request.form_parameters();
        compare_named(
            ("Form data", "Form"),
            &self.form,
            &document["formParameters"],
            form,
            rows,
        )?;
        self.compare_cookies(document, request, rows)?;
        for (index, pattern) in self.bodies.iter().enumerate() {
            let wanted = &document["bodyPatterns"][index];
            compare_body(pattern, wanted, &request.body, rows)?;
        }
        if self
            .parts
            .iter()
            .any(|part| !part.holds(request).unwrap_or(false))
            && request.parts().is_empty()
        {
            rows.push(Row::Part {
                expected: "[Multipart request body]".to_owned(),
                actual: String::new(),
                remark: None,
            });
        }
        Ok(())
    }

    fn compare_path(
        &self,
        document: &Value,
        request: &Request<'_>,
        url: &UrlPattern,
        rows: &mut Vec<Row>,
    ) -> Result<(), TooCostly> {
        let UrlPattern::PathTemplate(template) = url else {
            return Ok(());
        };
        let Some(values) = template.values(request.path)? else {
            return Ok(());
        };
        for (place, pattern) in &self.path {
            let (Some(name), Some(value)) = (template.names().get(*place), values.get(*place))
            else {
                continue;
            };
            let wish = Wish::of(&document["pathParameters"][name], " = ");
            let part = ComparedPart {
                kind: "Path parameter",
                expected: format!("Path parameter: {name}{}{}", wish.operator, wish.text),
                actual: (*value).to_owned(),
                holds: pattern.holds(Some(&Content::of(value.as_bytes())))?,
                url: None,
            };
            rows.push(part.row());
        }
        if !self.path.is_empty() {
            rows.push(Row::Gap);
        }
        Ok(())
    }

    fn compare_cookies(
        &self,
        document: &Value,
        request: &Request<'_>,
        rows: &mut Vec<Row>,
    ) -> Result<(), TooCostly> {
        for (name, pattern) in &self.cookies {
            let wish = Wish::of(&document["cookies"][name], "=");
            let values: Vec<&[u8]> = named(request.cookies(), name).collect();
            let mut holds = values.is_empty() && matches!(pattern, Matcher::Absent);
            for value in &values {
                holds |= pattern.holds(Some(&Content::of(*value)))?;
            }
            let actual = values
                .first()
                .map(|value| String::from_utf8_lossy(value).into_owned());
            let part = ComparedPart {
                kind: "Cookie",
                expected: format!("Cookie: {name}{}{}", wish.operator, wish.text),
                actual: actual.unwrap_or_default(),
                holds,
                url: None,
            };
            rows.push(part.row());
        }
        if !self.cookies.is_empty() {
            rows.push(Row::Gap);
        }
        Ok(())
    }
}

impl<'p> ComparedPart<'p> {
    fn new(kind: &'static str, expected: String, actual: &str, holds: bool) -> Self {
        Self {
            kind,
            expected,
            actual: actual.to_owned(),
            holds,
            url: None,
        }
    }

    fn row(self) -> Row {
        let mut remark = if self.actual.is_empty() {
            Some(format!("{} is not present", self.kind))
        } else {
            (!self.holds).then(|| format!("{} does not match", self.kind))
        };
        if let (Some((pattern, text)), Some(remark)) = (self.url, &mut remark) {
            let is_regex = matches!(pattern, UrlPattern::UrlRegex(_) | UrlPattern::PathRegex(_));
            if is_regex && has_bare_question_mark(text) {
                remark.push_str(". When using a regex, \"?\" should be \"\\?\"");
            }
            if !matches!(pattern, UrlPattern::Any) && !text.starts_with('/') {
                remark.push_str(". URLs must start with a /");
            }
        }
        Row::Part {
            expected: self.expected,
            actual: self.actual,
            remark,
        }
    }
}

fn compare_named<'r>(
    (kind, label): (&'static str, &str),
    patterns: &[(String, Several)],
    document: &Value,
    parameters: impl FnOnce() -> Result<&'r crate::request::parameters::Parameters, TooCostly>,
    rows: &mut Vec<Row>,
) -> Result<(), TooCostly> {
    if patterns.is_empty() {
        return Ok(());
    }
    let parameters = parameters()?;
    for (name, pattern) in patterns {
        let wish = Wish::of_several(&document[name], " = ");
        let values = || named(parameters, name);
        let part = ComparedPart {
            kind,
            expected: format!("{label}: {name}{}{}", wish.operator, wish.text),
            actual: key_with(name, values()),
            holds: pattern.holds(values())?,
            url: None,
        };
        rows.push(part.row());
    }
    rows.push(Row::Gap);
    Ok(())
}

/// Bodies that match are not shown.
fn compare_body(
    pattern: &Matcher,
    wanted: &Value,
    body: &Content<'_>,
    rows: &mut Vec<Row>,
) -> Result<(), TooCostly> {
    let there = Some(body).filter(|body| !body.bytes().is_empty());
    if pattern.holds(there)? {
        return Ok(());
    }
    let wish = Wish::of(wanted, "");
    let (name, operand) = operator_of(wanted);
    let text = body_shown(name, body);
    let (expected, actual) = match (name, operand) {
        ("matchesJsonPath" | "matchesXPath", Value::Object(_)) => {
            let expression = operand["expression"].as_str().unwrap_or_default();
            let (inner, _) = operator_of(operand);
            let inner_wish = Wish::of(operand, "");
            (
                format!("{expression} [{inner}] {}", inner_wish.text),
                pattern.found(body).unwrap_or(text),
            )
        }
        ("matchesJsonPath" | "matchesXPath" | "binaryEqualTo", _) => (wish.text, text),
        _ => (format!("[{name}]\n{}", wish.text), format!("\n{text}")),
    };
    rows.push(
        ComparedPart {
            kind: "Body",
            expected,
            actual,
            holds: false,
            url: None,
        }
        .row(),
    );
    Ok(())
}

/// A body as it stands beside a pattern.
fn body_shown(operator: &str, body: &Content<'_>) -> String {
    match operator {
        "equalToJson" => body.value().ok().flatten().map(java::json::pretty),
        "equalToXml" => body
            .xml()
            .ok()
            .flatten()
            .map(|document: &Document| print::beginning(document, ItemId::ROOT, MOST_SHOWN)),
        "binaryEqualTo" => Some(BASE64.encode(body.bytes())),
        _ => None,
    }
    .unwrap_or_else(|| body.text().into_owned())
}

/// A name with each of its values; nothing if there are none.
fn key_with<'v>(name: &str, values: impl Iterator<Item = &'v [u8]>) -> String {
    let line = |value: &[u8]| format!("{name}: {}", String::from_utf8_lossy(value));
    values.map(line).collect::<Vec<_>>().join("\n")
}

fn has_bare_question_mark(text: &str) -> bool {
    text.find('?')
        .is_some_and(|place| !text[..place].ends_with("\\\\"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Scheme;
    use crate::stub::read_pattern;
    use plimsoll_http::Fields;
    use serde_json::json;

    /// A request over TLS, which the corpus cannot ask of the real WireMock.
    #[test]
    fn the_scheme_is_that_of_the_channel() {
        let document = json!({"scheme": "http", "url": "/a"});
        let pattern = read_pattern(&document.to_string()).unwrap();
        let fields = Fields::default();
        let mut request = Request::bare("GET", "/a", &fields);
        request.channel.scheme = Scheme::Https;
        let rows = pattern.compare(&document, &request).unwrap();
        let expected = Row::Part {
            expected: "http".to_owned(),
            actual: "https".to_owned(),
            remark: Some("Scheme does not match".to_owned()),
        };
        assert_eq!(rows[0], expected);
    }
}
