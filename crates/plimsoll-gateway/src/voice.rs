//! In whose words the gateway's own answers are given: its own, or Tyk's, whose clients know them.
//!
//! What happened is decided before; only status, fields and body of the answer change here.

use crate::answer::Answer;
use crate::cause::Cause;

/// Whose words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Voice {
    #[default]
    Own,
    Tyk(TykVoice),
}

/// How closely Tyk's answers are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TykVoice {
    /// Keep what HTTP asks for and Tyk leaves out: 502, `WWW-Authenticate`, `Retry-After`.
    pub(crate) strict: bool,
    /// Send `X-Generator`.
    pub(crate) generator: bool,
}

impl Voice {
    /// The answer as this voice gives it.
    pub(crate) fn say(self, answer: Answer) -> Answer {
        match self {
            Self::Own => answer,
            Self::Tyk(_) if answer.has_body() => answer,
            Self::Tyk(tyk) => tyk.say(answer),
        }
    }
}

impl TykVoice {
    fn say(self, answer: Answer) -> Answer {
        let (status, message) = match answer.cause() {
            Some(cause) => self.words(cause),
            None => (answer.status(), answer.message()),
        };
        if matches!(answer.cause(), Some(Cause::NoRoute | Cause::NoEndpoint)) {
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
    pub(crate) fn words(self, cause: Cause) -> (u16, &'static str) {
        words(cause, self.strict)
    }

    /// The same to the letter.
    pub(crate) fn lenient(self) -> Self {
        Self {
            strict: false,
            ..self
        }
    }
}

/// Tyk's status and message (5.x, `templates/error.json`).
fn words(cause: Cause, strict: bool) -> (u16, &'static str) {
    match cause {
        Cause::NoRoute => (404, "Not Found"),
        Cause::KeyMissing => (401, "Authorization field missing"),
        Cause::KeyUnknown | Cause::KeyElsewhere => (403, "Access to this API has been disallowed"),
        Cause::KeyInactive => (403, "Key is inactive, please renew"),
        Cause::KeyExpired => (401, "Key has expired, please renew"),
        Cause::KeyRate => (429, "Rate Limit Exceeded"),
        Cause::RouteRate => (429, "API Rate Limit Exceeded"),
        Cause::Quota => (403, "Quota exceeded"),
        Cause::PathForbidden => (403, "Requested endpoint is forbidden"),
        Cause::BodyTooLarge if strict => (413, "Request is too large"),
        Cause::BodyTooLarge => (400, "Request is too large"),
        Cause::LengthRequired => (411, "Content length is required for this request"),
        Cause::NoEndpoint => (503, "all hosts are down"),
        Cause::BreakerOpen => (503, "Service temporarily unavailable."),
        Cause::UpstreamTimeout => (504, "Upstream service reached hard timeout."),
        Cause::UpstreamUnknown if strict => (502, "Upstream host lookup failed"),
        Cause::UpstreamUnknown => (500, "Upstream host lookup failed"),
        Cause::UpstreamFailed(_) if strict => (502, "There was a problem proxying the request"),
        Cause::UpstreamFailed(_) => (500, "There was a problem proxying the request"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Delivery;

    fn said(voice: Voice, answer: Answer) -> String {
        let mut out = Vec::new();
        let delivery = Delivery {
            to_head: false,
            close: false,
            http10: false,
        };
        voice.say(answer).write(&mut out, delivery);
        String::from_utf8(out).unwrap().replace('\r', "")
    }

    fn missing_key() -> Answer {
        Answer::new(401, "this route needs one key")
            .because(Cause::KeyMissing)
            .with_field("WWW-Authenticate", "Bearer".to_owned())
    }

    #[test]
    fn tyk_leaves_out_what_the_strict_form_keeps() {
        let tyk = |strict| {
            Voice::Tyk(TykVoice {
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
            || Answer::new(502, "the upstream refused").because(Cause::UpstreamFailed(None));
        assert!(said(tyk(false), failed()).starts_with("HTTP/1.1 500 "));
        assert!(said(tyk(true), failed()).starts_with("HTTP/1.1 502 "));
        assert!(said(Voice::Own, failed()).contains("\"error\":\"the upstream refused\""));
    }

    /// What Tyk 5 answers: its own `error.json` with these words, or, in the lines that say so, plain text. The last number is the status
    /// where HTTP wants another.
    #[test]
    fn every_cause_has_tyks_status_and_words() {
        let json = |message: &str| {
            let body = format!("{{\n    \"error\": \"{message}\"\n}}");
            ("application/json", body)
        };
        let plain = |message: &str| ("text/plain; charset=utf-8", message.to_owned());
        let check = |cause: Cause, status: u16, (kind, body): (&str, String), strict: u16| {
            for (strict, status) in [(false, status), (true, strict)] {
                let voice = Voice::Tyk(TykVoice {
                    strict,
                    generator: false,
                });
                let said = said(voice, Answer::new(599, "our own words").because(cause));
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
        check(Cause::NoRoute, 404, plain("Not Found"), 404);
        check(
            Cause::KeyMissing,
            401,
            json("Authorization field missing"),
            401,
        );
        check(Cause::KeyUnknown, 403, json(elsewhere), 403);
        check(Cause::KeyElsewhere, 403, json(elsewhere), 403);
        let inactive = json("Key is inactive, please renew");
        check(Cause::KeyInactive, 403, inactive, 403);
        check(
            Cause::KeyExpired,
            401,
            json("Key has expired, please renew"),
            401,
        );
        check(Cause::KeyRate, 429, json("Rate Limit Exceeded"), 429);
        check(Cause::RouteRate, 429, json("API Rate Limit Exceeded"), 429);
        check(Cause::Quota, 403, json("Quota exceeded"), 403);
        let forbidden = json("Requested endpoint is forbidden");
        check(Cause::PathForbidden, 403, forbidden, 403);
        check(Cause::BodyTooLarge, 400, json("Request is too large"), 413);
        let unstated = json("Content length is required for this request");
        check(Cause::LengthRequired, 411, unstated, 411);
        check(Cause::NoEndpoint, 503, plain("all hosts are down"), 503);
        let open = json("Service temporarily unavailable.");
        check(Cause::BreakerOpen, 503, open, 503);
        let late = json("Upstream service reached hard timeout.");
        check(Cause::UpstreamTimeout, 504, late, 504);
        let unknown = json("Upstream host lookup failed");
        check(Cause::UpstreamUnknown, 500, unknown, 502);
        check(Cause::UpstreamFailed(None), 500, json(proxying), 502);
    }

    #[test]
    fn a_path_without_a_route_is_told_in_plain_text() {
        let tyk = Voice::Tyk(TykVoice {
            strict: false,
            generator: true,
        });
        let none = Answer::new(404, "no route for this path").because(Cause::NoRoute);
        insta::assert_snapshot!(said(tyk, none), @r"
        HTTP/1.1 404 Not Found
        Content-Type: text/plain; charset=utf-8
        Content-Length: 9

        Not Found
        ");
    }
}
