//! Response time breakdown: each part's figures, and its share of all of them.

use super::figures::figures_of;
use super::table::Table;
use super::words::{count, mark, percent};
use crate::record::{ArmSummary, MethodName, Summary, TimeStatistics};

/// One part of the response times of an arm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TimePart<'a> {
    pub(super) kind: Kind,
    /// Its figures; the rest has none, because it is what remains of sums.
    pub(super) figures: Option<&'a TimeStatistics>,
    /// Its sum over the sum of all parts, 0 to 1.
    pub(super) share: f64,
}

/// Which part, in the order in which they follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    PacingLag,
    ConnectionWait,
    Lookup,
    Connect,
    Tls,
    FirstByte,
    Body,
    /// Time of responses that is in no part.
    Rest,
}

impl Kind {
    /// In words.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::PacingLag => "pacing lag",
            Self::ConnectionWait => "connection wait",
            Self::Lookup => "name lookup",
            Self::Connect => "TCP connect",
            Self::Tls => "TLS handshake",
            Self::FirstByte => "first byte",
            Self::Body => "body",
            Self::Rest => "rest",
        }
    }

    /// Its place below `arms.<arm>` of the summary.
    fn path(self) -> &'static str {
        match self {
            Self::PacingLag => "pacing_lag",
            Self::ConnectionWait => "connection_wait",
            Self::Lookup => "dns_time",
            Self::Connect => "tcp_time",
            Self::Tls => "tls_time",
            Self::FirstByte => "first_byte_time",
            Self::Body => "body_time",
            Self::Rest => "",
        }
    }
}

/// A rest of less than this is the rounding of sums.
const ROUNDING: f64 = 0.002;

/// The parts of an arm's response times that happened; none where they were not recorded.
pub(super) fn of(arm: &ArmSummary) -> Vec<TimePart<'_>> {
    let times = &arm.times;
    if times.first_byte_time.count == 0 {
        return Vec::new();
    }
    let parts = [
        (Kind::PacingLag, &times.pacing_lag),
        (Kind::ConnectionWait, &times.connection_wait),
        (Kind::Lookup, &times.dns_time),
        (Kind::Connect, &times.tcp_time),
        (Kind::Tls, &times.tls_time),
        (Kind::FirstByte, &times.first_byte_time),
        (Kind::Body, &times.body_time),
    ];
    let known: f64 = parts.iter().map(|(_, figures)| sum(figures)).sum();
    let all = known.max(sum(&times.response_time));
    let happened = parts.into_iter().filter(|(_, figures)| figures.count > 0);
    let mut parts: Vec<TimePart<'_>> = happened
        .map(|(kind, figures)| TimePart {
            kind,
            figures: Some(figures),
            share: share(sum(figures), all),
        })
        .collect();
    let rest = share(all - known, all);
    if rest > ROUNDING {
        parts.push(TimePart {
            kind: Kind::Rest,
            figures: None,
            share: rest,
        });
    }
    parts
}

/// A row for each part of each arm; `None` where nothing was recorded of them, and where an arm's times are those of several rates.
pub(super) fn table(summary: &Summary) -> Option<Table> {
    if summary.method == MethodName::Levels {
        return None;
    }
    let head = ["arm", "part", "samples", "share", "min"];
    let mut table = Table::new(super::figures::with_shown(&head)).with_words(&[1]);
    for (name, arm) in &summary.arms {
        let mut arm_cell = name.clone();
        for part in of(arm) {
            let path = part.kind.path();
            let mut row = vec![
                std::mem::take(&mut arm_cell),
                part.kind.label().to_owned(),
                part.figures
                    .map_or_else(String::new, |own| count(own.count)),
                percent(part.share),
            ];
            match part.figures {
                Some(own) => {
                    row.extend(figures_of(own, |figure| mark(summary, name, path, figure)))
                }
                None => row.resize(table.head.len(), String::new()),
            }
            table.rows.push(row);
        }
    }
    (!table.rows.is_empty()).then_some(table)
}

/// Explanation of a rest, if any arm has one.
pub(super) fn rest(summary: &Summary) -> Option<&'static str> {
    let mut parts = summary.arms.values().flat_map(of);
    parts.any(|part| part.kind == Kind::Rest).then_some(
        "The rest of response times is in no part: exchanges that timed out, waiting for a connection that others made or used, and steps that began later than they should.",
    )
}

#[expect(clippy::cast_precision_loss, reason = "a sum for a share")]
fn sum(times: &TimeStatistics) -> f64 {
    times.mean.unwrap_or(0.0) * times.count as f64
}

fn share(part: f64, all: f64) -> f64 {
    if all > 0.0 { part / all } else { 0.0 }
}
