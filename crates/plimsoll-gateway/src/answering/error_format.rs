//! In whose words the gateway's own answers are given: its own, or Tyk's, whose clients know them.
//!
//! The error is decided before; only status, fields and body of the answer change here.

use crate::answering::answer::Answer;
use crate::answering::error_kind::ErrorKind;

/// Whose words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum ErrorFormat {
    #[default]
    Own,
    Tyk(TykErrorFormat),
}

/// How closely Tyk's answers are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TykErrorFormat {
    /// Keep what HTTP asks for and Tyk leaves out: 502, `WWW-Authenticate`, `Retry-After`.
    pub(crate) strict: bool,
    /// Send `X-Generator`.
    pub(crate) generator: bool,
}

impl ErrorFormat {
    /// The answer as this error_format gives it.
    pub(crate) fn say(self, answer: Answer) -> Answer {
        match self {
            Self::Own => answer,
            Self::Tyk(_) if answer.has_body() => answer,
            Self::Tyk(tyk) => tyk.say(answer),
        }
    }
}

impl TykErrorFormat {
    fn say(self, answer: Answer) -> Answer {
        let (status, message) = match answer.cause() {
            Some(cause) => self.words(cause),
            None => (answer.status(), answer.message()),
        };
        if matches!(
            answer.cause(),
            Some(ErrorKind::NoRoute | ErrorKind::NoEndpoint)
        ) {
            let message = message.to_owned();
            let said = answer.with_status(status);
            return said.with_body("text/plain; charset=utf-8", message);
        }
        let message = serde_json::Value::from(message);
        let body = format!("{{\n    \"error\": {message}\n}}");
        let said = self.dress(answer.with_status(status));
        said.with_body("application/json", body)
    }

    /// The answer with the fields that Tyk's errors have.
    pub(crate) fn dress(self, answer: Answer) -> Answer {
        let answer = match self.strict {
            true => answer,
            false => answer.without_fields(),
        };
        match self.generator {
            true => answer.with_field("X-Generator", "tyk.io".to_owned()),
            false => answer,
        }
    }

    /// Status and message.
    pub(crate) fn words(self, cause: ErrorKind) -> (u16, &'static str) {
        words(cause, self.strict)
    }

    /// This format to the letter.
    pub(crate) fn lenient(self) -> Self {
        Self {
            strict: false,
            ..self
        }
    }
}

/// Tyk's status and message (5.x, `templates/error.json`).
fn words(cause: ErrorKind, strict: bool) -> (u16, &'static str) {
    match cause {
        ErrorKind::NoRoute => (404, "Not Found"),
        ErrorKind::KeyMissing => (401, "Authorization field missing"),
        ErrorKind::KeyUnknown | ErrorKind::KeyElsewhere => {
            (403, "Access to this API has been disallowed")
        }
        ErrorKind::KeyInactive => (403, "Key is inactive, please renew"),
        ErrorKind::KeyExpired => (401, "Key has expired, please renew"),
        ErrorKind::KeyRate => (429, "Rate Limit Exceeded"),
        ErrorKind::RouteRate => (429, "API Rate Limit Exceeded"),
        ErrorKind::Quota => (403, "Quota exceeded"),
        ErrorKind::PathForbidden => (403, "Requested endpoint is forbidden"),
        ErrorKind::BodyTooLarge if strict => (413, "Request is too large"),
        ErrorKind::BodyTooLarge => (400, "Request is too large"),
        ErrorKind::LengthRequired => (411, "Content length is required for this request"),
        ErrorKind::NoEndpoint => (503, "all hosts are down"),
        ErrorKind::BreakerOpen => (503, "Service temporarily unavailable."),
        ErrorKind::UpstreamTimeout => (504, "Upstream service reached hard timeout."),
        ErrorKind::UpstreamUnknown if strict => (502, "Upstream host lookup failed"),
        ErrorKind::UpstreamUnknown => (500, "Upstream host lookup failed"),
        ErrorKind::UpstreamFailed(_) if strict => (502, "There was a problem proxying the request"),
        ErrorKind::UpstreamFailed(_) => (500, "There was a problem proxying the request"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answering::answer::Delivery;

    fn said(error_format: ErrorFormat, answer: Answer) -> String {
        let mut out = Vec::new();
        let delivery = Delivery {
            to_head: false,
            close: false,
            http10: false,
        };
        error_format.say(answer).write(&mut out, delivery);
        String::from_utf8(out).unwrap().replace('\r', "")
    }

    fn missing_key() -> Answer {
        Answer::new(401, "this route needs one key")
            .because(ErrorKind::KeyMissing)
            .with_field("WWW-Authenticate", "Bearer".to_owned())
    }

    #[test]
    fn tyk_leaves_out_what_the_strict_form_keeps() {
        let tyk = |strict| {
            ErrorFormat::Tyk(TykErrorFormat {
                strict,
                generator: !strict,
            })
        };
        insta::assert_snapshot!(said(tyk(false), missing_key()), @r#"
        HTTP/1.1 401 Unauthorized
        X-Generator: tyk.io
        Content-Type: application/json
        Content-Length: 46

        {
            "error": "Authorization field missing"
        }
        "#);
        insta::assert_snapshot!(said(tyk(true), missing_key()), @r#"
        HTTP/1.1 401 Unauthorized
        WWW-Authenticate: Bearer
        Content-Type: application/json
        Content-Length: 46

        {
            "error": "Authorization field missing"
        }
        "#);
        let failed =
            || Answer::new(502, "the upstream refused").because(ErrorKind::UpstreamFailed(None));
        assert!(said(tyk(false), failed()).starts_with("HTTP/1.1 500 "));
        assert!(said(tyk(true), failed()).starts_with("HTTP/1.1 502 "));
        assert!(said(ErrorFormat::Own, failed()).contains("\"error\":\"the upstream refused\""));
    }

    /// Tyk 5's answers: its own `error.json` with these words, or, in the lines that say so, plain text. The last number is the status
    /// where HTTP wants another.
    #[test]
    fn every_cause_has_tyks_status_and_words() {
        let json = |message: &str| {
            let body = format!("{{\n    \"error\": \"{message}\"\n}}");
            ("application/json", body)
        };
        let plain = |message: &str| ("text/plain; charset=utf-8", message.to_owned());
        let check = |cause: ErrorKind, status: u16, (kind, body): (&str, String), strict: u16| {
            for (strict, status) in [(false, status), (true, strict)] {
                let error_format = ErrorFormat::Tyk(TykErrorFormat {
                    strict,
                    generator: false,
                });
                let said = said(
                    error_format,
                    Answer::new(599, "our own words").because(cause),
                );
                let (head, told) = said.split_once("\n\n").unwrap();
                let first = format!("HTTP/1.1 {status} ");
                assert!(head.starts_with(&first), "{cause:?}: {head}");
                let kind = format!("\nContent-Type: {kind}\n");
                assert!(head.contains(&kind), "{cause:?}: {head}");
                assert_eq!(told, body, "{cause:?}");
            }
        };
        let elsewhere = "Access to this API has been disallowed";
        let proxying = "There was a problem proxying the request";
        check(ErrorKind::NoRoute, 404, plain("Not Found"), 404);
        check(
            ErrorKind::KeyMissing,
            401,
            json("Authorization field missing"),
            401,
        );
        check(ErrorKind::KeyUnknown, 403, json(elsewhere), 403);
        check(ErrorKind::KeyElsewhere, 403, json(elsewhere), 403);
        let inactive = json("Key is inactive, please renew");
        check(ErrorKind::KeyInactive, 403, inactive, 403);
        check(
            ErrorKind::KeyExpired,
            401,
            json("Key has expired, please renew"),
            401,
        );
        check(ErrorKind::KeyRate, 429, json("Rate Limit Exceeded"), 429);
        check(
            ErrorKind::RouteRate,
            429,
            json("API Rate Limit Exceeded"),
            429,
        );
        check(ErrorKind::Quota, 403, json("Quota exceeded"), 403);
        let forbidden = json("Requested endpoint is forbidden");
        check(ErrorKind::PathForbidden, 403, forbidden, 403);
        check(
            ErrorKind::BodyTooLarge,
            400,
            json("Request is too large"),
            413,
        );
        let unstated = json("Content length is required for this request");
        check(ErrorKind::LengthRequired, 411, unstated, 411);
        check(ErrorKind::NoEndpoint, 503, plain("all hosts are down"), 503);
        let open = json("Service temporarily unavailable.");
        check(ErrorKind::BreakerOpen, 503, open, 503);
        let late = json("Upstream service reached hard timeout.");
        check(ErrorKind::UpstreamTimeout, 504, late, 504);
        let unknown = json("Upstream host lookup failed");
        check(ErrorKind::UpstreamUnknown, 500, unknown, 502);
        check(ErrorKind::UpstreamFailed(None), 500, json(proxying), 502);
    }

    #[test]
    fn a_path_without_a_route_is_told_in_plain_text() {
        let tyk = ErrorFormat::Tyk(TykErrorFormat {
            strict: false,
            generator: true,
        });
        let none = Answer::new(404, "no route for this path").because(ErrorKind::NoRoute);
        insta::assert_snapshot!(said(tyk, none), @r"
        HTTP/1.1 404 Not Found
        Content-Type: text/plain; charset=utf-8
        Content-Length: 9

        Not Found
        ");
    }
}
