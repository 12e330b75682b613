//! Answers in the place of errors on a route: of the gateway's own, and of an upstream's. Who gets in is decided before, and stays.
//!
//! Source: Tyk 5.15, `gateway/error_overrides.go`, `gateway/handler_error.go`, `gateway/res_handler_error_override.go`.

mod json;
pub(crate) mod media;
pub(crate) mod text;

use crate::answering::answer::Answer;
use crate::answering::error_format::{ErrorFormat, TykErrorFormat};
use crate::answering::error_kind::ErrorKind;
use crate::messages::edits::FieldEdits;
pub(crate) use json::BodyField;
use media::Media;
use plimsoll_http::Fields;
use regex::Regex;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use text::Text;

/// Bytes of an upstream's body that are looked at.
pub(crate) const LOOKED_AT: usize = 4096;

/// The rules of a route, the nearest first: those of its API, then those of all.
#[derive(Debug, Clone, Default)]
pub(crate) struct Overrides(pub(crate) Vec<Arc<Level>>);

/// Rules of one file. Of the same status the first that matches counts; those for one status come before those for a hundred.
#[derive(Debug, Clone, Default)]
pub(crate) struct Level {
    pub(crate) exact: BTreeMap<u16, Vec<Override>>,
    /// By the first digit.
    pub(crate) hundreds: BTreeMap<u16, Vec<Override>>,
}

/// One rule.
#[derive(Debug, Clone)]
pub(crate) struct Override {
    pub(crate) condition: Condition,
    /// As it was, if nothing is said.
    pub(crate) status: Option<u16>,
    /// Names are distinct without regard to case.
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) text: Text,
}

/// Which errors a rule is for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Condition {
    pub(crate) flag: Option<Flag>,
    pub(crate) pattern: Option<Regex>,
    pub(crate) body: Option<BodyField>,
}

/// Tyk's classes of errors, as far as they are told apart here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flag {
    AuthFieldMissing,
    KeyInvalid,
    RateLimited,
    QuotaExceeded,
    BodyTooLarge,
    LengthMissing,
    BreakerOpen,
    UpstreamTimeout,
    ConnectionFailure,
    ConnectionTimeout,
    ConnectionReset,
    NoRoute,
    BrokenPipe,
    Aborted,
    LookupFailed,
    ProtocolError,
    /// The upstream's own 5xx.
    UpstreamStatus,
    /// One that nothing here has.
    Other,
}

/// Replacement of an upstream's error.
#[derive(Debug)]
pub(crate) struct Replaced {
    pub(crate) status: u16,
    pub(crate) edits: FieldEdits,
    /// Instead of the upstream's.
    pub(crate) body: Option<String>,
}

/// Judgement of an upstream's error before its body is looked at, or after.
#[derive(Debug)]
pub(crate) enum Verdict<'a> {
    Unchanged,
    Instead(&'a Override),
    /// It depends on the body.
    Unread,
}

impl Overrides {
    /// The form that errors take for who has sent these fields; where there are no rules it does not matter.
    pub(crate) fn media(&self, fields: &Fields) -> Media {
        match self.0.is_empty() {
            true => Media::Json,
            false => Media::of(fields),
        }
    }

    /// The gateway's own answer as it is given here.
    pub(crate) fn apply(&self, error_format: ErrorFormat, answer: Answer, media: Media) -> Answer {
        let (ErrorFormat::Tyk(tyk), Some(cause)) = (error_format, answer.cause()) else {
            return answer;
        };
        let (status, message) = tyk.lenient().words(cause);
        match cause {
            // It is no API's.
            ErrorKind::NoRoute => answer,
            // Tyk asks a server of its own then, whose answer is an upstream's.
            ErrorKind::NoEndpoint => match self.of_upstream(status, Some(message.as_bytes())) {
                Verdict::Instead(rule) => rule.unreached(answer, (status, message), media),
                Verdict::Unchanged | Verdict::Unread => answer,
            },
            _ => match self.of_gateway(status, Flag::of(cause), message) {
                Some(rule) => rule.answer(answer, tyk, cause, media),
                None => answer,
            },
        }
    }

    fn of_gateway(&self, status: u16, flag: Option<Flag>, message: &str) -> Option<&Override> {
        let mut rules = self.of_status(status);
        rules.find(|rule| rule.condition.meets_own(flag, message))
    }

    /// Judgement of an upstream's response of `status`, and of at most [`LOOKED_AT`] bytes of its body, if they are known.
    pub(crate) fn of_upstream(&self, status: u16, body: Option<&[u8]>) -> Verdict<'_> {
        if status < 400 {
            return Verdict::Unchanged;
        }
        for rule in self.of_status(status) {
            match rule.condition.meets_upstreams(status, body) {
                Some(true) => return Verdict::Instead(rule),
                Some(false) => {}
                None => return Verdict::Unread,
            }
        }
        Verdict::Unchanged
    }

    fn of_status(&self, status: u16) -> impl Iterator<Item = &Override> {
        self.0.iter().flat_map(move |level| {
            let exact = level.exact.get(&status);
            let hundred = level.hundreds.get(&(status / 100));
            exact.into_iter().chain(hundred).flatten()
        })
    }
}

impl Level {
    /// Whether it has no rule.
    pub(crate) fn is_empty(&self) -> bool {
        let mut rules = self.exact.values().chain(self.hundreds.values());
        rules.all(Vec::is_empty)
    }
}

impl Condition {
    /// Whether one of the gateway's own errors is meant. Without flag and pattern every one is, whatever else is asked for, as in Tyk.
    fn meets_own(&self, flag: Option<Flag>, message: &str) -> bool {
        if self.flag.is_some() && self.flag == flag {
            return true;
        }
        match &self.pattern {
            Some(pattern) => pattern.is_match(message),
            None => self.flag.is_none(),
        }
    }

    /// Whether an upstream's error is meant; nothing, if its body has to be known.
    fn meets_upstreams(&self, status: u16, body: Option<&[u8]>) -> Option<bool> {
        match self.flag {
            Some(Flag::UpstreamStatus) => return Some((500..600).contains(&status)),
            Some(_) => return Some(false),
            None if self.pattern.is_none() && self.body.is_none() => return Some(true),
            None => {}
        }
        let body = body?;
        let has_value = self.body.as_ref().is_some_and(|field| field.is_in(body));
        let is_said = |pattern: &Regex| pattern.is_match(&String::from_utf8_lossy(body));
        Some(has_value || self.pattern.as_ref().is_some_and(is_said))
    }
}

impl Override {
    /// In the place of the gateway's own answer.
    fn answer(
        &self,
        answer: Answer,
        error_format: TykErrorFormat,
        cause: ErrorKind,
        media: Media,
    ) -> Answer {
        let (usual, message) = error_format.words(cause);
        let status = self.status.unwrap_or(usual);
        let answer = error_format.dress(answer.with_status(status));
        match self.text.own(status, media) {
            Some(body) => self.with(answer, media.of_body().name(), body, true),
            None => {
                let message = self.text.message().unwrap_or(message);
                let body = text::standard(&text::escape_own(message, media), media);
                self.with(answer, media.name(), body, false)
            }
        }
    }

    /// In the place of what is said where no endpoint may be asked.
    fn unreached(&self, answer: Answer, (usual, message): (u16, &str), media: Media) -> Answer {
        let status = self.status.unwrap_or(usual);
        let answer = answer.with_status(status);
        match self.text.upstreams(status, media) {
            Some(body) => self.with(answer, media.of_body().name(), body, true),
            None => self.with(
                answer,
                "text/plain; charset=utf-8",
                message.to_owned(),
                true,
            ),
        }
    }

    /// With this body; `typed`: a rule's `Content-Type` counts.
    fn with(&self, answer: Answer, media: &str, body: String, typed: bool) -> Answer {
        let is_type = |name: &str| name.eq_ignore_ascii_case("content-type");
        let own = self.fields.iter().find(|(name, _)| typed && is_type(name));
        let media = own.map_or(media, |(_, value)| value).to_owned();
        let fields = self.fields.iter().filter(|(name, _)| !is_type(name));
        let answer = fields.fold(answer, |answer, (name, value)| {
            answer.with_only(name, value)
        });
        answer.with_body(media, body)
    }

    /// In the place of an upstream's response of `status`; `before`: what else becomes of its fields.
    pub(crate) fn replace(
        &self,
        status: u16,
        media: Media,
        before: Option<&FieldEdits>,
    ) -> Replaced {
        let status = self.status.unwrap_or(status);
        let body = self.text.upstreams(status, media);
        let mut edits = FieldEdits::default();
        if body.is_some() {
            // They speak of the body that is not sent.
            edits.remove = ["Content-Encoding", "Content-Range", "ETag"]
                .map(str::to_owned)
                .into();
            let name = "Content-Type".to_owned();
            edits.set.push((name, media.of_body().name().into()));
        }
        let own = FieldEdits {
            remove: Vec::new(),
            set: (self.fields.iter())
                .map(|(name, value)| (name.clone(), value.as_str().into()))
                .collect(),
        };
        let edits = own.after(&edits);
        Replaced {
            status,
            edits: before.map_or_else(|| edits.clone(), |before| edits.after(before)),
            body,
        }
    }
}

impl Flag {
    /// The flag that Tyk calls so.
    pub(crate) fn named(name: &str) -> Self {
        match name {
            "AMF" => Self::AuthFieldMissing,
            "AKI" => Self::KeyInvalid,
            "RLT" => Self::RateLimited,
            "QEX" => Self::QuotaExceeded,
            "BTL" => Self::BodyTooLarge,
            "CLM" => Self::LengthMissing,
            "CBO" => Self::BreakerOpen,
            "URT" => Self::UpstreamTimeout,
            "UCF" => Self::ConnectionFailure,
            "UCT" => Self::ConnectionTimeout,
            "URR" => Self::ConnectionReset,
            "NRH" => Self::NoRoute,
            "EPI" => Self::BrokenPipe,
            "CAB" => Self::Aborted,
            "DNS" => Self::LookupFailed,
            "UPE" => Self::ProtocolError,
            "URS" => Self::UpstreamStatus,
            _ => Self::Other,
        }
    }

    /// The class of an error (`internal/errors/classifier.go`), if Tyk gives it one.
    fn of(cause: ErrorKind) -> Option<Self> {
        Some(match cause {
            ErrorKind::KeyMissing => Self::AuthFieldMissing,
            ErrorKind::KeyUnknown => Self::KeyInvalid,
            ErrorKind::KeyRate | ErrorKind::RouteRate => Self::RateLimited,
            ErrorKind::Quota => Self::QuotaExceeded,
            ErrorKind::BodyTooLarge => Self::BodyTooLarge,
            ErrorKind::LengthRequired => Self::LengthMissing,
            ErrorKind::BreakerOpen => Self::BreakerOpen,
            ErrorKind::UpstreamTimeout => Self::UpstreamTimeout,
            ErrorKind::UpstreamUnknown => Self::LookupFailed,
            ErrorKind::UpstreamFailed(why) => match why {
                Some(io::ErrorKind::ConnectionRefused) => Self::ConnectionFailure,
                Some(io::ErrorKind::TimedOut) => Self::ConnectionTimeout,
                Some(io::ErrorKind::ConnectionReset) => Self::ConnectionReset,
                Some(io::ErrorKind::NetworkUnreachable | io::ErrorKind::HostUnreachable) => {
                    Self::NoRoute
                }
                Some(io::ErrorKind::BrokenPipe) => Self::BrokenPipe,
                Some(io::ErrorKind::ConnectionAborted) => Self::Aborted,
                _ => Self::ProtocolError,
            },
            ErrorKind::NoRoute
            | ErrorKind::NoEndpoint
            | ErrorKind::KeyElsewhere
            | ErrorKind::KeyInactive
            | ErrorKind::KeyExpired
            | ErrorKind::PathForbidden => return None,
        })
    }
}

#[cfg(test)]
mod tests;
