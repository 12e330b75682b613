//! The table of links: slopes, turns and gains, arms below each other.

use crate::record::{ArmSummary, Bounds, Gain, LinkShape, LinkSummary, Summary};
use crate::render::table::Table;
use crate::render::words::{signed_time, time};

/// Absent figures.
const NOTHING: &str = "–";

/// Links with what a delay of each costs; `None` where there are none.
pub(in crate::render) fn links(summary: &Summary) -> Option<Table> {
    if summary.arms.values().all(|arm| arm.links.is_empty()) {
        return None;
    }
    let several_arms = summary.arms.len() > 1;
    let mut table = Table::new(
        several_arms
            .then_some("arm")
            .into_iter()
            .chain(["link", "slope mean", "p50", "p99", "turns", "turn time"])
            .chain(["gain", "shape"]),
    )
    .with_words(if several_arms { &[1, 8] } else { &[7] });
    for (arm, figures) in &summary.arms {
        let mut name = arm.clone();
        for link in &figures.links {
            let mut row = Vec::new();
            row.extend(several_arms.then(|| std::mem::take(&mut name)));
            row.extend(cells(link));
            table.rows.push(row);
        }
    }
    Some(table)
}

/// Answers below the table: the dependency of each arm that callers would gain most without, and how callers use each link.
pub(in crate::render) fn answers(summary: &Summary) -> Vec<String> {
    let several_arms = summary.arms.len() > 1;
    let of_arm = |(name, arm): (&String, &ArmSummary)| -> Vec<String> {
        let critical = arm.critical_link.iter();
        let critical = critical.map(|found| found.sentence.clone());
        let links = arm.links.iter();
        let links = links.map(|link| format!("{}: {}", link.link, link.reading));
        let said = critical.chain(links).map(|sentence| match several_arms {
            true => format!("{name}: {sentence}"),
            false => sentence,
        });
        said.collect()
    };
    summary.arms.iter().flat_map(of_arm).collect()
}

fn cells(link: &LinkSummary) -> Vec<String> {
    vec![
        link.link.clone(),
        slope(link.slope.mean),
        slope(link.slope.p50),
        slope(link.slope.p99),
        link.turns_per_exchange
            .map_or(NOTHING.to_owned(), |turns| format!("{turns:.2}")),
        time(link.turn_time_s),
        link.gain.as_ref().map_or(NOTHING.to_owned(), gain),
        shape(link),
    ]
}

/// `1.00 (0.97 to 1.03)`.
fn slope(slope: Option<Bounds>) -> String {
    slope.map_or(NOTHING.to_owned(), |Bounds { value, low, high }| {
        format!("{value:.2} ({low:.2} to {high:.2})")
    })
}

fn gain(gain: &Gain) -> String {
    let [value, low, high] = [gain.value, gain.low, gain.high].map(signed_time);
    let share = gain.share.map_or(String::new(), |share| {
        format!(", {:.0} % of the mean", 100.0 * share.max(0.0))
    });
    format!("{value} ({low} to {high}){share}")
}

/// The shape in words, with the slack.
pub(in crate::render) fn shape(link: &LinkSummary) -> String {
    match (link.shape, link.hinge_s) {
        (LinkShape::Bends, Some(hinge)) => {
            let slopes = link.bend.map_or(String::new(), |bend| {
                format!(", from {:.2} to {:.2}", bend.before, bend.after)
            });
            format!("bends at {}{slopes}", time(Some(hinge.value)))
        }
        (LinkShape::Bends, None) => "bends".to_owned(),
        (LinkShape::Straight, _) => "straight".to_owned(),
        (LinkShape::Flattens, _) => "flattens".to_owned(),
        (LinkShape::Unclear, _) => "not told".to_owned(),
    }
}
