//! `GET /requests?limit&since&unmatched&matchingStub`: the journal, newest first; and what all routes of the journal share.
//!
//! `meta.total` counts what made room as well, unless a filter asks for a part. How many are missing from an answer because they
//! made room is said in a header, since clients refuse properties that they do not know.

use super::error::AdminError;
use super::{Admin, AdminRequest, id_of, query};
use crate::records::journal::{Entry, shown};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use plimsoll_wiremock::response::answer::{Answer, AnswerBuilder};
use serde_json::{Value, json};
use std::sync::Arc;

/// The header that says how many requests are no longer there.
const DROPPED: &str = "Plimsoll-Journal-Dropped";

/// Which entries a caller wants.
#[derive(Debug, Default)]
struct Filter {
    since: Option<Timestamp>,
    unmatched: bool,
    stub: Option<plimsoll_wiremock::stub_id::StubId>,
}

pub(super) fn list(admin: &Admin, request: &AdminRequest, _: &str) -> Result<Answer, AdminError> {
    let filter = Filter::read(&request.query)?;
    let limit = query::count(&request.query, "limit")?;
    let snapshot = admin.journal.snapshot();
    let kept: Vec<_> = snapshot
        .entries
        .iter()
        .rev()
        .filter(|entry| filter.admits(entry))
        .collect();
    let total = if filter.is_open() {
        kept.len() as u64 + snapshot.dropped
    } else {
        kept.len() as u64
    };
    let page = kept
        .into_iter()
        .filter(|entry| filter.is_since(admin, entry))
        .take(limit.unwrap_or(usize::MAX));
    let events: Vec<_> = page
        .map(|entry| shown::serve_event(&admin.journal, entry))
        .collect();
    let list = json!({
        "requests": events,
        "meta": {"total": total},
        "requestJournalDisabled": !admin.journal.is_on(),
    });
    Ok(with_dropped(&list, snapshot.dropped))
}

pub(super) fn get(admin: &Admin, _: &AdminRequest, id: &str) -> Result<Answer, AdminError> {
    let entry = by_id(admin, id)?.ok_or_else(AdminError::absent)?;
    Ok(Answer::json(
        200,
        &shown::serve_event(&admin.journal, &entry),
    ))
}

pub(super) fn remove(admin: &Admin, _: &AdminRequest, id: &str) -> Result<Answer, AdminError> {
    if let Some(entry) = by_id(admin, id)? {
        admin.journal.remove(&[entry]);
    }
    Ok(Answer::json(200, &json!({})))
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "the shape that every endpoint has in the table"
)]
pub(super) fn remove_all(admin: &Admin, _: &AdminRequest, _: &str) -> Result<Answer, AdminError> {
    admin.journal.clear();
    Ok(Answer::json(200, &json!({})))
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "the shape that every endpoint has in the table"
)]
pub(super) fn unmatched(admin: &Admin, _: &AdminRequest, _: &str) -> Result<Answer, AdminError> {
    let snapshot = admin.journal.snapshot();
    let unmatched = snapshot.entries.iter().filter(|entry| entry.is_unmatched());
    let requests: Vec<_> = unmatched
        .map(|entry| shown::request(&admin.journal, entry))
        .collect();
    let list = json!({
        "requests": requests,
        "requestJournalDisabled": !admin.journal.is_on(),
    });
    Ok(with_dropped(&list, snapshot.dropped))
}

/// An answer about a part of the journal, which says how many requests are no longer there.
pub(super) fn with_dropped(value: &Value, dropped: u64) -> Answer {
    let mut builder = AnswerBuilder::new(200, None).field("Content-Type", "application/json");
    if dropped > 0 {
        builder = builder.field(DROPPED, &dropped.to_string());
    }
    builder.body(value.to_string().as_bytes())
}

fn by_id(admin: &Admin, id: &str) -> Result<Option<Arc<Entry>>, AdminError> {
    let id = id_of(id)?;
    let mut entries = admin.journal.snapshot().entries.into_iter();
    Ok(entries.find(|entry| admin.journal.id_of_entry(entry) == id))
}

impl Filter {
    fn read(text: &str) -> Result<Self, AdminError> {
        let since = query::value(text, "since")
            .map(|since| time(since).ok_or_else(|| AdminError::bad_time("since", since)));
        let stub = query::value(text, "matchingStub").map(|id| {
            plimsoll_wiremock::stub_id::StubId::parse(id)
                .ok_or_else(|| AdminError::bad_stub_parameter(id))
        });
        Ok(Self {
            since: since.transpose()?,
            unmatched: query::value(text, "unmatched") == Some("true"),
            stub: stub.transpose()?,
        })
    }

    fn is_open(&self) -> bool {
        !self.unmatched && self.stub.is_none()
    }

    fn admits(&self, entry: &Entry) -> bool {
        let is_of = |id| entry.stub().is_some_and(|stub| stub.id == id);
        (!self.unmatched || entry.is_unmatched()) && self.stub.is_none_or(is_of)
    }

    /// Like a limit, it is no part of what the total counts.
    fn is_since(&self, admin: &Admin, entry: &Entry) -> bool {
        self.since
            .is_none_or(|since| admin.journal.time_of(entry) > since)
    }
}

/// A time of ISO 8601; without a zone it is that of UTC. Colons may be encoded.
fn time(text: &str) -> Option<Timestamp> {
    let text = text.replace("%3A", ":").replace("%2B", "+");
    text.parse().ok().or_else(|| {
        let civil: DateTime = text.parse().ok()?;
        Some(civil.to_zoned(TimeZone::UTC).ok()?.timestamp())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_zone_or_are_in_utc() {
        for text in [
            "2026-11-22T02:26:09.5Z",
            "2026-11-22T02%3A26%3A09.5Z",
            "2026-11-22T03:26:09.5%2B01:00",
            "2026-11-22T02:26:09.5",
        ] {
            assert_eq!(
                time(text).unwrap().as_millisecond(),
                1_795_314_369_500,
                "{text}"
            );
        }
        assert_eq!(time("yesterday"), None);
    }
}
