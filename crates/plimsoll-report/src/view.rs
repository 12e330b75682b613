//! Everything a renderer may use, read from a run directory by the caller.

use crate::record::{EventRow, Manifest, SeriesRow, Summary};
use indexmap::IndexMap;
use plimsoll_base::histogram::TimeHistogram;
use plimsoll_base::time_kind::TimeKind;
use std::collections::BTreeMap;

/// One finished or interrupted run. Renderers are pure functions of it.
#[derive(Debug, Clone)]
pub struct RunView {
    /// Where the run directory lies, for people; empty when it was not kept.
    pub location: String,
    /// `manifest.json`.
    pub manifest: Manifest,
    /// `summary.json`.
    pub summary: Summary,
    /// `series.jsonl`, in its order.
    pub series: Vec<SeriesRow>,
    /// `events.jsonl`, in its order.
    pub events: Vec<EventRow>,
    /// `hist/<arm>.hlog` merged over the measured time of all blocks, by arm and kind. Arms without a log are absent.
    pub histograms: IndexMap<String, BTreeMap<TimeKind, TimeHistogram>>,
}
