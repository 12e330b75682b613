//! Values of expressions. Unlike JSON, a request's parts are several things at once: a text that prints, and the parts that it consists of.

pub(super) mod print;

use super::xml_node::XmlNode;
use crate::java::date_time::Moment;
use crate::request::Request;
use crate::request::multipart;
use serde_json::Value as Json;
use std::borrow::Cow;
use std::rc::Rc;

/// A value while a template is rendered. `'a` is the request and the template.
#[derive(Debug, Clone)]
pub enum Value<'a> {
    /// Nothing there, or `null`.
    Nothing,
    Bool(bool),
    Integer(i64),
    Decimal(f64),
    Text(Cow<'a, str>),
    /// Something of the request that prints as a text but is not one to `eq`: a method, a cookie, a header.
    Shown(Cow<'a, str>),
    /// The values of one name: prints the first.
    Several(Rc<[Cow<'a, str>]>),
    /// A path: prints itself, and has its segments.
    Path(&'a str),
    /// The request's body, whose JSON is parsed once.
    Body(&'a Request<'a>),
    /// An object or array of JSON.
    Json(Cow<'a, Json>, Origin),
    List(Rc<[Value<'a>]>),
    /// Names with values, in order.
    Map(Rc<[(Cow<'a, str>, Value<'a>)]>),
    /// A part of a multipart body.
    Part(&'a multipart::MultipartPart),
    /// Its header fields.
    PartFields(&'a multipart::MultipartPart),
    /// A moment with the pattern that it is shown in.
    Moment(Rc<Moment>, Option<Rc<str>>),
    /// A node of XML.
    Node(Rc<XmlNode>),
    /// The nodes of XML that a path found: prints the first.
    Nodes(Rc<[Rc<XmlNode>]>),
    /// A part of the request's model: see `model`.
    Model(ModelPart),
}

/// Where JSON came from decides how WireMock prints an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Found by `jsonPath`: as JSON.
    Found,
    /// In what was found: a list as JSON, an object as Java prints a map.
    Within,
    /// Anything else: as Java prints lists and maps.
    Parsed,
}

impl Origin {
    /// That of the parts of something.
    fn of_parts(self) -> Self {
        match self {
            Self::Found | Self::Within => Self::Within,
            Self::Parsed => Self::Parsed,
        }
    }
}

/// The parts of the model that are no values themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelPart {
    /// The root of the model.
    Root,
    Request,
    RequestLine,
    /// Names that are looked up one by one; what a path ends with is a map of them.
    Headers,
    Query,
    Cookies,
}

impl<'a> Value<'a> {
    /// A text of our own.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(Cow::Owned(text.into()))
    }

    /// A value of JSON that is owned.
    pub fn of_json(json: Json, origin: Origin) -> Self {
        match json {
            Json::Null => Self::Nothing,
            Json::Bool(value) => Self::Bool(value),
            Json::Number(number) => Self::of_number(&number),
            Json::String(text) => Self::text(text),
            json => Self::Json(Cow::Owned(json), origin),
        }
    }

    /// A value of JSON that outlives the rendering.
    pub fn of_json_ref(json: &'a Json, origin: Origin) -> Self {
        match json {
            Json::String(text) => Self::Text(Cow::Borrowed(text)),
            Json::Array(_) | Json::Object(_) => Self::Json(Cow::Borrowed(json), origin),
            scalar => Self::of_json(scalar.clone(), origin),
        }
    }

    fn of_number(number: &serde_json::Number) -> Self {
        number.as_i64().map_or_else(
            || Self::Decimal(number.as_f64().unwrap_or(f64::NAN)),
            Self::Integer,
        )
    }

    /// Whether it says yes, as Handlebars takes it: nothing, `false`, 0 and what is empty do not.
    pub fn is_truthy(&self) -> bool {
        match self {
            Self::Nothing => false,
            Self::Bool(value) => *value,
            Self::Integer(number) => *number != 0,
            // As a whole number, as Java sees it.
            Self::Decimal(number) => number.abs() >= 1.0,
            Self::Text(text) | Self::Shown(text) => !text.is_empty(),
            Self::Several(values) => !values.is_empty(),
            Self::Path(path) => !path.is_empty(),
            Self::Body(request) => !request.body.bytes().is_empty(),
            Self::Json(json, _) => json.as_array().is_none_or(|items| !items.is_empty()),
            Self::List(items) => !items.is_empty(),
            Self::Map(_)
            | Self::Part(_)
            | Self::PartFields(_)
            | Self::Moment(..)
            | Self::Node(_)
            | Self::Nodes(_)
            | Self::Model(_) => true,
        }
    }

    /// Whether there is nothing.
    pub fn is_nothing(&self) -> bool {
        matches!(self, Self::Nothing)
    }

    /// Steps that copying it takes: one for 16 bytes of text or a value of JSON.
    pub fn cost_of_copy(&self) -> usize {
        fn json(value: &Json) -> usize {
            1 + match value {
                Json::String(text) => text.len() / 16,
                Json::Array(items) => items.iter().map(json).sum(),
                Json::Object(map) => map.values().map(json).sum::<usize>() + map.len(),
                _ => 0,
            }
        }
        match self {
            Self::Text(Cow::Owned(text)) | Self::Shown(Cow::Owned(text)) => text.len() / 16,
            Self::Json(Cow::Owned(value), _) => json(value),
            _ => 0,
        }
    }

    /// As it is printed.
    pub fn print(&self) -> Cow<'_, str> {
        print::text(self)
    }

    /// How many things it has: characters of a text, items of a list.
    pub fn size(&self) -> usize {
        match self {
            Self::Several(values) => values.len(),
            Self::List(items) => items.len(),
            Self::Nodes(nodes) => nodes.len(),
            Self::Map(entries) => entries.len(),
            Self::Json(json, _) => match &**json {
                Json::Array(items) => items.len(),
                Json::Object(map) => map.len(),
                _ => 0,
            },
            Self::Path(path) => segments(path).count(),
            other => other.print().encode_utf16().count(),
        }
    }

    /// The items of a list; `None` if it is none.
    pub fn items(&self) -> Option<Vec<Value<'a>>> {
        match self {
            Self::Several(values) => Some(values.iter().cloned().map(Value::Text).collect()),
            Self::List(items) => Some(items.to_vec()),
            Self::Nodes(nodes) => Some(nodes.iter().cloned().map(Value::Node).collect()),
            Self::Path(path) => {
                let text = |segment| Value::Text(Cow::Borrowed(segment));
                Some(segments(path).map(text).collect())
            }
            Self::Json(Cow::Borrowed(Json::Array(items)), origin) => Some(
                items
                    .iter()
                    .map(|item| Self::of_json_ref(item, origin.of_parts()))
                    .collect(),
            ),
            Self::Json(Cow::Owned(Json::Array(items)), origin) => Some(
                items
                    .iter()
                    .map(|item| Self::of_json(item.clone(), origin.of_parts()))
                    .collect(),
            ),
            _ => None,
        }
    }

    /// The names and values of a map; `None` if it is none.
    pub fn entries(&self) -> Option<Vec<(Cow<'a, str>, Value<'a>)>> {
        match self {
            Self::Map(entries) => Some(entries.to_vec()),
            Self::Json(Cow::Borrowed(Json::Object(map)), origin) => Some(
                map.iter()
                    .map(|(name, value)| {
                        let value = Self::of_json_ref(value, origin.of_parts());
                        (Cow::Borrowed(name.as_str()), value)
                    })
                    .collect(),
            ),
            Self::Json(Cow::Owned(Json::Object(map)), origin) => Some(
                map.iter()
                    .map(|(name, value)| {
                        let value = Self::of_json(value.clone(), origin.of_parts());
                        (Cow::Owned(name.clone()), value)
                    })
                    .collect(),
            ),
            _ => None,
        }
    }

    /// A property, or an item by its index; `None` if this has no such thing.
    pub fn member(&self, name: &str) -> Option<Value<'a>> {
        match self {
            Self::Several(values) => several_member(values, name),
            Self::Path(_) if matches!(name, "size" | "length") => {
                Some(Self::Integer(i64::try_from(self.size()).ok()?))
            }
            Self::Path(path) => {
                let segment = segments(path).nth(name.parse().ok()?)?;
                Some(Self::Text(Cow::Borrowed(segment)))
            }
            Self::List(items) => match name {
                "size" | "length" => Some(Self::Integer(i64::try_from(items.len()).ok()?)),
                _ => items.get(name.parse::<usize>().ok()?).cloned(),
            },
            Self::Map(entries) => entries
                .iter()
                .find(|(own, _)| own == name)
                .map(|(_, value)| value.clone()),
            Self::Json(json, origin) => json_member(json, name, origin.of_parts()),
            Self::Text(_) | Self::Body(_) if name == "length" => {
                Some(Self::Integer(i64::try_from(self.size()).ok()?))
            }
            Self::Shown(text) if matches!(name, "value" | "name") => Some(Self::Text(text.clone())),
            Self::Node(node) => node_member(node, name),
            Self::Nodes(nodes) => match name {
                "size" | "length" => Some(Self::Integer(i64::try_from(nodes.len()).ok()?)),
                _ => Some(Self::Node(Rc::clone(
                    nodes.get(name.parse::<usize>().ok()?)?,
                ))),
            },
            _ => None,
        }
    }

    /// The JSON that this is.
    pub fn to_json(&self) -> Json {
        match self {
            Self::Nothing => Json::Null,
            Self::Bool(value) => (*value).into(),
            Self::Integer(number) => (*number).into(),
            Self::Decimal(number) => (*number).into(),
            Self::Json(json, _) => json.clone().into_owned(),
            Self::List(items) => items.iter().map(Self::to_json).collect(),
            Self::Map(entries) => entries
                .iter()
                .map(|(name, value)| (name.clone().into_owned(), value.to_json()))
                .collect(),
            other => other.print().into_owned().into(),
        }
    }
}

fn node_member<'a>(node: &XmlNode, name: &str) -> Option<Value<'a>> {
    Some(match name {
        "name" => Value::text(&node.name),
        "text" => Value::text(&node.text),
        "attributes" => {
            let all = node.attributes.iter();
            Value::Map(
                all.map(|(name, value)| (Cow::Owned(name.clone()), Value::text(value)))
                    .collect(),
            )
        }
        _ => return None,
    })
}

/// The parts of a path between its slashes.
pub fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|segment| !segment.is_empty())
}

fn several_member<'a>(values: &[Cow<'a, str>], name: &str) -> Option<Value<'a>> {
    let index = match name {
        "size" | "length" => return Some(Value::Integer(i64::try_from(values.len()).ok()?)),
        "first" => 0,
        "last" => values.len().checked_sub(1)?,
        _ => match name.strip_prefix('-') {
            // As WireMock counts: from the last but one.
            Some(back) => (values.len().checked_sub(1)?).checked_sub(back.parse().ok()?)?,
            None => name.parse().ok()?,
        },
    };
    values.get(index).cloned().map(Value::Text)
}

fn json_member<'a>(json: &Cow<'a, Json>, name: &str, origin: Origin) -> Option<Value<'a>> {
    fn get<'j>(json: &'j Json, name: &str) -> Option<&'j Json> {
        match json {
            Json::Object(map) => map.get(name),
            Json::Array(items) => items.get(name.parse::<usize>().ok()?),
            _ => None,
        }
    }
    if let Json::Array(items) = &**json
        && matches!(name, "size" | "length")
    {
        return Some(Value::Integer(i64::try_from(items.len()).ok()?));
    }
    Some(match json {
        Cow::Borrowed(json) => Value::of_json_ref(get(json, name)?, origin),
        Cow::Owned(json) => Value::of_json(get(json, name)?.clone(), origin),
    })
}
