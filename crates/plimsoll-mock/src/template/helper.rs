//! The helpers of templates. Each family is a file; this one lists them by name and says how they are called.

mod array;
mod array_edit;
mod array_join;
mod assign;
mod base64;
mod comparison;
mod contains;
mod date;
mod each;
mod form_data;
mod format_xml;
mod hostname;
mod json_edit;
mod json_path;
mod json_text;
mod logic;
mod lookup;
mod math;
mod number_format;
mod pick_random;
mod random_number;
mod random_value;
mod regex_extract;
mod size;
mod string_case;
mod string_cut;
mod string_format;
mod string_join;
mod string_pad;
mod string_shape;
mod system_value;
mod truncate_date;
mod url_encode;
mod val;
mod with;
mod xml_path;

use super::RenderError;
use super::expression::Expression;
use super::parse::Block;
use super::render::Renderer;
use super::scope::Scope;
use super::value::Value;
use crate::budget::TooCostly;
use crate::java_regex::JavaRegex;
use crate::json_path::JsonPath;
use crate::xml::path::{Naming, XPath};

/// A helper.
#[derive(Debug)]
pub(crate) struct Helper {
    name: &'static str,
    call: for<'r, 'a> fn(Invocation<'r, 'a>) -> Outcome<'a>,
    prepare: Prepare,
}

/// What a helper gives.
type Outcome<'a> = Result<Value<'a>, Failure>;

/// Which argument is made ready before the first request, if it is written out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Prepare {
    Nothing,
    /// The second is a JSONPath.
    JsonPath,
    /// The second is a regular expression for a whole text.
    Regex,
    /// The second is one to search with.
    Search,
    /// The second is an XPath.
    XPath,
    /// The second is an XPath within the body of an envelope.
    SoapXPath,
}

/// What was made ready.
#[derive(Debug, Clone)]
pub(crate) enum Prepared {
    Nothing,
    JsonPath(Box<JsonPath>),
    Regex(Box<JavaRegex>),
    XPath(Box<XPath>),
}

/// Why a helper gives nothing.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A message of its own, whose place is that of the call.
    Own(String),
    /// A failure in its block, which has a place.
    Inner(RenderError),
}

/// A call of a helper: its evaluated arguments.
#[derive(Debug)]
pub(crate) struct Invocation<'r, 'a> {
    pub(crate) arguments: Vec<Value<'a>>,
    pub(crate) options: Vec<(&'a str, Value<'a>)>,
    pub(crate) prepared: &'a Prepared,
    pub(crate) block: Option<&'a Block>,
    pub(crate) renderer: &'r mut Renderer<'a>,
}

/// Every helper, by name.
const HELPERS: &[&[Helper]] = &[
    array::HELPERS,
    array_edit::HELPERS,
    array_join::HELPERS,
    assign::HELPERS,
    base64::HELPERS,
    comparison::HELPERS,
    contains::HELPERS,
    date::HELPERS,
    each::HELPERS,
    form_data::HELPERS,
    format_xml::HELPERS,
    hostname::HELPERS,
    json_edit::HELPERS,
    json_path::HELPERS,
    json_text::HELPERS,
    logic::HELPERS,
    lookup::HELPERS,
    math::HELPERS,
    number_format::HELPERS,
    pick_random::HELPERS,
    random_number::HELPERS,
    random_value::HELPERS,
    regex_extract::HELPERS,
    size::HELPERS,
    string_case::HELPERS,
    string_cut::HELPERS,
    string_format::HELPERS,
    string_join::HELPERS,
    string_pad::HELPERS,
    string_shape::HELPERS,
    system_value::HELPERS,
    truncate_date::HELPERS,
    url_encode::HELPERS,
    val::HELPERS,
    with::HELPERS,
    xml_path::HELPERS,
];

/// What WireMock 3.13 has and this version does not.
const LATER: &[&str] = &["embedded", "include", "partial", "precompile"];

/// The helper of this name.
pub(crate) fn find(name: &str) -> Option<&'static Helper> {
    let mut all = HELPERS.iter().flat_map(|family| family.iter());
    all.find(|helper| helper.name == name)
}

/// The names of all helpers.
#[cfg(test)]
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    HELPERS
        .iter()
        .flat_map(|family| family.iter().map(|helper| helper.name))
}

/// What to say of a name that is no helper.
pub(crate) fn unknown(name: &str) -> String {
    if LATER.contains(&name) {
        format!("the helper `{name}` is not available in this version")
    } else {
        format!("there is no helper `{name}`")
    }
}

impl Helper {
    const fn new(
        name: &'static str,
        call: for<'r, 'a> fn(Invocation<'r, 'a>) -> Outcome<'a>,
    ) -> Self {
        Self {
            name,
            call,
            prepare: Prepare::Nothing,
        }
    }

    const fn preparing(self, prepare: Prepare) -> Self {
        Self { prepare, ..self }
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    pub(crate) fn call<'a>(&self, invocation: Invocation<'_, 'a>) -> Outcome<'a> {
        (self.call)(invocation)
    }

    /// Makes ready what is written out among the arguments.
    pub(crate) fn prepare(&self, arguments: &[Expression]) -> Prepared {
        let Some(Expression::Text(text)) = arguments.get(1) else {
            return Prepared::Nothing;
        };
        match self.prepare {
            Prepare::Nothing => Prepared::Nothing,
            // What is no path is told to whoever asks, as WireMock does.
            Prepare::JsonPath => JsonPath::compile(text)
                .map_or(Prepared::Nothing, |path| Prepared::JsonPath(Box::new(path))),
            // So with these.
            Prepare::Regex => regex(JavaRegex::compile(text)),
            Prepare::Search => regex(JavaRegex::searching(text)),
            Prepare::XPath => path(text),
            Prepare::SoapXPath => path(&format!("{}{text}", xml_path::SOAP)),
        }
    }
}

fn path(text: &str) -> Prepared {
    XPath::compile(text, Naming::Local)
        .map_or(Prepared::Nothing, |path| Prepared::XPath(Box::new(path)))
}

fn regex(compiled: Result<JavaRegex, String>) -> Prepared {
    compiled.map_or(Prepared::Nothing, |regex| Prepared::Regex(Box::new(regex)))
}

impl<'a> Invocation<'_, 'a> {
    /// An argument by its position; nothing if it is not given.
    fn argument(&self, index: usize) -> Value<'a> {
        self.arguments.get(index).cloned().unwrap_or(Value::Nothing)
    }

    /// An argument that must be there, as text.
    fn text(&self, index: usize, what: &str) -> Result<String, Failure> {
        match self.arguments.get(index) {
            None | Some(Value::Nothing) => Err(Failure::Own(format!("{what} is missing"))),
            Some(value) => Ok(value.print().into_owned()),
        }
    }

    fn option(&self, name: &str) -> Option<&Value<'a>> {
        let option = self.options.iter().find(|(own, _)| *own == name);
        option
            .map(|(_, value)| value)
            .filter(|value| !value.is_nothing())
    }

    /// The block's body, or what the first argument prints: for helpers that change a text.
    fn subject(&mut self) -> Result<Value<'a>, Failure> {
        match self.block {
            Some(block) if self.arguments.is_empty() => {
                let scope = self.here();
                Ok(Value::text(self.body(block, scope)?))
            }
            _ => Ok(self.argument(0)),
        }
    }

    /// A scope about the same as the one around.
    fn here(&self) -> Scope<'a> {
        Scope {
            this: self.renderer.scopes.this(),
            names: Vec::new(),
            turn: None,
        }
    }

    fn body(&mut self, block: &'a Block, scope: Scope<'a>) -> Result<String, Failure> {
        Ok(self.renderer.render_in(scope, &block.body)?)
    }

    /// As a block: the body or what comes after `else`. As a value: the truth.
    fn decide(self, says: bool) -> Outcome<'a> {
        let Some(block) = self.block else {
            return Ok(Value::Bool(says));
        };
        let parts = if says { &block.body } else { &block.otherwise };
        Ok(Value::text(self.renderer.render(parts)?))
    }
}

impl From<RenderError> for Failure {
    fn from(error: RenderError) -> Self {
        Self::Inner(error)
    }
}

impl From<TooCostly> for Failure {
    fn from(error: TooCostly) -> Self {
        Self::Own(error.to_string())
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self::Own(message)
    }
}

/// What WireMock prints in the place of a value that a helper cannot give.
fn error_text<'a>(message: &str) -> Value<'a> {
    Value::text(format!("[ERROR: {message}]"))
}

/// A whole number that an argument is, or is a text of.
fn integer(value: &Value<'_>) -> Result<i64, Failure> {
    match value {
        Value::Integer(number) => Ok(*number),
        value => {
            let text = value.print();
            let number = text.trim().parse();
            number.map_err(|_| Failure::Own(format!("`{text}` is not a whole number")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_once() {
        let mut names: Vec<_> = HELPERS
            .iter()
            .flat_map(|family| family.iter().map(|helper| helper.name))
            .collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
        assert!(LATER.iter().all(|later| find(later).is_none()));
    }
}
