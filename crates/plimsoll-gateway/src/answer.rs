//! Answers of the gateway itself: a status, a reason for people, and a JSON body that names both.
//!
//! Responses of an upstream are relayed by [`crate::exchange`] and never pass through here.

use plimsoll_http::encode;

/// A complete answer that needs no upstream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    status: u16,
    message: String,
    fields: Vec<(&'static str, String)>,
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
        }
    }

    /// Adds a header field.
    pub(crate) fn with_field(mut self, name: &'static str, value: String) -> Self {
        self.fields.push((name, value));
        self
    }

    /// The status code.
    pub(crate) fn status(&self) -> u16 {
        self.status
    }

    /// The additional fields.
    #[cfg(test)]
    pub(crate) fn fields(&self) -> &[(&'static str, String)] {
        &self.fields
    }

    /// Writes the whole message to `out`.
    pub(crate) fn write(&self, out: &mut Vec<u8>, delivery: Delivery) {
        let body =
            serde_json::json!({ "error": self.message, "status": self.status }).to_string() + "\n";
        encode::status_line(out, self.status, None);
        encode::field(out, "Content-Type", "application/json");
        for (name, value) in &self.fields {
            encode::field(out, name, value);
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
        Content-Type: application/json
        Retry-After: 1
        Content-Length: 41
        Connection: close

        {"error":"no \"endpoint\"","status":503}
        "#);
        assert!(written(true, false).ends_with("Content-Length: 41\n\n"));
    }
}
