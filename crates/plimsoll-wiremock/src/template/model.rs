//! A request as a template sees it: `request` and `parameters`. Nothing is computed that no template asks for.

use super::value::{ModelPart, Origin, Value};
use crate::java;
use crate::request::Request;
use crate::request::multipart::MultipartPart;
use crate::request::parameters::{Parameters, by_name};
use crate::stub_id::StubId;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use jiff::Timestamp;
use plimsoll_base::random::Draw;
use serde_json::Value as Json;
use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

/// One request as a template sees it.
#[derive(Debug)]
pub struct Model<'a> {
    /// The request.
    pub request: &'a Request<'a>,
    /// Its name in templates.
    pub request_name: &'static str,
    /// Values of the variables of the stub's `urlPathTemplate`.
    pub variables: Vec<(&'a str, &'a str)>,
    /// `transformerParameters` of the stub.
    pub parameters: &'a Json,
    /// The time.
    pub now: Timestamp,
    /// The randomness of this request.
    pub draw: RefCell<Draw>,
    /// Its id, which whoever sees it first draws.
    pub id: &'a OnceCell<StubId>,
}

impl<'a> Model<'a> {
    /// A property of a value; `None` if it has no such thing.
    pub(super) fn member(&self, value: &Value<'a>, name: &str) -> Option<Value<'a>> {
        match value {
            Value::Model(ModelPart::Root) => match name {
                _ if name == self.request_name => Some(Value::Model(ModelPart::Request)),
                "parameters" => Some(Value::of_json_ref(self.parameters, Origin::Parsed)),
                _ => None,
            },
            Value::Model(ModelPart::Request) => {
                self.of_request(name).or_else(|| self.of_line(name))
            }
            Value::Model(ModelPart::RequestLine) => self.of_line(name),
            Value::Model(ModelPart::Headers) => {
                let values = self.request.fields.get_all(name);
                several(values.map(String::from_utf8_lossy))
            }
            Value::Model(ModelPart::Query) => of_name(self.request.query_parameters(), name),
            Value::Model(ModelPart::Cookies) => of_name(self.request.cookies(), name),
            // A variable may be a number, as a segment is.
            Value::Path(_) => {
                let variable = self.variables.iter().find(|(own, _)| *own == name);
                let variable = variable.map(|(_, value)| Value::Text(Cow::Borrowed(*value)));
                variable.or_else(|| match name {
                    "size" => Some(Value::Integer(i64::try_from(self.size(value)).ok()?)),
                    "length" if !self.variables.is_empty() => None,
                    _ => value.member(name),
                })
            }
            Value::Part(part) => of_part(part, name),
            Value::PartFields(part) => of_part_fields(part, name),
            value => value.member(name),
        }
    }

    /// Members that only `request` has.
    fn of_request(&self, name: &str) -> Option<Value<'a>> {
        let request = self.request;
        Some(match name {
            "id" => Value::text(self.id().to_string()),
            "url" => Value::Text(Cow::Borrowed(request.url)),
            "requestLine" => Value::Model(ModelPart::RequestLine),
            "headers" => Value::Model(ModelPart::Headers),
            "cookies" => Value::Model(ModelPart::Cookies),
            "body" => Value::Body(request),
            "bodyAsBase64" => Value::text(BASE64.encode(request.body.bytes())),
            "clientIp" => Value::text(request.channel.client?.to_string()),
            "parts" => parts(request),
            "multipart" | "isMultipart" => Value::Bool(!request.parts().is_empty()),
            "binary" | "isBinary" => {
                Value::Bool(std::str::from_utf8(request.body.bytes()).is_err())
            }
            _ => return None,
        })
    }

    /// Members that `request` and `request.requestLine` have.
    fn of_line(&self, name: &str) -> Option<Value<'a>> {
        let request = self.request;
        Some(match name {
            "method" => Value::Shown(Cow::Borrowed(request.method)),
            "path" | "pathSegments" => Value::Path(request.path),
            "query" => Value::Model(ModelPart::Query),
            "host" => Value::Text(Cow::Borrowed(request.host())),
            "port" => Value::Integer(request.port().into()),
            "scheme" => Value::Text(Cow::Borrowed(request.channel.scheme.name())),
            "baseUrl" => Value::text(base_url(request)),
            _ => return None,
        })
    }

    /// How many things a value has; a path's variables count among its segments, unless they stand for one by its number.
    pub fn size(&self, value: &Value<'a>) -> usize {
        let segments = value.size();
        let is_segment = |name: &str| name.parse().is_ok_and(|number: usize| number < segments);
        let names = self.variables.iter().map(|(name, _)| name);
        match value {
            Value::Path(_) => segments + names.filter(|name| !is_segment(name)).count(),
            _ => segments,
        }
    }

    /// A value with which helpers can do something: names that were looked up one by one become a map.
    pub(super) fn whole(&self, value: Value<'a>) -> Value<'a> {
        let request = self.request;
        match value {
            Value::Model(ModelPart::Headers) => {
                let fields = request.fields.iter();
                let mut names: Vec<&str> = fields.map(|(name, _)| name).collect();
                names.sort_by_cached_key(|name| name.to_ascii_lowercase());
                names.dedup_by(|one, other| one.eq_ignore_ascii_case(other));
                map(names, |name| {
                    self.member(&Value::Model(ModelPart::Headers), name)
                })
            }
            Value::Model(ModelPart::Query) => map_of(request.query_parameters()),
            Value::Model(ModelPart::Cookies) => map_of(request.cookies()),
            value => value,
        }
    }

    fn id(&self) -> StubId {
        *self.id.get_or_init(|| {
            let mut draw = self.draw.borrow_mut();
            let bits = (u128::from(draw.bits()) << 64) | u128::from(draw.bits());
            StubId::from_bits(bits)
        })
    }
}

/// The values of one name; `None` if there is none.
fn several<'a>(values: impl Iterator<Item = Cow<'a, str>>) -> Option<Value<'a>> {
    let values: Rc<[_]> = values.collect();
    (!values.is_empty()).then_some(Value::Several(values))
}

fn of_name<'a>(parameters: &'a Parameters, name: &str) -> Option<Value<'a>> {
    several(parameters.values(name).map(Cow::Borrowed))
}

/// Names in the order in which they came first, with their values.
fn map_of(parameters: &Parameters) -> Value<'_> {
    let entries = by_name(parameters).into_iter().map(|(name, values)| {
        let values = values.into_iter().map(Cow::Borrowed);
        (Cow::Borrowed(name), Value::Several(values.collect()))
    });
    Value::Map(entries.collect())
}

fn map<'a>(names: Vec<&'a str>, values: impl Fn(&str) -> Option<Value<'a>>) -> Value<'a> {
    let entry = |name: &'a str| Some((Cow::Borrowed(name), values(name)?));
    Value::Map(names.into_iter().filter_map(entry).collect())
}

/// The parts of a multipart body by their names, in the order of WireMock's map of them; of two with one name the last.
fn parts<'a>(request: &'a Request<'a>) -> Value<'a> {
    let parts = request.parts();
    let names = java::set::in_order(parts.iter().filter_map(MultipartPart::name));
    let entry = |name: String| {
        let mut parts = parts.iter().rev();
        let part = parts.find(|part| part.name().as_deref() == Some(name.as_str()))?;
        Some((Cow::Owned(name), Value::Part(part)))
    };
    Value::Map(names.into_iter().filter_map(entry).collect())
}

/// A part as a template sees it.
fn of_part<'a>(part: &'a MultipartPart, name: &str) -> Option<Value<'a>> {
    Some(match name {
        "name" => Value::text(part.name()?),
        "headers" => Value::PartFields(part),
        "body" => Value::Text(part.body.text()),
        "bodyAsBase64" => Value::text(BASE64.encode(part.body.bytes())),
        "binary" | "isBinary" => Value::Bool(part.is_binary()),
        _ => return None,
    })
}

/// The values of a part's header field, whose name may be in any case.
fn of_part_fields<'a>(part: &'a MultipartPart, name: &str) -> Option<Value<'a>> {
    let fields = part.fields.iter();
    let own = fields.filter(|(own, _)| own.eq_ignore_ascii_case(name));
    several(own.map(|(_, value)| String::from_utf8_lossy(value)))
}

/// Scheme, host and port; the port that goes without saying is left out.
fn base_url(request: &Request<'_>) -> String {
    let scheme = request.channel.scheme;
    match request.port() {
        port if port == scheme.default_port() => format!("{}://{}", scheme.name(), request.host()),
        port => format!("{}://{}:{port}", scheme.name(), request.host()),
    }
}
