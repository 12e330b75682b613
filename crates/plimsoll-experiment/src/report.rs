//! `report`: how figures are shown. Nothing here changes what is measured.

use plimsoll_base::document::Path as Pointer;
use plimsoll_report::record::Ranges;

use super::loader::Loader;
use super::wire::ReportWire;

/// Bounds of the ranges of response times.
pub(super) fn ranges(loader: &mut Loader<'_>, wire: Option<&ReportWire>) -> Ranges {
    let Some(bounds) = wire.and_then(|report| report.ranges.as_ref()) else {
        return Ranges::default();
    };
    let seconds = bounds.iter().map(|bound| bound.as_secs_f64()).collect();
    match Ranges::try_new(seconds) {
        Ok(ranges) => ranges,
        Err(error) => {
            let at = Pointer::root().key("report").key("ranges");
            loader.refuse(
                at,
                format!("{error}: write for instance `[100ms, 1s, 10s]`"),
            );
            Ranges::default()
        }
    }
}
