//! hey's `-o csv`: one row per answer, written as they come, so that there are as many rows as answers.

use super::request::{End, Request};
use super::results::Phase;
use super::summary::number;
use plimsoll_base::outcome::Outcome;

/// The first line.
pub const HEADER: &str =
    "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n";

/// The rows of some requests. Like hey's, they leave out what was not answered.
pub fn rows(requests: &[Request]) -> String {
    requests.iter().filter_map(row).collect()
}

fn row(request: &Request) -> Option<String> {
    let End::Of(Outcome::Answered(status)) = request.end else {
        return None;
    };
    let phases = Phase::ALL.map(|phase| number(phase.of(request).as_secs_f64()));
    let (response, offset) = (
        number(request.response.as_secs_f64()),
        number(request.offset.as_secs_f64()),
    );
    Some(format!(
        "{response},{},{status},{offset}\n",
        phases.join(",")
    ))
}
