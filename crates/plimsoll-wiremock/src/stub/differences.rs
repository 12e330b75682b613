//! The answer to an unmatched request: WireMock's table of differences from the nearest stub, where it costs little.
//!
//! WireMock compares every unmatched request with every stub, which makes a storm of them slow. Here a table is made so many times a
//! second at most, and not at all among many stubs; the others get one line.

mod table;

use crate::budget::TooCostly;
use crate::matcher::edit_distance;
use crate::request::Request;
use crate::stub::Stub;
use crate::stub::behaviour::RateLimit;
use crate::stub::request_pattern::Row;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Among more stubs the nearest is not looked for.
const MOST_STUBS: usize = 1_000;
/// The table's width; a request may ask for another in this field.
const WIDTH_FIELD: &str = "X-WireMock-Console-Width";
const WIDTH: usize = 119;
const WIDTHS: std::ops::RangeInclusive<usize> = 60..=1_000;

const NO_STUBS: &str =
    "No response could be served as there are no stub mappings in this WireMock instance.";
const LINE: &str = "Request was not matched";

/// How often tables are made, over all shards.
#[derive(Debug)]
pub struct Differences(Option<RateLimit>);

impl Differences {
    /// So many tables a second; none for 0.
    pub fn per_second(tables: u32) -> Self {
        Self((tables > 0).then(|| RateLimit::new(tables, Duration::from_secs(1))))
    }

    /// The answer to a request that no stub matches; a table is owned, a line is not.
    pub fn unmatched(
        &self,
        request: &Request<'_>,
        stubs: &[Arc<Stub>],
        now: Instant,
    ) -> Cow<'static, str> {
        if stubs.is_empty() {
            return NO_STUBS.into();
        }
        let table = match &self.0 {
            Some(limit) if stubs.len() <= MOST_STUBS && limit.admit(now).is_ok() => {
                table_of(request, stubs).unwrap_or(None)
            }
            _ => None,
        };
        table.map_or(LINE.into(), Cow::Owned)
    }
}

/// The table of a request and the nearest of the stubs; `None` if there are none.
pub fn table_of(request: &Request<'_>, stubs: &[Arc<Stub>]) -> Result<Option<String>, TooCostly> {
    let budget = edit_distance::budget();
    let mut nearest: Option<(&Arc<Stub>, f64)> = None;
    for stub in stubs {
        let distance = match stub.request.distance(request, &budget) {
            Ok(distance) => distance,
            Err(_) if budget.is_spent() && nearest.is_some() => break,
            Err(costly) => return Err(costly),
        };
        if nearest.is_none_or(|(_, least)| distance < least) {
            nearest = Some((stub, distance));
        }
    }
    let Some((stub, _)) = nearest else {
        return Ok(None);
    };
    let document = &stub.document;
    let mut rows = stub.request.compare(&document["request"], request)?;
    rows.extend(scenario(stub));
    let name = document["name"].as_str();
    Ok(Some(table::render(name, &rows, width(request))))
}

/// The state that a stub needs beside the one that its scenario is in.
fn scenario(stub: &Stub) -> Option<Row> {
    let name = stub.document["scenarioName"].as_str()?;
    let required = stub.document["requiredScenarioState"].as_str()?;
    let state = stub.step.as_ref()?.machine.state();
    let line = |state: &str| format!("[Scenario '{name}' state: {state}]");
    Some(Row::Part {
        expected: line(required),
        actual: line(&state),
        remark: (state != required).then(|| "Scenario does not match".to_owned()),
    })
}

fn width(request: &Request<'_>) -> usize {
    let asked = request.fields.get(WIDTH_FIELD);
    let asked = asked.and_then(|text| std::str::from_utf8(text).ok()?.trim().parse().ok());
    asked
        .filter(|width| WIDTHS.contains(width))
        .unwrap_or(WIDTH)
}
