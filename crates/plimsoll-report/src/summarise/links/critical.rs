//! The link that callers would gain most without, as far as the gains that are known tell it.

use super::Rows;
use crate::record::{CriticalLink, Gain, LinkSummary};
use crate::statistics::sensitivity::{Critical, Estimate, critical};
use plimsoll_base::units::format_seconds;

/// Gains of a smaller share of the mean response time are next to nothing.
const WORTH_NAMING: f64 = 0.05;

impl Rows<'_> {
    /// The answer; none where callers wait for no link. `doubt`: why no gain is known, if there is a reason that concerns all.
    pub(super) fn critical(
        &self,
        links: &[LinkSummary],
        doubt: Option<String>,
    ) -> Option<CriticalLink> {
        let unnamed = |sentence: String| CriticalLink {
            name: None,
            sentence,
        };
        if let Some(doubt) = doubt {
            return Some(unnamed(format!("no gain is claimed: {doubt}")));
        }
        let gains: Vec<(&str, Estimate)> = links
            .iter()
            .filter_map(|link| {
                let Gain {
                    value, low, high, ..
                } = link.gain?;
                Some((link.name.as_str(), Estimate { value, low, high }))
            })
            .collect();
        let unknown: Vec<String> = links.iter().filter_map(unknown).collect();
        let and_unknown = |sentence: String| match unknown.is_empty() {
            true => sentence,
            false => format!("{sentence}. Not known: {}", unknown.join("; ")),
        };
        let said = |index: usize| self.gain_of(&gains[index]);
        let sentence = match critical(&gains) {
            _ if gains.is_empty() && unknown.is_empty() => return None,
            _ if gains.is_empty() => {
                format!("no dependency's gain is known: {}", unknown.join("; "))
            }
            Critical::One(index) if unknown.is_empty() => {
                let (name, _) = gains[index];
                return Some(CriticalLink {
                    name: Some(name.to_owned()),
                    sentence: format!("critical is {}", said(index)),
                });
            }
            Critical::One(index) => and_unknown(format!(
                "the largest gain that is known is that of {}",
                said(index)
            )),
            Critical::NotToldApart(indices) => {
                let each: Vec<String> = indices.iter().map(|index| said(*index)).collect();
                let close: Vec<Estimate> = indices.iter().map(|index| gains[*index].1).collect();
                and_unknown(format!(
                    "which dependency is critical is not told apart: {}; {}",
                    each.join("; "),
                    more_rounds(&close, self.rounds_of_gains(links))
                ))
            }
            Critical::None => and_unknown(self.no_gain(&gains)),
        };
        Some(unnamed(sentence))
    }

    /// How many rounds each gain rests on at least.
    fn rounds_of_gains(&self, links: &[LinkSummary]) -> usize {
        let with_gain = links.iter().filter(|link| link.gain.is_some());
        let rounds = with_gain.map(|link| self.gain_pairs(&link.link).len());
        rounds.min().unwrap_or_default()
    }

    fn gain_of(&self, (name, gain): &(&str, Estimate)) -> String {
        let of = self.baseline().map_or(String::new(), |baseline| {
            format!(" of {}", format_seconds(baseline))
        });
        let [value, low, high] =
            [gain.value, gain.low, gain.high].map(|s| format_seconds(s.max(0.0)));
        format!("{name}: without it callers would be answered {value} sooner{of} ({low} to {high})")
    }

    /// That no gain is told apart from none: because it is small at most, or because its interval is too wide.
    fn no_gain(&self, gains: &[(&str, Estimate)]) -> String {
        let names: Vec<&str> = gains.iter().map(|(name, _)| *name).collect();
        let names = names.join(" or ");
        let most = gains.iter().map(|(_, gain)| gain.high).fold(0.0, f64::max);
        let worth_naming = self.baseline().unwrap_or_default() * WORTH_NAMING;
        let most = (most, format_seconds(most));
        match most.0 > worth_naming {
            true => format!(
                "whether callers would gain anything without {names} is not told: none, or up to {}",
                most.1
            ),
            false => format!(
                "callers would gain next to nothing without {names}: {} at most",
                most.1
            ),
        }
    }
}

/// How many more rounds would tell the first gain apart from all others, which so many did not.
fn more_rounds(gains: &[Estimate], rounds: usize) -> String {
    let [first, others @ ..] = gains else {
        return String::new();
    };
    let more = others
        .iter()
        .map(|other| first.blocks_to_part(other, rounds));
    match more.collect::<Option<Vec<usize>>>() {
        Some(more) => format!(
            "about {} more rounds would tell",
            more.into_iter().max().unwrap_or_default()
        ),
        None => "no practical number of rounds would decide it".to_owned(),
    }
}

/// A link whose gain is not known, with the reason.
fn unknown(link: &LinkSummary) -> Option<String> {
    let why = link.why_no_gain.as_ref()?;
    Some(format!("{}, for {why}", link.name))
}
