//! `POST /near-misses/request` and `/near-misses/request-pattern`, `GET /requests/unmatched/near-misses`: what nearly matched.
//!
//! Computed when it is asked for and never while a request is answered. The nearest three of each are shown, as in WireMock.

use super::error::AdminError;
use super::{Admin, AdminRequest};
use crate::records::journal::{described, shown};
use plimsoll_wiremock::budget::{Budget, TooCostly};
use plimsoll_wiremock::matcher::edit_distance;
use plimsoll_wiremock::reader::parse_lenient;
use plimsoll_wiremock::request::Request;
use plimsoll_wiremock::response::answer::Answer;
use plimsoll_wiremock::stub::read_pattern;
use serde_json::{Value, json};

/// How many near misses of one request or pattern are shown.
const SHOWN: usize = 3;
/// Comparisons of one call: of many unmatched requests only the newest are looked at.
const MOST_COMPARISONS: usize = 4_000;
/// Bytes of near misses from which on an answer tells of no other.
const MOST_TOLD: usize = 2 << 20;

/// The stubs nearest to a request that the body describes.
pub(super) fn of_request(
    admin: &Admin,
    request: &AdminRequest,
    _: &str,
) -> Result<Answer, AdminError> {
    let refused = |problems: Vec<_>| AdminError::refused(&problems);
    let document = parse_lenient(&request.text()).map_err(refused)?;
    let described = described::read(&document).map_err(refused)?;
    let seen = described.request();
    let misses = nearest_stubs(
        admin,
        &seen,
        &shown_again(document, &seen),
        &edit_distance::budget(),
    )?;
    Ok(answer(misses))
}

/// A description as WireMock shows it again: with its parameters, and without a body that is empty.
fn shown_again(mut document: Value, request: &Request<'_>) -> Value {
    if let Value::Object(map) = &mut document {
        if request.body.bytes().is_empty() {
            map.shift_remove("body");
        }
        for (name, text) in [("queryParams", request.query()), ("formParams", "")] {
            map.entry(name).or_insert_with(|| shown::parameters(text));
        }
    }
    document
}

/// The requests of the journal nearest to a pattern.
pub(super) fn of_pattern(
    admin: &Admin,
    request: &AdminRequest,
    _: &str,
) -> Result<Answer, AdminError> {
    let refused = |problems: Vec<_>| AdminError::refused(&problems);
    let pattern = read_pattern(&request.text()).map_err(refused)?;
    let document = parse_lenient(&request.text()).map_err(refused)?;
    let entries = admin.journal.snapshot().entries;
    let budget = edit_distance::budget();
    let distances = entries
        .iter()
        .map(|entry| Ok((entry, pattern.distance(&entry.request(), &budget)?)));
    let nearest = nearest(distances, &budget)?.into_iter();
    let misses = nearest.map(|(entry, distance)| {
        let miss = json!({
            "request": shown::request(&admin.journal, entry),
            "requestPattern": document,
            "matchResult": result(distance),
        });
        miss.to_string()
    });
    Ok(answer(few_enough(misses)))
}

/// The stubs nearest to each request that nothing answered.
pub(super) fn of_unmatched(admin: &Admin, _: &AdminRequest, _: &str) -> Result<Answer, AdminError> {
    let stubs = admin.stubs.current().stubs().len();
    let most = (MOST_COMPARISONS / stubs.max(1)).max(1);
    let entries = admin.journal.snapshot().entries;
    let unmatched = entries.iter().rev().filter(|entry| entry.is_unmatched());
    let (budget, mut told, mut costly) = (edit_distance::budget(), 0, None);
    let mut misses = Vec::new();
    for entry in unmatched.take(most) {
        let request = shown::request(&admin.journal, entry);
        match nearest_stubs(admin, &entry.request(), &request, &budget) {
            Ok(nearest) => {
                told += nearest.iter().map(String::len).sum::<usize>();
                misses.push(nearest);
            }
            Err(error) if budget.is_spent() => costly = Some(error),
            // What is too costly to judge is near nothing, and no reason not to tell of the others.
            Err(_) => {}
        }
        if budget.is_spent() || told > MOST_TOLD {
            break;
        }
    }
    if let (true, Some(error)) = (misses.is_empty(), costly) {
        return Err(error.into());
    }
    // The newest were looked at first, and the oldest are told first.
    misses.reverse();
    Ok(answer(misses.into_iter().flatten().collect()))
}

fn nearest_stubs(
    admin: &Admin,
    request: &Request<'_>,
    described: &Value,
    budget: &Budget,
) -> Result<Vec<String>, TooCostly> {
    let set = admin.stubs.current();
    let stubs = set.stubs().iter();
    let distances = stubs.map(|stub| Ok((stub, stub.request.distance(request, budget)?)));
    let nearest = nearest(distances, budget)?.into_iter();
    let misses = nearest.map(|(stub, distance)| {
        let miss = json!({
            "request": described,
            "stubMapping": stub.document,
            "matchResult": result(distance),
        });
        miss.to_string()
    });
    Ok(few_enough(misses))
}

/// The nearest of those whose distances could be measured before the budget was spent.
fn nearest<T>(
    distances: impl Iterator<Item = Result<(T, f64), TooCostly>>,
    budget: &Budget,
) -> Result<Vec<(T, f64)>, TooCostly> {
    let mut all = Vec::new();
    for distance in distances {
        match distance {
            Ok(measured) => all.push(measured),
            Err(_) if budget.is_spent() && !all.is_empty() => break,
            Err(costly) => return Err(costly),
        }
    }
    all.sort_by(|(_, one), (_, other)| one.total_cmp(other));
    all.truncate(SHOWN);
    Ok(all)
}

fn result(distance: f64) -> Value {
    json!({"subEvents": [], "diffDescriptions": [], "distance": distance})
}

/// The first of them, and others as long as there are not too many bytes.
fn few_enough(misses: impl Iterator<Item = String>) -> Vec<String> {
    let mut told = 0;
    let mut first = Vec::new();
    for miss in misses {
        told += miss.len();
        if told > MOST_TOLD && !first.is_empty() {
            break;
        }
        first.push(miss);
    }
    first
}

/// Near misses that are written already: as trees, those of many requests would take ten times as much.
fn answer(misses: Vec<String>) -> Answer {
    let mut text = "{\"nearMisses\":[".to_owned();
    for (place, miss) in misses.into_iter().enumerate() {
        text.push_str(if place == 0 { "" } else { "," });
        text.push_str(&miss);
    }
    text.push_str("]}");
    Answer::json_text(200, &text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_measured_before_the_budget_is_spent_are_told() {
        let budget = Budget::of(0);
        let costly = || Err(TooCostly::Distances);
        let of = |all: Vec<Result<(char, f64), TooCostly>>| nearest(all.into_iter(), &budget);
        let measured = of(vec![Ok(('a', 0.5)), Ok(('b', 0.1)), costly()]);
        assert_eq!(measured, Ok(vec![('b', 0.1), ('a', 0.5)]));
        assert_eq!(of(vec![costly()]), Err(TooCostly::Distances));
    }

    #[test]
    fn an_answer_has_a_first_near_miss_and_no_more_than_may_be_told() {
        let check = |length: usize, expected: usize| {
            let misses = std::iter::repeat_n("x".repeat(length), SHOWN);
            assert_eq!(few_enough(misses).len(), expected, "{length}");
        };
        check(10, SHOWN);
        check(MOST_TOLD / 2, 2);
        check(2 * MOST_TOLD, 1);
    }
}
