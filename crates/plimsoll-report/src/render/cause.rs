//! The bottleneck as lines of text for the terminal and for Markdown.

use crate::record::{Bottleneck, BottleneckConclusion, Summary};
use plimsoll_base::units::format_number;

/// Lines of one answer: the first is the answer; further ones, one level deeper, are causes with their evidence two levels deeper.
pub(super) fn lines(bottleneck: &Bottleneck) -> Vec<(usize, String)> {
    let mut lines = Vec::new();
    if bottleneck.causes.is_empty() {
        let word = match bottleneck.conclusion {
            BottleneckConclusion::Unknown => "unknown: ",
            BottleneckConclusion::Found | BottleneckConclusion::NothingGaveWay => "",
        };
        lines.push((0, format!("{word}{}", bottleneck.statement)));
    }
    for (place, cause) in bottleneck.causes.iter().enumerate() {
        let component = cause
            .component
            .as_ref()
            .map_or_else(String::new, |name| format!(" of {name}"));
        let rank = place + 1;
        lines.push((
            0,
            format!(
                "{rank}. {}{component}: {}",
                cause.kind.words(),
                cause.statement
            ),
        ));
        lines.extend(cause.evidence.iter().map(|line| (1, line.clone())));
        let predicted = cause.predicted_per_s;
        lines.extend(predicted.map(|per_s| {
            (
                1,
                format!("predicted limit: {} exchanges/s", format_number(per_s)),
            )
        }));
    }
    if bottleneck.conclusion != BottleneckConclusion::NothingGaveWay
        && !bottleneck.ruled_out.is_empty()
    {
        lines.push((1, format!("ruled out: {}", bottleneck.ruled_out.join("; "))));
    }
    if !bottleneck.unseen.is_empty() {
        lines.push((
            1,
            format!("not looked at: {}", bottleneck.unseen.join("; ")),
        ));
    }
    lines
}

/// Arms of which it is known, or known not to be known.
pub(super) fn of_arms(summary: &Summary) -> Vec<(&str, &Bottleneck)> {
    let arms = summary.arms.iter();
    arms.filter_map(|(name, arm)| Some((name.as_str(), arm.bottleneck.as_ref()?)))
        .collect()
}
