//! The link that callers would gain most without, as far as the gains that are known tell it.

use super::Rows;
use crate::record::{CriticalLink, Gain, LinkSummary};
use crate::statistics::sensitivity::{Critical, Estimate, NEGLIGIBLE_SLOPE, critical};
use plimsoll_base::units::format_seconds;

/// A gain of a smaller share of the mean response time is none.
const WORTH_NAMING: f64 = 0.05;

/// Names of links that callers may wait for and whose gain is not known.
pub(crate) fn without_gain(links: &[LinkSummary]) -> Vec<&str> {
    let may_cost = |link: &&LinkSummary| {
        let mean = link.slope.mean;
        link.gain.is_none()
            && link.turns_per_exchange != Some(0.0)
            && mean.is_none_or(|slope| slope.high > NEGLIGIBLE_SLOPE)
    };
    let unknown = links.iter().filter(may_cost);
    unknown.map(|link| link.name.as_str()).collect()
}

impl Rows<'_> {
    /// The answer; none where callers wait for no link, or where another sentence says why no gain is claimed.
    pub(super) fn critical(&self, links: &[LinkSummary]) -> Option<CriticalLink> {
        let unknown = without_gain(links);
        let gains: Vec<(&str, Estimate)> = links
            .iter()
            .filter_map(|link| {
                let Gain {
                    value, low, high, ..
                } = link.gain?;
                Some((link.name.as_str(), Estimate { value, low, high }))
            })
            .collect();
        if gains.is_empty() && (unknown.is_empty() || self.why_no_gain().is_some()) {
            return None;
        }
        let said = |index: usize| self.gain_of(&gains[index]);
        let (name, sentence) = match critical(&gains) {
            Critical::One(index) if unknown.is_empty() => {
                let (name, _) = gains[index];
                (
                    Some(name.to_owned()),
                    format!("critical is {}", said(index)),
                )
            }
            Critical::One(index) => (
                None,
                format!(
                    "of the dependencies whose gain is known the largest is {}",
                    said(index)
                ),
            ),
            Critical::NotToldApart(indices) => (
                None,
                format!(
                    "which dependency is critical is not told apart: {}",
                    indices.into_iter().map(said).collect::<Vec<_>>().join("; ")
                ),
            ),
            Critical::None if gains.is_empty() => {
                (None, "which dependency is critical is not known".to_owned())
            }
            Critical::None => (None, self.no_gain(&gains)),
        };
        let beside = match unknown.is_empty() {
            true => String::new(),
            false => format!(
                "; callers may wait for {}, whose gain is not known",
                unknown.join(", ")
            ),
        };
        Some(CriticalLink {
            name,
            sentence: sentence + &beside,
        })
    }

    fn gain_of(&self, (name, gain): &(&str, Estimate)) -> String {
        let of = self.baseline().map_or(String::new(), |baseline| {
            format!(" of {}", format_seconds(baseline))
        });
        format!(
            "{name}: without it callers would be answered {} sooner{of} ({} to {})",
            format_seconds(gain.value),
            format_seconds(gain.low.max(0.0)),
            format_seconds(gain.high.max(0.0))
        )
    }

    /// That no gain is told apart from none: because there is none, or because its interval is too wide.
    fn no_gain(&self, gains: &[(&str, Estimate)]) -> String {
        let names: Vec<&str> = gains.iter().map(|(name, _)| *name).collect();
        let names = names.join(" or ");
        let most = gains.iter().map(|(_, gain)| gain.high).fold(0.0, f64::max);
        let worth_naming = self.baseline().unwrap_or_default() * WORTH_NAMING;
        match most > worth_naming {
            true => format!(
                "whether callers would gain anything without {names} is not told: none, or up to {}",
                format_seconds(most)
            ),
            false => format!("callers would gain nothing without {names}"),
        }
    }
}
