//! hey's `-o csv`: one row per answer, written as they come, so that there are as many rows as answers.

use super::results::Phase;
use super::summary::number;
use plimsoll_base::outcome::Outcome;
use plimsoll_load::exchange::{Exchange, Exchanges};

/// The first line.
pub const HEADER: &str =
    "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n";

/// The rows of some exchanges. Like hey's, they leave out what was not answered.
pub fn rows(exchanges: &Exchanges) -> String {
    exchanges.list.iter().filter_map(row).collect()
}

fn row(exchange: &Exchange) -> Option<String> {
    let Outcome::Answered(status) = exchange.outcome else {
        return None;
    };
    let phases = Phase::ALL.map(|phase| number(phase.of(exchange).as_secs_f64()));
    let (response, offset) = (
        exchange.response.as_secs_f64(),
        exchange.intended.as_secs_f64(),
    );
    let (response, offset) = (number(response), number(offset));
    Some(format!(
        "{response},{},{status},{offset}\n",
        phases.join(",")
    ))
}
