//! Text with substitutions: `http://${upstream.host}:${upstream.port}/`.
//!
//! This is the syntax only; what a reference stands for is known when components run, and resolved through a function then.
//! `${` begins a substitution and `$$` writes `$`; any other `$`, such as that of `$uri` in an nginx configuration, stays as it is.

mod reference;

pub use reference::{Field, Reference};

use super::secret::Secret;

/// Text with substitutions, parsed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Template {
    parts: Vec<Part>,
}

/// A piece of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Stands for itself.
    Literal(String),
    /// Stands for something known when components run.
    Reference(Reference),
}

/// What a reference stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// Text that may be shown and recorded.
    Plain(String),
    /// Text that may not.
    Secret(Secret),
}

/// A substitution that is not one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateError {
    /// Where its `${` is, in bytes from the start of the text.
    pub offset: usize,
    /// What is wrong and what to write instead.
    pub message: String,
}

/// What was found in a text.
#[derive(Debug, Default)]
pub(super) struct Scan {
    pub template: Template,
    /// Where each reference of the template is, in bytes from the start of the text.
    pub offsets: Vec<usize>,
    /// What is not a substitution although it looks like one.
    pub errors: Vec<TemplateError>,
}

impl Template {
    /// Parses `text`.
    ///
    /// # Errors
    /// Every substitution that is unclosed or of an unknown form.
    pub fn parse(text: &str) -> Result<Self, Vec<TemplateError>> {
        let scan = Self::scan(text);
        if scan.errors.is_empty() {
            Ok(scan.template)
        } else {
            Err(scan.errors)
        }
    }

    /// Parses `text` as far as it can be; what is refused is left out of the template.
    pub(super) fn scan(text: &str) -> Scan {
        let mut scan = Scan::default();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(start) = rest.find('$') {
            let offset = text.len() - rest.len() + start;
            let after_dollar = &rest[start + 1..];
            literal.push_str(&rest[..start]);
            let Some(body) = after_dollar.strip_prefix('{') else {
                literal.push('$');
                rest = after_dollar.strip_prefix('$').unwrap_or(after_dollar);
                continue;
            };
            let Some((inner, after)) = body.split_once('}') else {
                let message =
                    "`${` without `}`: close it, or write `$${` for a literal `${`".to_owned();
                scan.errors.push(TemplateError { offset, message });
                rest = "";
                break;
            };
            match Reference::parse(inner) {
                Ok(reference) => {
                    scan.template.push_literal(std::mem::take(&mut literal));
                    scan.template.parts.push(Part::Reference(reference));
                    scan.offsets.push(offset);
                }
                Err(message) => scan.errors.push(TemplateError { offset, message }),
            }
            rest = after;
        }
        literal.push_str(rest);
        scan.template.push_literal(literal);
        scan
    }

    fn push_literal(&mut self, literal: String) {
        if !literal.is_empty() {
            self.parts.push(Part::Literal(literal));
        }
    }

    /// A template that is `text` itself, substitutions or not.
    #[must_use]
    pub fn literal(text: impl Into<String>) -> Self {
        Self {
            parts: vec![Part::Literal(text.into())],
        }
    }

    /// The pieces in order.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The references in order.
    pub fn references(&self) -> impl Iterator<Item = &Reference> {
        self.parts.iter().filter_map(|part| match part {
            Part::Reference(reference) => Some(reference),
            Part::Literal(_) => None,
        })
    }

    /// Puts values in the places of references. The result is a secret when one of the values is.
    ///
    /// # Errors
    /// The first error of `lookup`.
    pub fn resolve<E>(
        &self,
        mut lookup: impl FnMut(&Reference) -> Result<Value, E>,
    ) -> Result<Value, E> {
        let mut text = String::new();
        let mut secret = false;
        for part in &self.parts {
            match part {
                Part::Literal(literal) => text.push_str(literal),
                Part::Reference(reference) => {
                    let value = lookup(reference)?;
                    secret |= matches!(value, Value::Secret(_));
                    text.push_str(value.expose());
                }
            }
        }
        Ok(if secret {
            Value::Secret(Secret::new(text))
        } else {
            Value::Plain(text)
        })
    }

    /// The template for records and people: references as written, nothing resolved. It parses back to the same template.
    #[must_use]
    pub fn source(&self) -> String {
        let shown = self.parts.iter().map(|part| match part {
            Part::Literal(text) => text.replace('$', "$$"),
            Part::Reference(reference) => reference.to_string(),
        });
        shown.collect()
    }
}

impl Value {
    /// The text itself: for the process, file or request that it is meant for, and nothing else.
    #[must_use]
    pub fn expose(&self) -> &str {
        match self {
            Self::Plain(text) => text,
            Self::Secret(secret) => secret.expose(),
        }
    }

    /// The text, or for a secret its hash: what records hold.
    #[must_use]
    pub fn record(&self) -> String {
        match self {
            Self::Plain(text) => text.clone(),
            Self::Secret(secret) => secret.record(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expected: &str) {
        let shown = match Template::parse(text) {
            Ok(template) => {
                let shown = template.parts().iter().map(|part| match part {
                    Part::Literal(text) => format!("{text:?}"),
                    Part::Reference(reference) => reference.to_string(),
                });
                shown.collect::<Vec<_>>().join(" ")
            }
            Err(errors) => {
                let shown = errors
                    .iter()
                    .map(|error| format!("{}: {}", error.offset, error.message));
                shown.collect::<Vec<_>>().join("\n")
            }
        };
        assert_eq!(
            shown.split(": write `${component").next().unwrap(),
            expected,
            "{text}"
        );
    }

    #[test]
    fn every_form_parses() {
        check("plain $uri $$ $", "\"plain $uri $ $\"");
        check("a${up.url}b", "\"a\" ${up.url} \"b\"");
        check("${up/admin.port}${up.host}", "${up/admin.port} ${up.host}");
        check(
            "${self.port} ${self/admin.url} ${self.dir}",
            "${self.port} \" \" ${self/admin.url} \" \" ${self.dir}",
        );
        check("${env:HOME}${file:a/b.key}", "${env:HOME} ${file:a/b.key}");
        check(
            "${secret.key}${secret.key.sha256}",
            "${secret.key} ${secret.key.sha256}",
        );
        check("$${x} ${up.url}", "\"${x} \" ${up.url}");
        check("$$${up.url}", "\"$\" ${up.url}");
        check("", "");
    }

    #[test]
    fn unknown_forms_are_refused_together() {
        check(
            "x${oops",
            "1: `${` without `}`: close it, or write `$${` for a literal `${`",
        );
        for bad in [
            "${}",
            "${x}",
            "${up.urls}",
            "${env:}",
            "${file:}",
            "${secret.}",
            "${self.x}",
            "${a b.url}",
        ] {
            check(bad, &format!("0: `{bad}` is not a known substitution"));
        }
        assert_eq!(Template::parse("${a} ${b} ${up.url}").unwrap_err().len(), 2);
    }

    #[test]
    fn one_secret_makes_the_whole_text_secret() {
        let lookup = |reference: &Reference| match reference {
            Reference::Secret(_) => Ok::<_, ()>(Value::Secret(Secret::new("s3cret"))),
            _ => Ok(Value::Plain("8080".to_owned())),
        };
        let plain = Template::parse("port ${self.port}")
            .unwrap()
            .resolve(lookup)
            .unwrap();
        assert_eq!(plain.record(), "port 8080");
        let secret = Template::parse("Bearer ${secret.key}")
            .unwrap()
            .resolve(lookup)
            .unwrap();
        assert_eq!(secret.expose(), "Bearer s3cret");
        assert!(!format!("{secret:?}{}", secret.record()).contains("s3cret"));
    }

    proptest! {
        #[test]
        fn any_text_parses_or_is_refused(text in "[a${}.:/ ]{0,30}|\\PC{0,30}") {
            if let Ok(template) = Template::parse(&text) {
                prop_assert_eq!(Template::parse(&template.source()), Ok(template));
            }
        }
    }
}
