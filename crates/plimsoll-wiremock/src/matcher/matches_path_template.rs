//! `{"matchesPathTemplate": "/things/{id}"}`: the value is a path of this shape.

use super::Matcher;
use crate::budget::TooCostly;
use crate::matcher::path_template::PathTemplate;
use crate::reader::{Node, Object, Problems};
use crate::request::content::Content;

/// The template.
#[derive(Debug, Clone)]
pub struct MatchesPathTemplate(PathTemplate);

pub(super) fn read(
    operand: &Node<'_>,
    _: &mut Object<'_>,
    problems: &mut Problems,
) -> Option<Matcher> {
    let template = PathTemplate::read(operand, problems)?;
    Some(Matcher::MatchesPathTemplate(MatchesPathTemplate(template)))
}

impl MatchesPathTemplate {
    pub(super) fn holds(&self, value: &Content<'_>) -> Result<bool, TooCostly> {
        self.0.matches(&value.text())
    }
}

#[cfg(test)]
mod tests {
    use crate::matcher::tests::check;

    #[test]
    fn paths_have_the_shape() {
        check(r#"{"matchesPathTemplate": "/a/{b}"}"#, Some("/a/1"), true);
        check(
            r#"{"matchesPathTemplate": "/a/{b}"}"#,
            Some("/a/1/2"),
            false,
        );
    }
}
