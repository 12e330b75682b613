//! Text of a rule: its body as it is, a body with places for status and message, or a message in Tyk's own template.
//!
//! Source: `html/template` and `text/template` of Go 1.26 for what an escape is; Tyk's `templates/error.json` and `error.xml`.

use super::media::Media;
use std::fmt::Write;

/// Text of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Text {
    /// Nothing: what is said without the rule.
    Usual,
    Verbatim(String),
    Template {
        pieces: Vec<Piece>,
        message: String,
    },
    /// In Tyk's own template.
    Message(String),
}

/// A part of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(String),
    StatusCode,
    Message,
}

impl Text {
    /// Text of a rule with this body and this message.
    ///
    /// # Errors
    /// The part of the body that is not supported.
    pub(crate) fn new(body: &str, message: &str) -> Result<Self, String> {
        match (body, message) {
            ("", "") => Ok(Self::Usual),
            ("", message) => Ok(Self::Message(message.to_owned())),
            (body, message) if body.contains("{{.") => Ok(Self::Template {
                pieces: pieces(body)?,
                message: message.to_owned(),
            }),
            (body, _) => Ok(Self::Verbatim(body.to_owned())),
        }
    }

    /// The message, where it stands alone.
    pub(super) fn message(&self) -> Option<&str> {
        match self {
            Self::Message(message) => Some(message),
            Self::Usual | Self::Verbatim(_) | Self::Template { .. } => None,
        }
    }

    /// The body of the gateway's own answer, unless it is that of Tyk's template.
    pub(super) fn own(&self, status: u16, media: Media) -> Option<String> {
        match self {
            Self::Verbatim(body) => Some(body.clone()),
            Self::Template { pieces, message } => {
                let message = escape(message, media.of_body());
                let filled = pieces.iter().map(|piece| match piece {
                    Piece::Text(text) => text.clone(),
                    Piece::StatusCode => status.to_string(),
                    Piece::Message => message.clone(),
                });
                Some(filled.collect())
            }
            Self::Usual | Self::Message(_) => None,
        }
    }

    /// The body in the place of an upstream's, if there is to be another.
    pub(super) fn upstreams(&self, status: u16, media: Media) -> Option<String> {
        let media = media.of_body();
        match self.message() {
            Some(message) => Some(standard(&escape(message, media), media)),
            None => self.own(status, media),
        }
    }
}

/// Tyk's own template around a message that is escaped.
pub(super) fn standard(message: &str, media: Media) -> String {
    match media.is_xml() {
        true => {
            format!("<?xml version = \"1.0\" encoding = \"UTF-8\"?>\n<error>{message}</error>\n")
        }
        false => format!("{{\n    \"error\": \"{message}\"\n}}"),
    }
}

/// A template in its pieces. `html/template` escapes by where an action stands in HTML, so markup is taken only where that makes no
/// difference: in tags without attributes.
fn pieces(body: &str) -> Result<Vec<Piece>, String> {
    let (mut pieces, mut rest) = (Vec::new(), body);
    while let Some((text, behind)) = rest.split_once("{{") {
        let (action, behind) = behind
            .split_once("}}")
            .ok_or("an action is not closed: write `}}` behind it")?;
        pieces.push(Piece::Text(text.to_owned()));
        pieces.push(match action.trim_matches(' ') {
            ".StatusCode" => Piece::StatusCode,
            ".Message" => Piece::Message,
            action => {
                return Err(format!(
                    "`{{{{{action}}}}}` is not supported: write the text itself, `{{{{.StatusCode}}}}` or `{{{{.Message}}}}`"
                ));
            }
        });
        rest = behind;
    }
    pieces.push(Piece::Text(rest.to_owned()));
    let is_plain = |piece: &Piece| match piece {
        Piece::Text(text) => text.split('<').skip(1).all(is_plain_tag),
        Piece::StatusCode | Piece::Message => true,
    };
    match pieces.iter().all(is_plain) {
        true => Ok(pieces),
        false => Err(
            "in a body with `{{.` tags without attributes alone are supported, and no comments: write the status and the message themselves"
                .to_owned(),
        ),
    }
}

/// Whether what follows `<` is a tag with nothing but its name, and none that is read otherwise inside.
fn is_plain_tag(behind: &str) -> bool {
    const READ_OTHERWISE: [&str; 4] = ["script", "style", "textarea", "title"];
    let Some((name, _)) = behind.split_once('>') else {
        return false;
    };
    let name = name.strip_prefix('/').unwrap_or(name);
    name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && !READ_OTHERWISE.contains(&&*name.to_ascii_lowercase())
}

/// A message for a template, as Tyk escapes it where a rule brings the template, and for upstreams' errors.
fn escape(message: &str, media: Media) -> String {
    match media.is_xml() {
        true => escape_html(message),
        false => escape_script(message),
    }
}

/// A message for Tyk's own template.
pub(super) fn escape_own(message: &str, media: Media) -> String {
    if media.is_xml() {
        return escape_html(message);
    }
    let mut out = String::new();
    for letter in message.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            control if control < ' ' => unicode(&mut out, control, Digits::Small),
            other => out.push(other),
        }
    }
    out
}

/// `html.EscapeString`.
fn escape_html(message: &str) -> String {
    let mut out = String::new();
    for letter in message.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '\'' => out.push_str("&#39;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&#34;"),
            other => out.push(other),
        }
    }
    out
}

/// `template.JSEscapeString`.
fn escape_script(message: &str) -> String {
    let mut out = String::new();
    for letter in message.chars() {
        match letter {
            '\\' | '\'' | '"' => out.extend(['\\', letter]),
            '<' | '>' | '&' | '=' => unicode(&mut out, letter, Digits::Large),
            control if control < ' ' => unicode(&mut out, control, Digits::Large),
            ascii if ascii.is_ascii() => out.push(ascii),
            hidden if is_hidden(hidden) => {
                unicode(&mut out, hidden, Digits::Large);
            }
            other => out.push(other),
        }
    }
    out
}

/// Whether a letter outside of ASCII is written by its number.
fn is_hidden(letter: char) -> bool {
    let is_format = matches!(
        letter,
        '\u{ad}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
    );
    is_format || letter.is_control() || letter.is_whitespace()
}

enum Digits {
    Small,
    Large,
}

fn unicode(out: &mut String, letter: char, digits: Digits) {
    let code = u32::from(letter);
    let written = match digits {
        Digits::Small => write!(out, "\\u{code:04x}"),
        Digits::Large => write!(out, "\\u{code:04X}"),
    };
    written.expect("invariant: a string takes what is written");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_escaped_as_gos_templates_do() {
        let check = |own: bool, media: Media, expected: &str| {
            let message = "a \"b\"\n<c> & 'd'=\\ é\u{1}\u{200b}";
            let escaped = match own {
                true => escape_own(message, media),
                false => escape(message, media),
            };
            assert_eq!(escaped, expected, "{own} {media:?}");
        };
        check(
            true,
            Media::Json,
            "a \\\"b\\\"\\n<c> & 'd'=\\\\ é\\u0001\u{200b}",
        );
        check(
            false,
            Media::Json,
            r#"a \"b\"\u000A\u003Cc\u003E \u0026 \'d\'\u003D\\ é\u0001\u200B"#,
        );
        let xml = "a &#34;b&#34;\n&lt;c&gt; &amp; &#39;d&#39;=\\ é\u{1}\u{200b}";
        check(true, Media::SoapXml, xml);
        check(false, Media::TextXml, xml);
    }

    #[test]
    fn a_body_is_a_template_where_tyk_takes_it_for_one() {
        let own = |body: &str, message: &str| {
            Text::new(body, message).map(|text| text.own(418, Media::Json))
        };
        let says = |body: &str, message: &str, expected: &str| {
            assert_eq!(own(body, message), Ok(Some(expected.to_owned())));
        };
        says("{{ .Message }}", "x", "{{ .Message }}");
        says("{{.StatusCode}}: {{ .Message }}}", "a\"b", r#"418: a\"b}"#);
        says("<p>{{.Message}}</p>", "", "<p></p>");
        assert_eq!(own("", "x"), Ok(None));
        for body in [
            "{{.Other}}",
            "{{.Message",
            "{{if .Message}}{{.Message}}{{end}}",
            "{{- .Message}} {{.Message}}",
            "{{.Message | html}}",
            "<p class='{{.Message}}'>",
            "<title>{{.Message}}</title>",
            "<!-- x -->{{.Message}}",
            "1 < 2 {{.Message}}",
        ] {
            assert!(own(body, "").is_err(), "{body}");
        }
    }
}
