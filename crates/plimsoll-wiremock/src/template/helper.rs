//! The helpers of templates. Each family is a file; this one lists them by name and makes their arguments ready. How they are called is `render`'s.

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

use super::render::program::Expression;
use super::render::{Failure, Helper, Invocation, Outcome, Prepare, Prepared};
use super::value::Value;
use crate::document::json::path::JsonPath;
use crate::document::xml::naming::Naming;
use crate::document::xml::path::XPath;
use crate::java::regex::JavaRegex;

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

/// Helpers that WireMock 3.13 has and this version does not.
const LATER: &[&str] = &["embedded", "include", "partial", "precompile"];

/// The helper of this name.
pub fn find(name: &str) -> Option<&'static Helper> {
    let mut all = HELPERS.iter().flat_map(|family| family.iter());
    all.find(|helper| helper.name == name)
}

/// The names of all helpers.
#[cfg(any(test, feature = "testing"))]
pub fn names() -> impl Iterator<Item = &'static str> {
    HELPERS
        .iter()
        .flat_map(|family| family.iter().map(|helper| helper.name))
}

/// Message on a name that is no helper.
pub fn unknown(name: &str) -> String {
    if LATER.contains(&name) {
        format!("the helper `{name}` is not available in this version")
    } else {
        format!("there is no helper `{name}`")
    }
}

/// Makes ready what is written out among the arguments of a helper.
pub fn prepare(helper: &Helper, arguments: &[Expression]) -> Prepared {
    let Some(Expression::Text(text)) = arguments.get(1) else {
        return Prepared::Nothing;
    };
    match helper.prepare {
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

fn path(text: &str) -> Prepared {
    XPath::compile(text, Naming::Local)
        .map_or(Prepared::Nothing, |path| Prepared::XPath(Box::new(path)))
}

fn regex(compiled: Result<JavaRegex, String>) -> Prepared {
    compiled.map_or(Prepared::Nothing, |regex| Prepared::Regex(Box::new(regex)))
}

/// WireMock's text in the place of a value that a helper cannot give.
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
