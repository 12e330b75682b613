//! A request pattern's `method`: one method, `ANY`, `{"oneOf": […]}` or `{"noneOf": […]}`. Methods are compared exactly.

use crate::reader::problem::StubProblem;
use crate::reader::{Node, Problems};

/// Which methods match.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum MethodPattern {
    #[default]
    Any,
    OneOf(Vec<String>),
    NoneOf(Vec<String>),
}

impl MethodPattern {
    pub fn read(node: &Node<'_>, problems: &mut Problems) -> Option<Self> {
        if node.value.is_object() {
            return Self::read_lists(node, problems);
        }
        match node.text(problems)? {
            method if method == "ANY" => Some(Self::Any),
            method if method == "GET_OR_HEAD" => {
                Some(Self::OneOf(vec!["GET".to_owned(), "HEAD".to_owned()]))
            }
            method => Some(Self::OneOf(vec![method])),
        }
    }

    fn read_lists(node: &Node<'_>, problems: &mut Problems) -> Option<Self> {
        let before = problems.len();
        let mut object = node.object(problems)?;
        let mut list = |name: &'static str, problems: &mut Problems| {
            let methods = object.get(name)?;
            let items = methods.items(problems);
            Some(
                items
                    .iter()
                    .filter_map(|item| item.text(problems))
                    .collect(),
            )
        };
        let (one_of, none_of) = (list("oneOf", problems), list("noneOf", problems));
        object.finish(&[], problems);
        match (one_of, none_of) {
            (Some(methods), None) => Some(Self::OneOf(methods)),
            (None, Some(methods)) => Some(Self::NoneOf(methods)),
            _ if problems.len() > before => None,
            _ => {
                let message = "needs either \"oneOf\" or \"noneOf\"";
                problems.push(StubProblem::invalid(&node.pointer, message));
                None
            }
        }
    }

    /// Whether `method` matches.
    pub fn holds(&self, method: &str) -> bool {
        let listed = |methods: &[String]| methods.iter().any(|own| own == method);
        match self {
            Self::Any => true,
            Self::OneOf(methods) => listed(methods),
            Self::NoneOf(methods) => !listed(methods),
        }
    }

    /// Whether only HEAD requests match.
    pub fn is_head_only(&self) -> bool {
        *self == Self::OneOf(vec!["HEAD".to_owned()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_match_exactly() {
        let check = |pattern: &str, method: &str, expected: bool| {
            let value = serde_json::from_str(pattern).unwrap();
            let mut problems = Problems::new();
            let pattern = MethodPattern::read(&Node::root(&value), &mut problems);
            assert_eq!(problems, []);
            assert_eq!(pattern.unwrap().holds(method), expected, "{value} {method}");
        };
        check(r#""GET""#, "GET", true);
        check(r#""GET""#, "get", false);
        check(r#""ANY""#, "QUERY", true);
        check(r#""GET_OR_HEAD""#, "GET", true);
        check(r#""GET_OR_HEAD""#, "HEAD", true);
        check(r#""GET_OR_HEAD""#, "POST", false);
        check(r#"{"oneOf": ["GET", "PUT"]}"#, "PUT", true);
        check(r#"{"oneOf": ["GET", "PUT"]}"#, "POST", false);
        check(r#"{"noneOf": ["GET", "PUT"]}"#, "POST", true);
        check(r#"{"noneOf": ["GET", "PUT"]}"#, "PUT", false);
    }
}
