//! `POST /near-misses/request` and `/near-misses/request-pattern`, `GET /requests/unmatched/near-misses`: what nearly matched.
//!
//! Computed when it is asked for and never while a request is answered. The nearest three of each are shown, as in WireMock.

use super::error::AdminError;
use super::{Admin, AdminRequest};
use crate::answer::Answer;
use crate::budget::{Budget, TooCostly};
use crate::edit_distance;
use crate::journal::{described, shown};
use crate::request::Request;
use crate::stub::{parse_lenient, read_pattern};
use serde_json::{Value, json};

/// How many near misses of one request or pattern are shown.
const SHOWN: usize = 3;
/// Comparisons of one call: of many unmatched requests only the newest are looked at.
const MOST_COMPARISONS: usize = 4_000;

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
    Ok(answer(&misses))
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
    let misses = nearest(distances)?.into_iter().map(|(entry, distance)| {
        let miss = json!({
            "request": shown::request(&admin.journal, entry),
            "requestPattern": document,
            "matchResult": result(distance),
        });
        miss.to_string()
    });
    Ok(answer(&misses.collect::<Vec<_>>()))
}

/// The stubs nearest to each request that nothing answered.
pub(super) fn of_unmatched(admin: &Admin, _: &AdminRequest, _: &str) -> Result<Answer, AdminError> {
    let stubs = admin.stubs.current().stubs().len();
    let most = (MOST_COMPARISONS / stubs.max(1)).max(1);
    let entries = admin.journal.snapshot().entries;
    let unmatched = entries.iter().rev().filter(|entry| entry.is_unmatched());
    let (budget, mut misses) = (edit_distance::budget(), Vec::new());
    for entry in unmatched.take(most) {
        let request = shown::request(&admin.journal, entry);
        // What is too costly to judge is near nothing, and no reason not to tell of the others.
        if let Ok(nearest) = nearest_stubs(admin, &entry.request(), &request, &budget) {
            misses.push(nearest);
        }
        if budget.is_spent() {
            break;
        }
    }
    // The newest were looked at first, and the oldest are told first.
    misses.reverse();
    Ok(answer(&misses.concat()))
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
    let misses = nearest(distances)?.into_iter().map(|(stub, distance)| {
        let miss = json!({
            "request": described,
            "stubMapping": stub.document,
            "matchResult": result(distance),
        });
        miss.to_string()
    });
    Ok(misses.collect())
}

fn nearest<T>(
    distances: impl Iterator<Item = Result<(T, f64), TooCostly>>,
) -> Result<Vec<(T, f64)>, TooCostly> {
    let mut all = distances.collect::<Result<Vec<_>, _>>()?;
    all.sort_by(|(_, one), (_, other)| one.total_cmp(other));
    all.truncate(SHOWN);
    Ok(all)
}

fn result(distance: f64) -> Value {
    json!({"subEvents": [], "diffDescriptions": [], "distance": distance})
}

/// Near misses that are written already: as trees, those of many requests would take ten times as much.
fn answer(misses: &[String]) -> Answer {
    Answer::json_text(200, &format!("{{\"nearMisses\":[{}]}}", misses.join(",")))
}
