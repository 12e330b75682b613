//! What an answer must satisfy, as the file says it.

use std::time::Duration;

use plimsoll_base::document::{OneOrMany, Path as Pointer, Text};

use crate::loader::Loader;
use crate::template::Template;
use crate::wire::{CheckWire, MatchWire};

/// Predicates on one answer.
#[derive(Debug, Clone, Default)]
pub struct Check {
    /// The permitted statuses; `None`: anything below 400.
    pub status: Option<Vec<u16>>,
    /// Further predicates, in order.
    pub also: Vec<(Predicate, Pointer)>,
}

/// Something that must hold of an answer.
#[derive(Debug, Clone)]
pub enum Predicate {
    /// A header field is there, and its value satisfies this.
    Header(String, Option<Matcher>),
    /// The body satisfies this.
    Body(Matcher),
    /// A JSONPath finds something, and the first such thing is this.
    JsonPath(String, Option<Template>),
    /// The body has so many bytes.
    Size(u64, u64),
    /// The response time is below this.
    ResponseTime(Duration),
}

/// Something that must hold of a text.
#[derive(Debug, Clone)]
pub enum Matcher {
    /// It is this.
    Equals(Template),
    /// This is in it.
    Contains(Template),
    /// The regular expression matches.
    Matches(String),
}

pub(super) fn convert(loader: &mut Loader<'_>, wire: Option<&CheckWire>, at: &Pointer) -> Check {
    let Some(wire) = wire else {
        return Check::default();
    };
    let mut also = Vec::new();
    for (name, value) in wire.header.iter().flat_map(|entries| entries.iter()) {
        let at = at.key("header").key(name);
        let matchers = matchers(loader, value, &at);
        if matchers.is_empty() {
            also.push((Predicate::Header(name.to_owned(), None), at));
        } else {
            let of = |(matcher, at)| (Predicate::Header(name.to_owned(), Some(matcher)), at);
            also.extend(matchers.into_iter().map(of));
        }
    }
    if let Some(body) = &wire.body {
        let at = at.key("body");
        let matchers = matchers(loader, body, &at);
        if matchers.is_empty() {
            loader.refuse(&at, "says nothing: write `equals`, `contains` or `matches`");
        }
        also.extend(
            matchers
                .into_iter()
                .map(|(matcher, at)| (Predicate::Body(matcher), at)),
        );
    }
    for (path, value) in wire.jsonpath.iter().flat_map(|entries| entries.iter()) {
        let at = at.key("jsonpath").key(path);
        let value = loader.template(&at, value, None);
        also.push((Predicate::JsonPath(path.to_owned(), Some(value)), at));
    }
    for path in wire.found.iter().flat_map(|paths| &paths.0) {
        also.push((Predicate::JsonPath(path.clone(), None), at.key("found")));
    }
    if let Some(size) = &wire.size {
        let (least, most) = (
            size.least.map_or(0, |bytes| *bytes),
            size.most.map_or(u64::MAX, |bytes| *bytes),
        );
        also.push((Predicate::Size(least, most), at.key("size")));
    }
    if let Some(time) = wire.response_time {
        also.push((Predicate::ResponseTime(*time), at.key("response_time")));
    }
    Check {
        status: wire
            .status
            .as_ref()
            .map(|list| statuses(loader, list, &at.key("status"))),
        also,
    }
}

fn matchers(loader: &mut Loader<'_>, wire: &MatchWire, at: &Pointer) -> Vec<(Matcher, Pointer)> {
    let mut matchers = Vec::new();
    if let Some(text) = &wire.equals {
        let at = at.key("equals");
        matchers.push((Matcher::Equals(loader.template(&at, text, None)), at));
    }
    if let Some(text) = &wire.contains {
        let at = at.key("contains");
        matchers.push((Matcher::Contains(loader.template(&at, text, None)), at));
    }
    if let Some(pattern) = &wire.matches {
        matchers.push((Matcher::Matches(pattern.clone()), at.key("matches")));
    }
    matchers
}

/// `200`, `2xx`, `200-204`.
fn statuses(loader: &mut Loader<'_>, list: &OneOrMany<Text>, at: &Pointer) -> Vec<u16> {
    let mut statuses = Vec::new();
    for text in &list.0 {
        match range(text) {
            Some(range) => statuses.extend(range),
            None => loader.refuse(
                at,
                format!(
                    "`{}` is no status: write one such as `200`, a class such as `2xx` or a range such as `200-204`",
                    text.0
                ),
            ),
        }
    }
    statuses
}

fn range(text: &str) -> Option<std::ops::RangeInclusive<u16>> {
    if let Some(class) = text.strip_suffix("xx") {
        let class: u16 = class.parse().ok()?;
        return (2..=5)
            .contains(&class)
            .then(|| class * 100..=class * 100 + 99);
    }
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last): (u16, u16) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    (first <= last && last < 1000).then_some(first..=last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_come_alone_in_classes_and_in_ranges() {
        let check = |text: &str, expected: Option<(u16, u16)>| {
            let found = range(text).map(|range| (*range.start(), *range.end()));
            assert_eq!(found, expected, "{text}");
        };
        check("204", Some((204, 204)));
        check("4xx", Some((400, 499)));
        check("200-204", Some((200, 204)));
        check("204-200", None);
        check("1xx", None);
        check("ok", None);
        check("1-2000", None);
    }
}
