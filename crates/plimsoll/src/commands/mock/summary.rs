//! Summary of a mock that has ended.

use crate::out;
use plimsoll_mock::{Recordings, Summary};

/// Says what it did, and what it could not do.
pub fn say(summary: &Summary, seed: u64) {
    out::note(&format!(
        "mock: {} requests received, {} answered, {} unmatched; seed {seed}",
        summary.received, summary.served, summary.unmatched
    ));
    let limits = [
        ("were turned away: too many", summary.turned_away),
        ("were ended: their client took too long", summary.timed_out),
    ];
    for (words, count) in limits.into_iter().filter(|(_, count)| *count > 0) {
        out::note(&format!("mock: {count} connections {words}"));
    }
    let webhooks = [
        ("failed", summary.webhooks.failed),
        (
            "were lost: too many were under way, or the mock ended first",
            summary.webhooks.lost,
        ),
    ];
    for (words, count) in webhooks.into_iter().filter(|(_, count)| *count > 0) {
        out::note(&format!("mock: {count} webhooks {words}"));
    }
    if let Some(Recordings { mappings, missing }) = summary.recordings {
        out::note(&format!(
            "mock: {mappings} stub mappings recorded; {missing} requests are missing, for which there was no room"
        ));
    }
}
