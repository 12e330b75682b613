//! Answers of the gateway itself: a status, a reason for people, and a JSON body that names both.
//!
//! Responses of an upstream are relayed by [`crate::exchange`] and never pass through here.

use crate::answering::error_kind::ErrorKind;
use plimsoll_http::encode;
use std::borrow::Cow;

/// A complete answer that needs no upstream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    status: u16,
    message: String,
    fields: Vec<(Cow<'static, str>, String)>,
    cause: Option<ErrorKind>,
    /// Content type and text, where it is not the JSON body that names status and message.
    body: Option<Box<(Cow<'static, str>, String)>>,
}

/// How an answer is put on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Delivery {
    /// The request was HEAD: the same head, no body.
    pub(crate) to_head: bool,
    /// The connection ends after this answer.
    pub(crate) close: bool,
    /// The client speaks HTTP/1.0: it must be told when the connection is kept.
    pub(crate) http10: bool,
}

impl Answer {
    /// An answer of `status` whose body says `message`.
    pub(crate) fn new(status: u16, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
            fields: Vec::new(),
            cause: None,
            body: None,
        }
    }

    /// Says why, so that [`crate::answering::error_format`] can put it differently.
    pub(crate) fn because(mut self, cause: ErrorKind) -> Self {
        self.cause = Some(cause);
        self
    }

    /// Adds a header field.
    pub(crate) fn with_field(mut self, name: impl Into<Cow<'static, str>>, value: String) -> Self {
        self.fields.push((name.into(), value));
        self
    }

    /// Sets a header field: others of that name are gone.
    pub(crate) fn with_only(mut self, name: &str, value: &str) -> Self {
        self.fields
            .retain(|(own, _)| !own.eq_ignore_ascii_case(name));
        self.with_field(name.to_owned(), value.to_owned())
    }

    /// Without the fields that were added.
    pub(crate) fn without_fields(mut self) -> Self {
        self.fields.clear();
        self
    }

    /// With another status.
    pub(crate) fn with_status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// With this body instead of the one that names status and message.
    pub(crate) fn with_body(
        mut self,
        content_type: impl Into<Cow<'static, str>>,
        body: String,
    ) -> Self {
        self.body = Some(Box::new((content_type.into(), body)));
        self
    }

    /// The status code.
    pub(crate) fn status(&self) -> u16 {
        self.status
    }

    /// The reason, for people.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// The reason, if it is one of those that other gateways have words for.
    pub(crate) fn cause(&self) -> Option<ErrorKind> {
        self.cause
    }

    /// Whether it has a body of its own.
    pub(crate) fn has_body(&self) -> bool {
        self.body.is_some()
    }

    /// The additional fields.
    #[cfg(test)]
    pub(crate) fn fields(&self) -> Vec<(&str, &str)> {
        let fields = self.fields.iter();
        fields.map(|(name, value)| (&**name, &**value)).collect()
    }

    /// Writes the whole message to `out`.
    pub(crate) fn write(&self, out: &mut Vec<u8>, delivery: Delivery) {
        let named;
        let (content_type, body) = match self.body.as_deref() {
            Some((content_type, body)) => (&**content_type, body),
            None => {
                let json = serde_json::json!({ "error": self.message, "status": self.status });
                named = json.to_string() + "\n";
                ("application/json", &named)
            }
        };
        encode::status_line(out, self.status, None);
        for (name, value) in &self.fields {
            encode::field(out, name, value);
        }
        if !content_type.is_empty() {
            encode::field(out, "Content-Type", content_type);
        }
        encode::content_length(out, body.len() as u64);
        if delivery.close {
            encode::field(out, "Connection", "close");
        } else if delivery.http10 {
            encode::field(out, "Connection", "keep-alive");
        }
        encode::end_head(out);
        if !delivery.to_head {
            out.extend_from_slice(body.as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_json_and_a_head_request_gets_none_of_it() {
        let answer = Answer::new(503, "no \"endpoint\"").with_field("Retry-After", "1".to_owned());
        let written = |to_head, close| {
            let mut out = Vec::new();
            answer.write(
                &mut out,
                Delivery {
                    to_head,
                    close,
                    http10: false,
                },
            );
            String::from_utf8(out).unwrap().replace('\r', "")
        };
        insta::assert_snapshot!(written(false, true), @r#"
        HTTP/1.1 503 Service Unavailable
        Retry-After: 1
        Content-Type: application/json
        Content-Length: 41
        Connection: close

        {"error":"no \"endpoint\"","status":503}
        "#);
        assert!(written(true, false).ends_with("Content-Length: 41\n\n"));
    }
}
