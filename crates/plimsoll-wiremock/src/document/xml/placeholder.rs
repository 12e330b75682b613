//! XMLUnit's placeholders in the expected document: `${xmlunit.ignore}`, `${xmlunit.isNumber}`, `${xmlunit.isDateTime}` (with a Java date pattern or
//! without), `${xmlunit.matchesRegex(…)}`, alone in a text or in the value of an attribute.

use super::date_text;
use crate::budget::TooCostly;
use crate::java::regex::JavaRegex;

/// Delimiters of placeholders.
#[derive(Debug, Clone)]
pub struct Placeholders(JavaRegex);

/// A text of the expected document.
#[derive(Debug, Clone)]
pub enum Wanted {
    Text(String),
    Anything,
    Number,
    Regex(Box<JavaRegex>),
}

impl Placeholders {
    /// Those between these delimiters, which are regular expressions; empty ones are `${` and `}`.
    pub fn between(open: &str, close: &str) -> Result<Self, String> {
        let or = |given: &str, default: &str| match given.trim() {
            "" => default.to_owned(),
            given => given.to_owned(),
        };
        let (open, close) = (or(open, r"\$\{"), or(close, r"\}"));
        let pattern = format!(
            r"\s*(?:{open})\s*xmlunit\.(ignore|isNumber|isDateTime|matchesRegex)(?:\((.*)\))?\s*(?:{close})\s*"
        );
        Ok(Self(JavaRegex::compile(&pattern)?))
    }

    /// Expectation of a text; the error names the problem of its regular expression or date pattern.
    pub fn read(&self, text: &str) -> Result<Wanted, String> {
        let groups = self.0.groups(text).map_err(|error| error.to_string())?;
        let Some(&[keyword, argument, ..]) = groups.as_deref() else {
            return Ok(Wanted::Text(text.to_owned()));
        };
        Ok(match keyword {
            "ignore" => Wanted::Anything,
            "isNumber" => Wanted::Number,
            "isDateTime" => Wanted::Regex(Box::new(date_text::regex(argument)?)),
            _ => Wanted::Regex(Box::new(JavaRegex::searching(argument)?)),
        })
    }
}

impl Wanted {
    /// Whether a text is what is wanted; `None` is one that is not there.
    pub fn holds(&self, text: Option<&str>) -> Result<bool, TooCostly> {
        let Some(text) = text else {
            return Ok(matches!(self, Self::Anything));
        };
        let text = text.trim();
        Ok(match self {
            Self::Text(wanted) => wanted.trim() == text,
            Self::Anything => true,
            Self::Number => is_number(text),
            Self::Regex(regex) => regex.find(text)?.is_some(),
        })
    }
}

/// A number in decimal digits.
fn is_number(text: &str) -> bool {
    let (text, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    if exponent.parse::<i32>().is_err() {
        return false;
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (whole, fraction) = match unsigned.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (unsigned, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    digits(whole)
        && fraction.is_none_or(|fraction| !fraction.is_empty() && digits(fraction))
        && !(whole.is_empty() && fraction.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(wanted: &str, text: Option<&str>, expected: bool) {
        let placeholders = Placeholders::between("", "").unwrap();
        let wanted = placeholders.read(wanted).unwrap();
        assert_eq!(wanted.holds(text), Ok(expected), "{wanted:?} on {text:?}");
    }

    #[test]
    fn placeholders_stand_for_texts() {
        check("a", Some(" a "), true);
        check("a", None, false);
        check(" ${xmlunit.ignore} ", Some("x"), true);
        check("${xmlunit.ignore}", None, true);
        check("a${xmlunit.ignore}", Some("ax"), false);
        for (text, expected) in [
            ("1", true),
            ("-1.5", true),
            (".5", true),
            ("1.", false),
            ("x", false),
            ("", false),
        ] {
            check("${xmlunit.isNumber}", Some(text), expected);
        }
        check("${xmlunit.isDateTime}", Some("2026-11-22T10:00:00Z"), true);
        check("${xmlunit.isDateTime}", Some("soon"), false);
        check(
            "${xmlunit.isDateTime(dd.MM.yyyy)}",
            Some("22.11.2026"),
            true,
        );
        check(
            "${xmlunit.isDateTime(dd.MM.yyyy)}",
            Some("2026-11-22"),
            false,
        );
        check("${xmlunit.matchesRegex(a.c)}", Some("abc"), true);
        check("${xmlunit.matchesRegex(a.c)}", Some("abcd"), true);
        check("${xmlunit.matchesRegex(a.c)}", Some("ac"), false);
    }

    #[test]
    fn delimiters_may_be_others() {
        let placeholders = Placeholders::between(r"\[\[", r"\]\]").unwrap();
        let wanted = placeholders.read("[[xmlunit.ignore]]").unwrap();
        assert_eq!(wanted.holds(Some("x")), Ok(true));
        assert!(Placeholders::between("(", "").is_err());
        assert!(placeholders.read("[[xmlunit.isDateTime(QQ)]]").is_err());
    }
}
