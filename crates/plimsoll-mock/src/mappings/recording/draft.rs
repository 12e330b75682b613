//! One recorded mapping: the pattern of a request, and the response that is its answer.

use super::spec::{BodyMatcher, BodyPattern, Extract, Keep, Spec};
use super::{Recorded, names};
use crate::records::journal::shown::one_or_many;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use plimsoll_wiremock::document::xml::Document;
use plimsoll_wiremock::request::content_type;
use plimsoll_wiremock::request::parameters::by_name;
use plimsoll_wiremock::request::{Request, unpacked};
use plimsoll_wiremock::response::answer::Shown;
use plimsoll_wiremock::stub::state::STARTED;
use plimsoll_wiremock::stub_id::StubId;
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// A mapping that is being made.
#[derive(Debug)]
pub(super) struct Draft {
    name: String,
    method: String,
    /// The path of its request, as it came.
    pub(super) path: String,
    /// Its request pattern.
    pub(super) request: Value,
    status: u16,
    fields: Vec<(String, String)>,
    body: Vec<u8>,
    /// `scenarioName` and its like.
    scenario: Map<String, Value>,
}

impl Draft {
    pub(super) fn of(request: &Request<'_>, shown: Shown<'_>, spec: &Spec) -> Self {
        let is_packed = field(&shown.fields, "Content-Encoding").eq_ignore_ascii_case("gzip");
        let Shown {
            status,
            mut fields,
            body,
        } = shown;
        // Those that name the stub which answered are not the answer's own.
        fields.retain(|(name, _)| !name.to_ascii_lowercase().starts_with("matched-stub-"));
        let body = if is_packed {
            unpacked(body)
        } else {
            Cow::Borrowed(body)
        };
        if matches!(body, Cow::Owned(_)) {
            fields.retain(|(name, _)| !name.eq_ignore_ascii_case("Content-Encoding"));
        }
        Self {
            name: names::of_path(request.path),
            method: request.method.to_owned(),
            path: request.path.to_owned(),
            request: pattern(request, spec),
            status,
            body: body.into_owned(),
            fields,
            scenario: Map::new(),
        }
    }

    /// Makes it one of several steps.
    pub(super) fn put_in_scenario(&mut self, name: &str, step: usize, is_last: bool) {
        let state = |step: usize| match step {
            0 => STARTED.to_owned(),
            step => format!("{name}-{}", step + 1),
        };
        let scenario = &mut self.scenario;
        scenario.insert("scenarioName".to_owned(), name.into());
        scenario.insert("requiredScenarioState".to_owned(), state(step).into());
        if !is_last {
            scenario.insert("newScenarioState".to_owned(), state(step + 1).into());
        }
    }

    /// Makes it match the URL as a whole, whatever its query.
    pub(super) fn match_whole_url(&mut self, url: &str) {
        if let Value::Object(pattern) = &mut self.request
            && pattern.shift_remove("urlPath").is_some()
        {
            pattern.shift_remove("queryParameters");
            pattern.shift_insert(0, "url".to_owned(), url.into());
        }
    }

    /// The name of the file that its body goes to.
    pub(super) fn file_name(&self, id: StubId, ending: &str) -> String {
        names::of_file(&self.name, &self.method, &id.to_string(), ending)
    }

    /// The mapping with this id; a body that goes to a file gets the name that `name_file` makes with its ending.
    pub(super) fn finish(
        self,
        id: StubId,
        spec: &Spec,
        name_file: impl FnOnce(&Self, &str) -> String,
    ) -> Recorded {
        let own_id = id.to_string();
        let content_type = field(&self.fields, "Content-Type");
        let text = std::str::from_utf8(&self.body).ok();
        let text = text.filter(|_| is_text(content_type));
        let mut response = json!({"status": self.status});
        let mut file = None;
        if goes_to_file(spec.extract, self.body.len(), text.is_some()) {
            let is_text = std::str::from_utf8(&self.body).is_ok();
            let ending = names::ending(content_type, &self.path, is_text);
            let name = name_file(&self, &ending);
            response["bodyFileName"] = name.as_str().into();
            file = Some((name, self.body.clone()));
        } else if let Some(text) = text.filter(|text| !text.is_empty()) {
            response["body"] = text.into();
        } else if !self.body.is_empty() {
            response["base64Body"] = BASE64.encode(&self.body).into();
        }
        if !self.fields.is_empty() {
            response["headers"] = one_or_many(self.fields.iter().cloned());
        }
        let mut document = json!({
            "id": own_id, "name": self.name, "request": self.request, "response": response,
        });
        if spec.keep == Keep::InFiles {
            document["persistent"] = true.into();
        }
        for (name, value) in self.scenario {
            document[name] = value;
        }
        Recorded { id, document, file }
    }
}

/// The pattern that only requests like this one match.
fn pattern(request: &Request<'_>, spec: &Spec) -> Value {
    let mut pattern = Map::new();
    match query_pattern(request) {
        Some(parameters) => {
            pattern.insert("urlPath".to_owned(), request.path.into());
            pattern.insert("method".to_owned(), request.method.into());
            pattern.insert("queryParameters".to_owned(), parameters);
        }
        None => {
            pattern.insert("url".to_owned(), request.url.into());
            pattern.insert("method".to_owned(), request.method.into());
        }
    }
    let mut fields = Map::new();
    for (name, case_insensitive) in &spec.capture {
        if let Some(value) = request.fields.get(name) {
            let mut equal = json!({"equalTo": String::from_utf8_lossy(value)});
            add_flag(&mut equal, "caseInsensitive", *case_insensitive);
            fields.insert(name.clone(), equal);
        }
    }
    if !fields.is_empty() {
        pattern.insert("headers".to_owned(), fields.into());
    }
    // As matchers see it: unpacked.
    let body = request.body.bytes();
    if !body.is_empty() {
        let content_type = request.fields.get("Content-Type").unwrap_or_default();
        let content_type = String::from_utf8_lossy(content_type);
        let body = body_pattern(body, &content_type, &spec.body_pattern);
        pattern.insert("bodyPatterns".to_owned(), json!([body]));
    }
    Value::Object(pattern)
}

/// The patterns of a query's parameters; `None` where the URL as a whole is to match. WireMock finds no empty value among several of
/// one name, not even in what it has recorded itself.
fn query_pattern(request: &Request<'_>) -> Option<Value> {
    let names = by_name(request.query_parameters());
    let is_missed = |values: &[&str]| values.len() > 1 && values.contains(&"");
    if names.is_empty() || names.iter().any(|(_, values)| is_missed(values)) {
        return None;
    }
    let exactly = |values: Vec<&str>| {
        let values = values.into_iter().map(|value| json!({"equalTo": value}));
        json!({"hasExactly": values.collect::<Vec<Value>>()})
    };
    let patterns = names.into_iter();
    Some(Value::Object(
        patterns
            .map(|(name, values)| (name.to_owned(), exactly(values)))
            .collect(),
    ))
}

/// The pattern of a body as its sender meant it, as its kind or the specification has it. What should be JSON or XML and is not is compared as text,
/// what is no UTF-8 byte by byte.
fn body_pattern(body: &[u8], content_type: &str, how: &BodyPattern) -> Value {
    let kind = content_type.split(';').next().unwrap_or_default().trim();
    let kind = kind.to_ascii_lowercase();
    let is_auto = how.matcher == BodyMatcher::Auto;
    if is_auto && kind == "multipart/form-data" {
        return json!({"anything": "anything"});
    }
    let exactly = || json!({"binaryEqualTo": BASE64.encode(body)});
    let Ok(text) = std::str::from_utf8(body) else {
        return exactly();
    };
    let as_json = how.matcher == BodyMatcher::EqualToJson || (is_auto && kind.contains("json"));
    if as_json && serde_json::from_str::<Value>(text).is_ok() {
        let mut equal = json!({"equalToJson": text});
        add_flag(&mut equal, "ignoreArrayOrder", how.ignore_array_order);
        add_flag(&mut equal, "ignoreExtraElements", how.ignore_extra_elements);
        return equal;
    }
    let as_xml = how.matcher == BodyMatcher::EqualToXml || (is_auto && kind.contains("xml"));
    if as_xml && Document::parse(text).is_ok() {
        return json!({"equalToXml": text});
    }
    if is_auto && !kind.is_empty() && !is_text(&kind) {
        return exactly();
    }
    let mut equal = json!({"equalTo": text});
    add_flag(&mut equal, "caseInsensitive", how.case_insensitive);
    equal
}

fn add_flag(pattern: &mut Value, name: &str, flag: Option<bool>) {
    if let Some(flag) = flag {
        pattern[name] = flag.into();
    }
}

fn goes_to_file(extract: Option<Extract>, length: usize, is_text: bool) -> bool {
    extract.is_some_and(|extract| {
        let most = if is_text {
            extract.text
        } else {
            extract.binary
        };
        length as u64 > most
    })
}

fn is_text(content_type: &str) -> bool {
    let kind = content_type.to_ascii_lowercase();
    content_type::is_text(&kind)
}

/// The value of a field; empty if it is not there.
fn field<'a>(fields: &'a [(String, String)], name: &str) -> &'a str {
    let mut own = fields.iter();
    let own = own.find(|(other, _)| other.eq_ignore_ascii_case(name));
    own.map_or("", |(_, value)| value.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use plimsoll_http::RequestHead;
    use plimsoll_wiremock::request::Channel;
    use std::io::Write as _;

    #[test]
    fn a_packed_body_is_matched_as_it_was_before() {
        let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
        packer.write_all(b"text").unwrap();
        let packed = packer.finish().unwrap();
        let head = RequestHead::default();
        let request = Request::of(&head, &packed, Channel::default());
        let made = pattern(&request, &Spec::default());
        let equal = &made["bodyPatterns"][0]["equalTo"];
        assert_eq!(equal, "text", "{made}");
    }

    #[test]
    fn a_body_is_matched_as_its_kind_has_it() {
        let pattern = |matcher| BodyPattern {
            matcher,
            ..BodyPattern::default()
        };
        let check = |body: &[u8], kind: &str, how: BodyMatcher, expected: &str| {
            let made = body_pattern(body, kind, &pattern(how));
            assert_eq!(made.as_object().unwrap().keys().next().unwrap(), expected);
        };
        let latin = b"<a>\xe9</a>";
        check(b"{}", "application/json", BodyMatcher::Auto, "equalToJson");
        check(b"<a/>", "text/xml", BodyMatcher::Auto, "equalToXml");
        check(b"a", "", BodyMatcher::Auto, "equalTo");
        check(b"a", "image/png", BodyMatcher::Auto, "binaryEqualTo");
        check(
            b"\xe9",
            "multipart/form-data",
            BodyMatcher::Auto,
            "anything",
        );
        // Text that is not UTF-8 would be recorded as another.
        check(latin, "text/xml", BodyMatcher::Auto, "binaryEqualTo");
        check(latin, "", BodyMatcher::EqualToXml, "binaryEqualTo");
        check(
            b"\"\xe9\"",
            "application/json",
            BodyMatcher::Auto,
            "binaryEqualTo",
        );
    }
}
