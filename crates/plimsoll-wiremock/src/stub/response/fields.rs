//! Header fields as a mapping writes them, and what may stand in one.

use crate::reader::problem::StubProblem;
use crate::reader::{Node, Problems};
use plimsoll_http::decode::is_token;
use serde_json::Value;

/// Header fields; a list gives a line for each of its values.
pub fn read_fields(node: &Node<'_>, problems: &mut Problems) -> Vec<(String, String)> {
    let mut fields = Vec::new();
    for (name, node) in node.entries(problems) {
        if !is_token(name.as_bytes()) {
            let message = format!("\"{name}\" is not a header name");
            problems.push(StubProblem::invalid(&node.pointer, message));
            continue;
        }
        let values = match node.value {
            Value::Array(values) if values.is_empty() => {
                node.wrong::<()>("a value or a list of values", problems);
                continue;
            }
            Value::Array(_) => node.items(problems),
            _ => vec![node],
        };
        for node in values {
            let value = node.string(problems);
            if let Some(value) = value.and_then(|value| check_field(name, value, &node, problems)) {
                fields.push((name.to_owned(), value));
            }
        }
    }
    fields
}

/// A field's value if it is to be sent. Framing is ours: `Transfer-Encoding: chunked`, which recordings have, is dropped.
fn check_field(
    name: &str,
    value: String,
    node: &Node<'_>,
    problems: &mut Problems,
) -> Option<String> {
    if value.contains(is_control) {
        return node.wrong("a value without control characters", problems);
    }
    if name.eq_ignore_ascii_case("Transfer-Encoding") {
        if !value.trim().eq_ignore_ascii_case("chunked") {
            problems.push(StubProblem::not_available(
                &node.pointer,
                "a transfer coding",
            ));
        }
        return None;
    }
    Some(value)
}

/// Control characters would end a line or a field of the head.
pub(in crate::stub) fn is_control(c: char) -> bool {
    c.is_control() && c != '\t'
}

/// A text on one line.
pub fn printable(name: &str) -> String {
    name.replace(is_control, " ")
}
