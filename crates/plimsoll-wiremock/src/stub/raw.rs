//! The source text of every `jsonBody` of a document, so that its numbers are sent with the digits that they are written with.
//!
//! A parsed value would turn `12345678901234567890123` and `1.10` into other texts. What is sent was compared with WireMock 3.13.2.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// The `jsonBody` texts of a document, in the order of its mappings.
#[derive(Debug, Default, Deserialize)]
pub struct JsonBodies<'a> {
    #[serde(borrow, default)]
    mappings: Vec<RawMapping<'a>>,
    #[serde(borrow, default)]
    response: Option<RawResponse<'a>>,
}

#[derive(Debug, Deserialize)]
struct RawMapping<'a> {
    #[serde(borrow, default)]
    response: Option<RawResponse<'a>>,
}

#[derive(Debug, Deserialize)]
struct RawResponse<'a> {
    #[serde(borrow, rename = "jsonBody", default)]
    json_body: Option<&'a RawValue>,
}

impl<'a> JsonBodies<'a> {
    /// Finds them in strict JSON; in a document of another shape there are none.
    pub fn find(text: &'a str) -> Self {
        if !text.contains("\"jsonBody\"") {
            return Self::default();
        }
        serde_json::from_str(text).unwrap_or_default()
    }

    /// The text of the `index`th mapping of a list.
    pub fn of_item(&self, index: usize) -> Option<&'a RawValue> {
        self.mappings.get(index)?.response.as_ref()?.json_body
    }

    /// The text of a document that is one mapping.
    pub fn of_document(&self) -> Option<&'a RawValue> {
        self.response.as_ref()?.json_body
    }
}

/// The text as WireMock sends it: no white space between tokens, numbers in full, characters unescaped where they can be.
pub fn normalise(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => string_length(rest),
            '-' | '0'..='9' => rest
                .find(|c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c)))
                .unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        match first {
            '"' => out.push_str(&string(token)),
            '-' | '0'..='9' => out.push_str(&plain_number(token)),
            c if c.is_ascii_whitespace() => {}
            _ => out.push_str(token),
        }
        rest = after;
    }
    out
}

/// Bytes of the string at the start of `text`, with both quotes.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 2)
}

fn string(token: &str) -> String {
    serde_json::from_str::<Value>(token).map_or_else(|_| token.to_owned(), |text| text.to_string())
}

/// A number without an exponent and with all its digits, as Java's `BigDecimal.toPlainString` gives it.
fn plain_number(token: &str) -> String {
    /// A larger exponent is left as it is written.
    const LARGEST_EXPONENT: i32 = 400;
    let (sign, unsigned) = match token.strip_prefix('-') {
        Some(unsigned) => ("-", unsigned),
        None => ("", token),
    };
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let exponent = exponent.parse().unwrap_or(i32::MAX);
    if !(-LARGEST_EXPONENT..=LARGEST_EXPONENT).contains(&exponent) {
        return token.to_owned();
    }
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut digits = format!("{whole}{fraction}");
    let sign = if digits.bytes().all(|digit| digit == b'0') {
        ""
    } else {
        sign
    };
    let point = i64::try_from(whole.len())
        .unwrap_or(i64::MAX)
        .saturating_add(exponent.into());
    let point = match usize::try_from(point) {
        Ok(point) => {
            digits.extend(std::iter::repeat_n('0', point.saturating_sub(digits.len())));
            point
        }
        Err(_) => {
            let missing = usize::try_from(point.unsigned_abs()).unwrap_or(0);
            digits.insert_str(0, &"0".repeat(missing));
            0
        }
    };
    let (whole, fraction) = digits.split_at(point);
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        whole => whole,
    };
    let separator = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{whole}{separator}{fraction}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_sent_as_wiremock_sends_them() {
        let check = |text: &str, expected: &str| assert_eq!(normalise(text), expected, "{text}");
        check(
            r#"{ "a" : [ 1.10, true ], "b c" : " x " }"#,
            r#"{"a":[1.10,true],"b c":" x "}"#,
        );
        check(r#""\u00e9\/\\\"\n""#, r#""é/\\\"\n""#);
        check("12345678901234567890123", "12345678901234567890123");
        check("1e3", "1000");
        check("1E+2", "100");
        check("1e-3", "0.001");
        check("0.10e1", "1.0");
        check("-1.5e1", "-15");
        check("-0.0", "0.0");
        check("0e5", "0");
        check("1.5e0", "1.5");
        check("1e999999999", "1e999999999");
    }

    #[test]
    fn bodies_are_found_in_both_shapes() {
        let body = |raw: Option<&RawValue>| raw.map(|raw| raw.get().to_owned());
        let one = JsonBodies::find(r#"{"response": {"status": 1, "jsonBody": 1.0}, "x": 1}"#);
        assert_eq!(body(one.of_document()).as_deref(), Some("1.0"));
        let list = JsonBodies::find(r#"{"mappings": [{}, {"response": {"jsonBody": [1]}}]}"#);
        assert_eq!(body(list.of_item(0)), None);
        assert_eq!(body(list.of_item(1)).as_deref(), Some("[1]"));
    }
}
