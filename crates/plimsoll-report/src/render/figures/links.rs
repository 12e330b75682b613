//! The table of links: slopes, turns and gains, arms below each other.

use crate::record::{ArmSummary, Bounds, Gain, LinkShape, LinkSummary, Summary};
use crate::render::table::Table;
use crate::render::words::{signed_time, time};
use std::collections::BTreeSet;

/// Absent figures.
const NOTHING: &str = "–";

/// Links with what a delay of each costs; `None` where there are none. A link that several arms have says of which each row is.
pub(in crate::render) fn links(summary: &Summary) -> Option<Table> {
    let links = || summary.arms.values().flat_map(|arm| &arm.links);
    links().next()?;
    let distinct: BTreeSet<&str> = links().map(|link| link.link.as_str()).collect();
    let shared = distinct.len() < links().count();
    let mut table = Table::new(
        ["link"]
            .into_iter()
            .chain(shared.then_some("arm"))
            .chain(["slope mean", "p50", "p99", "turns", "turn time"])
            .chain(["gain", "of mean", "shape"]),
    )
    .with_words(if shared { &[1, 9] } else { &[8] });
    for (arm, figures) in &summary.arms {
        for link in &figures.links {
            let mut row = vec![link.link.clone()];
            row.extend(shared.then(|| arm.clone()));
            row.extend(cells(link));
            table.rows.push(row);
        }
    }
    Some(table)
}

/// Slopes of each step by itself; `None` where there is one step.
pub(in crate::render) fn by_step(summary: &Summary) -> Option<Table> {
    let links = || {
        summary
            .arms
            .iter()
            .flat_map(|(arm, of)| of.links.iter().map(move |link| (arm, link)))
    };
    links().find(|(_, link)| !link.by_step.is_empty())?;
    let several_arms = summary.arms.len() > 1;
    let mut table = Table::new(
        ["link"]
            .into_iter()
            .chain(several_arms.then_some("arm"))
            .chain(["step", "slope mean", "p50", "p99"]),
    )
    .with_words(if several_arms { &[1, 2] } else { &[1] });
    for (arm, link) in links() {
        for (step, slopes) in &link.by_step {
            let mut row = vec![link.link.clone()];
            row.extend(several_arms.then(|| arm.clone()));
            row.push(step.clone());
            row.extend([slopes.mean, slopes.p50, slopes.p99].map(slope));
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
        let links = links.map(|link| match &link.why_no_gain {
            Some(why) => format!(
                "{}: {}; its gain is not known: {why}",
                link.link, link.reading
            ),
            None => format!("{}: {}", link.link, link.reading),
        });
        let said = critical.chain(links).map(|sentence| match several_arms {
            true => format!("{name}: {sentence}"),
            false => sentence,
        });
        said.collect()
    };
    summary.arms.iter().flat_map(of_arm).collect()
}

fn cells(link: &LinkSummary) -> Vec<String> {
    let share = link.gain.and_then(|gain| gain.share);
    vec![
        slope(link.slope.mean),
        slope(link.slope.p50),
        slope(link.slope.p99),
        link.turns_per_exchange
            .map_or(NOTHING.to_owned(), |turns| format!("{turns:.2}")),
        time(link.turn_time_s),
        link.gain.as_ref().map_or(NOTHING.to_owned(), gain),
        share.map_or(NOTHING.to_owned(), |share| {
            format!("{:.0} %", 100.0 * share.max(0.0))
        }),
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
    format!("{value} ({low} to {high})")
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
