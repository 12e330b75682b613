//! XPath 1.0, compiled once. Evaluation is `xpath_eval`'s; names, limits and what comes out are ours.

use super::naming::Naming;
use super::node::{Here, Walk};
use super::print;
use super::{Document, ItemId, Kind};
use crate::budget::{Budget, TooCostly};
use xpath_eval::{EvaluationContext, Expr, Value, evaluate, parse};

/// Bytes of an expression at most: how deep evaluation goes grows with it.
const MOST_BYTES: usize = 1_000;
/// How many signs that may be operators: a sum of so many terms is as deep a tree.
const MOST_OPERATORS: usize = 150;
/// How deep parentheses and brackets may stand within each other, and how many signs before each other.
const MOST_NESTED: usize = 20;

/// Steps of an evaluation in any document, and for how many bytes there may be one more: one for whatever it comes by, and may keep, two
/// for an element if the expression has predicates.
const STEPS: usize = 50_000;
const BYTES_A_STEP: usize = 8;
/// Signs of an expression that compare, call or open something: for so many each step counts once more, as each may be asked of each node.
const SIGNS_A_STEP: usize = 8;

/// An expression and how its names are meant.
#[derive(Debug, Clone)]
pub struct XPath {
    expression: Expr,
    naming: Naming,
    /// Weight of an element on the way; of anything else the next field.
    element: usize,
    weight: usize,
}

/// Result of an expression.
#[derive(Debug, Clone, PartialEq)]
pub enum XPathResult {
    /// The places of nodes, in document order.
    Nodes(Vec<ItemId>),
    /// The text of a number, a truth or a text.
    Text(String),
}

/// Why an expression gives nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    #[error("{0}")]
    Invalid(String),
    #[error(transparent)]
    TooCostly(TooCostly),
}

impl XPath {
    /// Compiles an expression; the error says what is wrong.
    pub fn compile(text: &str, naming: Naming) -> Result<Self, String> {
        if text.len() > MOST_BYTES {
            return Err(format!("longer than {MOST_BYTES} bytes"));
        }
        let operators = text.bytes().filter(|byte| b"+-*=<>|".contains(byte));
        if operators.count() > MOST_OPERATORS {
            return Err(format!("more than {MOST_OPERATORS} operators"));
        }
        if nesting(text) > MOST_NESTED {
            return Err(format!("nested deeper than {MOST_NESTED}"));
        }
        let expression = parse(text).map_err(|error| error.to_string())?;
        let signs = text.bytes().filter(|byte| b"[(+*=<>|-".contains(byte));
        let weight = 1 + signs.count() / SIGNS_A_STEP;
        Ok(Self {
            expression,
            naming,
            element: if text.contains('[') {
                2 * weight
            } else {
                weight
            },
            weight,
        })
    }

    /// Its result for a document.
    pub fn find(&self, document: &Document) -> Result<XPathResult, Failure> {
        let lookup = |prefix: &str| match &self.naming {
            Naming::Expanded(prefixes) => {
                let own = prefixes.iter().find(|(own, _)| own == prefix);
                own.map(|(_, uri)| uri.clone())
            }
            Naming::Written | Naming::Local => None,
        };
        let walk = Walk {
            document,
            naming: &self.naming,
            budget: Budget::of(STEPS + document.byte_count() / BYTES_A_STEP),
            element: self.element,
            weight: self.weight,
        };
        let mut context = EvaluationContext::new(Here::root(&walk));
        context.namespaces = Some(&lookup);
        let value = evaluate(&self.expression, &context);
        if walk.budget.is_spent() {
            return Err(Failure::TooCostly(TooCostly::Steps));
        }
        let value = value.map_err(|error| Failure::Invalid(error.to_string()))?;
        Ok(match value {
            Value::NodeSet(mut nodes) => {
                nodes.sort_by_key(|node| node.place);
                XPathResult::Nodes(nodes.iter().map(|node| node.place).collect())
            }
            other => XPathResult::Text(other.to_xpath_string()),
        })
    }
}

/// A node as WireMock hands it on: an element as XML, anything else as its text.
pub fn shown(document: &Document, place: ItemId) -> String {
    match document.kind(place) {
        Kind::Root | Kind::Element(..) => print::indented(document, place),
        _ => document.text(place),
    }
}

fn nesting(text: &str) -> usize {
    let (mut depth, mut signs, mut most) = (0usize, 0, 0);
    for byte in text.bytes().filter(|byte| !byte.is_ascii_whitespace()) {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        signs = if byte == b'-' { signs + 1 } else { 0 };
        most = most.max(depth).max(signs);
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = "<n:order xmlns:n='urn:n' id='7'><item q='2'>a</item><item q='3'>b</item><n:sum>5.0</n:sum></n:order>";

    fn check(path: &str, prefixes: &[(&str, &str)], expected: &str) {
        let owned = |(prefix, uri): &(&str, &str)| ((*prefix).to_owned(), (*uri).to_owned());
        let document = Document::parse(DOCUMENT).unwrap();
        let naming = match prefixes {
            [] => Naming::Local,
            prefixes => Naming::Expanded(prefixes.iter().map(owned).collect()),
        };
        let path = XPath::compile(path, naming).unwrap();
        let actual = match path.find(&document) {
            Ok(XPathResult::Nodes(places)) => {
                let texts: Vec<String> = places
                    .iter()
                    .map(|place| shown(&document, *place))
                    .collect();
                texts.join("|")
            }
            Ok(XPathResult::Text(text)) => text,
            Err(error) => error.to_string(),
        };
        assert_eq!(actual.trim_end(), expected, "{path:?}");
    }

    #[test]
    fn paths_find_nodes_and_texts() {
        let none: &[(&str, &str)] = &[];
        check("//item/text()", none, "a|b");
        check("//item[@q > 2]/text()", none, "b");
        check("//item[2]/@q", none, "3");
        check("//item[1]", none, "<item q=\"2\">a</item>");
        check("count(//item)", none, "2");
        check("//*[local-name() = 'sum']/text()", none, "5.0");
        check("name(/*)", none, "n:order");
        check("//sum/text()", none, "5.0");
        check("//x:sum/text()", &[("x", "urn:n")], "5.0");
        check("//sum", &[("x", "urn:n")], "");
        check("string(//x:order/@id)", &[("x", "urn:n")], "7");
        check("nothing()", none, "unknown function: nothing");
    }

    #[test]
    fn what_is_no_path_says_why() {
        for (text, expected) in [
            ("//", ""),
            ("//item[", ""),
            ("", ""),
            (&"(".repeat(60), "nested deeper"),
            (&"1+".repeat(200), "operators"),
            (&"a".repeat(3_000), "longer than"),
        ] {
            let error = XPath::compile(text, Naming::Local).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn the_longest_expressions_fit_on_a_small_stack() {
        let document = Document::parse(DOCUMENT).unwrap();
        let minuses = format!("{}1", "-".repeat(MOST_NESTED));
        let sum = format!("1{}", "+1".repeat(MOST_OPERATORS));
        let nested = format!("{}1{}", "(".repeat(MOST_NESTED), ")".repeat(MOST_NESTED));
        let filters = format!("{}*{}", "*[".repeat(MOST_NESTED), "]".repeat(MOST_NESTED));
        for text in [minuses, sum, nested, filters] {
            let path = XPath::compile(&text, Naming::Local).unwrap();
            assert!(path.find(&document).is_ok(), "{text}");
        }
    }
}
