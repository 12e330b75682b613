//! Predicates on an answer, as the file states them.

use plimsoll_base::document::{OneOrMany, Path as Pointer, Text};
use plimsoll_load::plan::{Check, Match, Predicate};

use crate::loader::Loader;
use crate::template::Template;
use crate::wire::{CheckWire, MatchWire};

/// A further predicate, and where it is written.
type Placed = (Predicate<Template>, Pointer);

/// The check of a step, and where its further predicates are written.
pub(super) fn convert(
    loader: &mut Loader<'_>,
    wire: Option<&CheckWire>,
    at: &Pointer,
) -> (Check<Template>, Vec<Pointer>) {
    let Some(wire) = wire else {
        return (Check::default(), Vec::new());
    };
    let (also, places) = predicates(loader, wire, at).into_iter().unzip();
    let statuses = wire.status.as_ref();
    let status = statuses.map(|list| self::statuses(loader, list, &at.key("status")));
    (Check { status, also }, places)
}

fn predicates(loader: &mut Loader<'_>, wire: &CheckWire, at: &Pointer) -> Vec<Placed> {
    let header = |name: &str, value| Predicate::Header {
        name: name.to_owned(),
        value,
    };
    let mut also = Vec::new();
    for (name, value) in wire.header.iter().flat_map(|entries| entries.iter()) {
        let at = at.key("header").key(name);
        let matchers = matchers(loader, value, &at);
        if matchers.is_empty() {
            also.push((header(name, None), at));
        } else {
            let of = |(matcher, at)| (header(name, Some(matcher)), at);
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
        let equals = Some(loader.template(&at, value, None));
        let path = path.to_owned();
        also.push((Predicate::JsonPath { path, equals }, at));
    }
    for path in wire.found.iter().flat_map(|paths| &paths.0) {
        let found = Predicate::JsonPath {
            path: path.clone(),
            equals: None,
        };
        also.push((found, at.key("found")));
    }
    if let Some(size) = &wire.size {
        let (least, most) = (
            size.least.map_or(0, |bytes| *bytes),
            size.most.map_or(u64::MAX, |bytes| *bytes),
        );
        also.push((Predicate::Size { least, most }, at.key("size")));
    }
    if let Some(time) = wire.response_time {
        also.push((Predicate::ResponseTime(*time), at.key("response_time")));
    }
    also
}

fn matchers(
    loader: &mut Loader<'_>,
    wire: &MatchWire,
    at: &Pointer,
) -> Vec<(Match<Template>, Pointer)> {
    let mut matchers = Vec::new();
    if let Some(text) = &wire.equals {
        let at = at.key("equals");
        matchers.push((Match::Equals(loader.template(&at, text, None)), at));
    }
    if let Some(text) = &wire.contains {
        let at = at.key("contains");
        matchers.push((Match::Contains(loader.template(&at, text, None)), at));
    }
    if let Some(pattern) = &wire.matches {
        matchers.push((Match::Matches(pattern.clone()), at.key("matches")));
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
