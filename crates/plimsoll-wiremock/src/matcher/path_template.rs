//! Path templates as WireMock has them: `{name}` is one segment or a part of it, `**` anything, the rest is itself.

use crate::budget::TooCostly;
use crate::java::regex::JavaRegex;
use crate::reader::problem::StubProblem;
use crate::reader::{Node, Problems};

/// A template, compiled.
#[derive(Debug, Clone)]
pub struct PathTemplate {
    regex: JavaRegex,
    /// The names of its variables, in their order; `**` is named after its place among its like.
    names: Vec<String>,
}

impl PathTemplate {
    /// Compiles the template that a property holds.
    pub fn read(node: &Node<'_>, problems: &mut Problems) -> Option<Self> {
        let text = node.string(problems)?;
        match Self::compile(&text) {
            Ok(template) => Some(template),
            Err(message) => {
                problems.push(StubProblem::invalid(&node.pointer, message));
                None
            }
        }
    }

    fn compile(text: &str) -> Result<Self, String> {
        let (mut pattern, mut names) = (String::new(), Vec::new());
        let mut rest = text;
        let mut stars = 0;
        while let Some(at) = next_variable(rest) {
            quote(&mut pattern, &rest[..at]);
            rest = &rest[at..];
            if let Some(after) = rest.strip_prefix("**") {
                pattern.push_str("(.*?)");
                names.push(stars.to_string());
                stars += 1;
                rest = after;
            } else {
                let end = rest.find('}').unwrap_or(rest.len() - 1);
                pattern.push_str("([^/]+)");
                names.push(rest[1..end].replace(['.', ';', '*'], ""));
                rest = &rest[end + 1..];
            }
        }
        quote(&mut pattern, rest);
        let regex = JavaRegex::compile(&pattern)?;
        Ok(Self { regex, names })
    }

    /// Beginning of every path of this shape.
    pub fn prefix(&self) -> &str {
        self.regex.prefix()
    }

    /// The names of the variables.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether a path has this shape.
    pub fn matches(&self, path: &str) -> Result<bool, TooCostly> {
        self.regex.matches(path)
    }

    /// The values of the variables in the order of their names, if the path has this shape.
    pub fn values<'a>(&self, path: &'a str) -> Result<Option<Vec<&'a str>>, TooCostly> {
        self.regex.groups(path)
    }
}

/// Where the next `{name}` or `**` begins.
fn next_variable(text: &str) -> Option<usize> {
    let brace = text
        .find('{')
        .filter(|at| text[*at..].find('}').is_some_and(|end| end > 1));
    match (brace, text.find("**")) {
        (Some(brace), Some(stars)) => Some(brace.min(stars)),
        (brace, stars) => brace.or(stars),
    }
}

/// Adds text that stands for itself.
fn quote(pattern: &mut String, text: &str) {
    for c in text.chars() {
        if c.is_ascii_punctuation() && !"/-_".contains(c) {
            pattern.push('\\');
        }
        pattern.push(c);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(template: &str, path: &str, expected: Option<&[(&str, &str)]>) {
        let template = PathTemplate::compile(template).unwrap();
        let values = template.values(path).unwrap();
        assert_eq!(template.matches(path), Ok(values.is_some()), "{path}");
        let names = template.names().iter().map(String::as_str);
        let actual = values.map(|values| names.zip(values).collect::<Vec<_>>());
        assert_eq!(actual.as_deref(), expected, "{path}");
    }

    #[test]
    fn variables_have_the_values_of_the_path() {
        check("/a/{b}/c/{d}", "/a/1/c/2", Some(&[("b", "1"), ("d", "2")]));
        check("/a/{b}", "/a/1/2", None);
        check("/a/{b}", "/a/", None);
        check("/a.c/{b}", "/abc/1", None);
        check("/**/x", "/a/b/x", Some(&[("0", "a/b")]));
        check("/a/{}", "/a/{}", Some(&[]));
        check("/a/{b}.json", "/a/1.json", Some(&[("b", "1")]));
    }
}
