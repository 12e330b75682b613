//! Text with substitutions: `http://${upstream.host}:${upstream.port}/`.
//!
//! This is the syntax only; what a reference stands for is known when components run, and resolved through a function then.
//! Values that a virtual user puts in itself, iteration by iteration, go on to the generator as they are: names without a dot or a colon, and
//! calls of functions. So no text means both.
//! `${` begins a substitution and `$$` writes `$`; any other `$`, such as that of `$uri` in an nginx configuration, stays as it is.

mod reference;

pub use reference::{Field, Reference};

use plimsoll_load::plan::{Expression, Piece, Text, text};

use super::secret::Secret;

/// Text with substitutions, parsed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Template {
    parts: Vec<TemplatePart>,
}

/// A piece of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TemplatePart {
    /// Stands for itself.
    Literal(String),
    /// Stands for something known when components run.
    Reference(Reference),
    /// Stands for what it gives a virtual user in an iteration.
    Value(Expression<Reference>),
}

/// Whether virtual users send the text, and may put values into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Values {
    /// They do.
    Allowed,
    /// It is a component's.
    Refused,
}

/// Value of a reference.
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
    /// The problem, and what to write instead.
    pub message: String,
}

/// Result of scanning a text.
#[derive(Debug, Default)]
pub(super) struct Scan {
    pub template: Template,
    /// Where each reference of the template is, in bytes from the start of the text.
    pub offsets: Vec<usize>,
    /// Pieces that look like substitutions and are none.
    pub errors: Vec<TemplateError>,
}

impl Template {
    /// Parses `text`.
    ///
    /// # Errors
    /// Every substitution that is unclosed or of an unknown form.
    pub fn parse(text: &str) -> Result<Self, Vec<TemplateError>> {
        let scan = Self::scan(text, Values::Refused);
        if scan.errors.is_empty() {
            Ok(scan.template)
        } else {
            Err(scan.errors)
        }
    }

    /// Parses `text` as far as it can be; what is refused is left out of the template.
    pub(super) fn scan(text: &str, values: Values) -> Scan {
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
            let Some(end) = text::closing_brace(body) else {
                let message =
                    "`${` without `}`: close it, or write `$${` for a literal `${`".to_owned();
                scan.errors.push(TemplateError { offset, message });
                rest = "";
                break;
            };
            let (inner, after) = (&body[..end], &body[end + 1..]);
            match parse(inner, values) {
                Ok(part) => {
                    scan.template.push_literal(std::mem::take(&mut literal));
                    let references = Template {
                        parts: vec![part.clone()],
                    };
                    let count = references.references().len();
                    scan.offsets.extend(std::iter::repeat_n(offset, count));
                    scan.template.parts.push(part);
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
            self.parts.push(TemplatePart::Literal(literal));
        }
    }

    /// A template that is `text` itself, substitutions or not.
    #[must_use]
    pub fn literal(text: impl Into<String>) -> Self {
        Self {
            parts: vec![TemplatePart::Literal(text.into())],
        }
    }

    /// The pieces in order.
    #[must_use]
    pub fn parts(&self) -> &[TemplatePart] {
        &self.parts
    }

    /// The references in order.
    pub fn references(&self) -> Vec<&Reference> {
        let mut found = Vec::new();
        for part in &self.parts {
            match part {
                TemplatePart::Literal(_) => {}
                TemplatePart::Reference(reference) => found.push(reference),
                TemplatePart::Value(expression) => {
                    expression.references(&mut |found_here| found.push(found_here))
                }
            }
        }
        found
    }

    /// Several templates as one.
    pub(super) fn concat(templates: impl IntoIterator<Item = Self>) -> Self {
        let parts = templates.into_iter().flat_map(|template| template.parts);
        Self {
            parts: parts.collect(),
        }
    }

    /// A template that is one value of a virtual user.
    pub(super) fn value(expression: Expression<Reference>) -> Self {
        Self {
            parts: vec![TemplatePart::Value(expression)],
        }
    }

    /// Whether it holds values of virtual users.
    pub(super) fn has_values(&self) -> bool {
        self.parts
            .iter()
            .any(|part| matches!(part, TemplatePart::Value(_)))
    }

    /// The template with everything encoded: what is written out by `literal`, everything else by the virtual users' function of
    /// that name.
    pub(super) fn encoded(self, literal: impl Fn(&str) -> String, function: &str) -> Self {
        let call = |argument| {
            TemplatePart::Value(Expression::Call {
                function: function.to_owned(),
                arguments: vec![argument],
            })
        };
        let parts = self.parts.into_iter().map(|part| match part {
            TemplatePart::Literal(text) => TemplatePart::Literal(literal(&text)),
            TemplatePart::Reference(reference) => call(Expression::Reference(reference)),
            TemplatePart::Value(expression) => call(expression),
        });
        Self {
            parts: parts.collect(),
        }
    }

    /// The text for the generator: values of virtual users stay, everything else is resolved.
    ///
    /// # Errors
    /// The first error of `lookup`.
    pub fn text<E>(
        &self,
        mut lookup: impl FnMut(&Reference) -> Result<Value, E>,
    ) -> Result<Text, E> {
        let mut pieces: Vec<Piece> = Vec::new();
        let mut resolve =
            |reference: &Reference| lookup(reference).map(|value| value.expose().to_owned());
        for part in &self.parts {
            let literal = match part {
                TemplatePart::Literal(text) => text.clone(),
                TemplatePart::Reference(reference) => resolve(reference)?,
                TemplatePart::Value(expression) => {
                    pieces.push(Piece::Value(expression.resolve(&mut resolve)?));
                    continue;
                }
            };
            match pieces.last_mut() {
                Some(Piece::Literal(before)) => before.push_str(&literal),
                _ => pieces.push(Piece::Literal(literal)),
            }
        }
        Ok(Text(pieces))
    }

    /// Puts values in the places of references. The result is a secret when one of the values is. Of components' texts only: values of
    /// virtual users are left out.
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
                TemplatePart::Literal(literal) => text.push_str(literal),
                TemplatePart::Value(_) => {}
                TemplatePart::Reference(reference) => {
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
            TemplatePart::Literal(text) => text.replace('$', "$$"),
            TemplatePart::Reference(reference) => reference.to_string(),
            TemplatePart::Value(expression) => format!("${{{}}}", written(expression)),
        });
        shown.collect()
    }
}

/// Parses the text between the braces.
fn parse(inner: &str, values: Values) -> Result<TemplatePart, String> {
    let trimmed = inner.trim();
    let is_file = trimmed.starts_with("env:") || trimmed.starts_with("file:");
    let is_value = !is_file
        && !trimmed.is_empty()
        && (trimmed.contains(['(', '\'', ',']) || text::is_value_name(trimmed));
    if !is_value {
        return Reference::parse(inner).map(TemplatePart::Reference);
    }
    if values == Values::Refused {
        return Err(format!(
            "`${{{inner}}}` is a value of a virtual user, and only what they send can hold one: write `$${{` for a literal `${{`"
        ));
    }
    Expression::parse(inner, Reference::parse)
        .map(TemplatePart::Value)
        .map_err(|message| format!("`${{{inner}}}`: {message}"))
}

/// An expression as it is written.
fn written(expression: &Expression<Reference>) -> String {
    let list = |expressions: &[Expression<Reference>]| {
        let shown: Vec<String> = expressions.iter().map(written).collect();
        shown.join(", ")
    };
    match expression {
        Expression::Text(text) => {
            let mut quoted = String::from("'");
            for character in text.chars() {
                match character {
                    '\n' => quoted.push_str("\\n"),
                    '\r' => quoted.push_str("\\r"),
                    '\t' => quoted.push_str("\\t"),
                    '\'' | '\\' => quoted.extend(['\\', character]),
                    other => quoted.push(other),
                }
            }
            quoted + "'"
        }
        Expression::Reference(reference) => {
            let shown = reference.to_string();
            shown[2..shown.len() - 1].to_owned()
        }
        Expression::Variable(name) => name.clone(),
        Expression::Join(parts) => format!("join({})", list(parts)),
        Expression::Call {
            function,
            arguments,
        } => format!("{function}({})", list(arguments)),
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
                    TemplatePart::Literal(text) => format!("{text:?}"),
                    TemplatePart::Reference(reference) => reference.to_string(),
                    TemplatePart::Value(expression) => format!("<{}>", written(expression)),
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
            "${self.port} ${self/admin.url} ${self.dir} ${experiment.dir}",
            "${self.port} \" \" ${self/admin.url} \" \" ${self.dir} \" \" ${experiment.dir}",
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
    fn values_are_for_what_virtual_users_send() {
        let check = |text: &str, expected: &str| {
            let scan = Template::scan(text, Values::Allowed);
            assert_eq!(scan.errors, []);
            let count = scan.template.references().len();
            assert_eq!(count, scan.offsets.len());
            assert_eq!(scan.template.source(), expected);
        };
        check(
            "/a/${id}?x=$$",
            "/a/${id}?x=$$$$".replace("$$$$", "$$").as_str(),
        );
        check(
            "${hmac(sha256, secret.key, join('}', body))}",
            "${hmac(sha256, secret.key, join('}', body))}",
        );
        check("${up.port}${ uuid() }", "${up.port}${uuid()}");
        let refused = Template::parse("${id}").unwrap_err();
        insta::assert_snapshot!(refused[0].message, @"`${id}` is a value of a virtual user, and only what they send can hold one: write `$${` for a literal `${`");
        let broken = Template::scan("${f(}", Values::Allowed).errors;
        insta::assert_snapshot!(broken[0].message, @"`${f(}`: a value is missing: write a name, a call such as `uuid()` or a text in single quotes");
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
