//! `report` as written.

use deserr::Deserr;
use plimsoll_base::document::DurationText;
use schemars::JsonSchema;

/// How figures are shown.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(rename = "Report", deny_unknown_fields)]
pub struct ReportWire {
    /// Bounds between the ranges into which reports sort response times, ascending. Default: `[100ms, 1s, 10s]`.
    #[deserr(default)]
    pub ranges: Option<Vec<DurationText>>,
}
