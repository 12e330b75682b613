//! Links of an arm from the loads under delays: slopes, shapes, gains, and the one that callers would gain most without.

#[cfg(test)]
mod tests;

use crate::record::{
    Bend, Bounds, CriticalLink, DelayFigures, DelayPurpose, DelayRow, Gain, LinkShape, LinkSummary,
    Slopes, Statistic, TimeStatistics,
};
use crate::statistics::sensitivity::{
    Critical, Estimate, Level, Reading, Shape, critical, gain, saturated, shape, share, slope,
};
use plimsoll_base::units::format_seconds;
use std::collections::{BTreeMap, BTreeSet};

/// Exchanges of a load from which on its p99 has an upper 95 % bound.
const ENOUGH_FOR_P99: u64 = 299;

/// Turns and their delays explain so much more of a response time than they come to: counts and timers are not exact.
const EXPLAINED: f64 = 1.05;

/// A gain of a smaller share of the mean response time is none.
const WORTH_NAMING: f64 = 0.05;

/// Loads of one arm.
struct Rows<'a>(&'a [DelayRow]);

/// Links of an arm, in the order of their names, and which of them is critical; none without rows.
pub(super) fn summarise(rows: &[DelayRow], seed: u64) -> (Vec<LinkSummary>, Option<CriticalLink>) {
    let rows = Rows(rows);
    let links = rows.links();
    let mut names: BTreeMap<&str, u32> = BTreeMap::new();
    for link in &links {
        *names.entry(callee(link)).or_default() += 1;
    }
    let found = links.iter().map(|link| {
        let name = match names[callee(link)] {
            1 => callee(link),
            _ => link,
        };
        rows.link(name, link, seed)
    });
    let found: Vec<LinkSummary> = found.collect();
    let critical = rows.critical(&found);
    (found, critical)
}

/// Sentences on loads whose figures are not of good answers alone.
pub(super) fn notes(rows: &[DelayRow]) -> Vec<String> {
    let failed = rows.iter().filter(|row| row.failed > 0).count();
    let mut notes = Vec::new();
    if failed > 0 {
        notes.push(format!(
            "exchanges failed in {failed} of {} loads: slopes and gains rest on answers that came",
            rows.len()
        ));
    }
    let void = rows.iter().filter(|row| !row.void_for.is_empty()).count();
    if void > 0 {
        notes.push(format!(
            "{void} of {} loads are left out where criteria of validity reach their figures",
            rows.len()
        ));
    }
    notes.extend(Rows(rows).queueing());
    notes
}

impl DelayRow {
    /// Response times of a step, or of all of them.
    fn times(&self, step: Option<&str>) -> Option<&TimeStatistics> {
        match step {
            Some(step) => self.by_step.get(step),
            None => Some(&self.response_time),
        }
    }

    /// A figure of the response times of a step, or of all of them, unless a criterion of validity reaches it.
    fn figure_of(&self, step: Option<&str>, statistic: Statistic) -> Option<f64> {
        let value = self.times(step)?.get(statistic)?;
        (!self.void_for.contains(&statistic)).then_some(value)
    }

    fn figure(&self, statistic: Statistic) -> Option<f64> {
        self.figure_of(None, statistic)
    }
}

/// Of each round the shortest and the longest delay.
fn ends_of(rounds: &[Vec<Level>]) -> Vec<Vec<Level>> {
    let by_delay = |one: &&Level, other: &&Level| one.delay_s.total_cmp(&other.delay_s);
    let ends = rounds.iter().filter_map(|levels| {
        let first = levels.iter().min_by(by_delay)?;
        let last = levels.iter().max_by(by_delay)?;
        Some(vec![*first, *last])
    });
    ends.collect()
}

/// Whom a link leads to.
fn callee(link: &str) -> &str {
    link.split_once(" -> ").map_or(link, |(_, to)| to)
}

impl Rows<'_> {
    fn links(&self) -> BTreeSet<&str> {
        let rows = self.0.iter();
        rows.flat_map(|row| row.links.keys().map(String::as_str))
            .collect()
    }

    /// Loads of a round that help to answer a question about a link, those without any delay included.
    fn of<'a>(
        &'a self,
        question: impl Fn(&DelayPurpose) -> Option<Option<&str>> + 'a,
        link: &'a str,
    ) -> BTreeMap<u32, Vec<&'a DelayRow>> {
        let mut rounds: BTreeMap<u32, Vec<&DelayRow>> = BTreeMap::new();
        for row in self.0 {
            if question(&row.purpose).is_some_and(|of| of.is_none_or(|of| of == link)) {
                rounds.entry(row.round).or_default().push(row);
            }
        }
        rounds
    }

    /// A figure over the delays of a link, round by round.
    fn levels(
        &self,
        question: impl Fn(&DelayPurpose) -> Option<Option<&str>>,
        link: &str,
        figure: impl Fn(&DelayRow) -> Option<f64>,
    ) -> Vec<Vec<Level>> {
        let rounds = self.of(question, link);
        let level = |row: &&DelayRow| {
            Some(Level {
                delay_s: row.delayed.get(link).copied().unwrap_or(0.0),
                value: figure(row)?,
            })
        };
        let whole = rounds
            .into_values()
            .map(|rows| -> Vec<Level> { rows.iter().filter_map(level).collect() });
        whole.filter(|levels| levels.len() > 1).collect()
    }

    fn link(&self, name: &str, link: &str, seed: u64) -> LinkSummary {
        let by_mean = |row: &DelayRow| row.figure(Statistic::Mean);
        let means = self.levels(of_slope, link, by_mean);
        let mean = slope(&means);
        // By the same two delays as at half the rate: a line that bends has another slope over more of them.
        let ends = slope(&ends_of(&means));
        let median = self.levels(of_slope, link, |row| row.figure(Statistic::P50));
        let median = slope(&median);
        let half = slope(&self.levels(at_half, link, by_mean));
        let is_saturated = ends.as_ref().zip(half.as_ref());
        let is_saturated = is_saturated.map(|(full, half)| saturated(full, half));
        let shape = shape(&means, seed);
        let turns = self.turns(link);
        let per_exchange = turns.map(|(per_exchange, _)| per_exchange);
        let reading = match (&mean, &median, per_exchange) {
            (Some(_), _, _) if is_saturated == Some(true) => {
                "includes queueing: at half the rate a delay costs something else".to_owned()
            }
            (_, _, Some(0.0)) => "nothing passed on it".to_owned(),
            (Some(mean), Some(median), Some(turns)) => {
                Reading::of(mean, median, turns).sentence().to_owned()
            }
            _ => "too few rounds to tell".to_owned(),
        };
        let may_queue = is_saturated.unwrap_or_else(|| {
            // Whoever is not held against half the rate has no slope, and so closely that no queue is in it.
            let most = per_exchange.unwrap_or_default().max(1.0);
            mean.as_ref()
                .is_none_or(|mean| mean.low > 0.0 || mean.high > most)
        });
        let is_told = !may_queue && self.queueing().is_none();
        let gain = self.gain(link).filter(|_| is_told);
        LinkSummary {
            name: name.to_owned(),
            link: link.to_owned(),
            slope: self.slopes(link, None),
            by_step: self
                .steps()
                .into_iter()
                .map(|step| (step.to_owned(), self.slopes(link, Some(step))))
                .collect(),
            turns_per_exchange: per_exchange,
            turn_time_s: turns.and_then(|(_, time)| time),
            bend: match shape {
                Shape::Bends { before, after, .. } => Some(Bend { before, after }),
                Shape::Straight | Shape::Flattens | Shape::Unclear => None,
            },
            shape: match shape {
                Shape::Straight => LinkShape::Straight,
                Shape::Bends { .. } => LinkShape::Bends,
                Shape::Flattens => LinkShape::Flattens,
                Shape::Unclear => LinkShape::Unclear,
            },
            hinge_s: match shape {
                Shape::Bends { hinge_s, .. } => Some(bounds(&hinge_s)),
                Shape::Straight | Shape::Flattens | Shape::Unclear => None,
            },
            saturated: is_saturated,
            gain,
            reading,
            delays: self.delays(link),
        }
    }

    /// Steps, where there are several.
    fn steps(&self) -> Vec<&str> {
        let first = self.0.first();
        let steps = first.into_iter().flat_map(|row| row.by_step.keys());
        steps.map(String::as_str).collect()
    }

    /// Slopes of the response times of a step, or of all of them.
    fn slopes(&self, link: &str, step: Option<&str>) -> Slopes {
        let of = |statistic| {
            let levels = self.levels(of_slope, link, |row| row.figure_of(step, statistic));
            slope(&levels).as_ref().map(bounds)
        };
        let rounds = self.of(of_slope, link);
        let mut counts = rounds.values().flatten().map(|row| row.times(step));
        let is_enough =
            counts.all(|times| times.is_some_and(|times| times.count >= ENOUGH_FOR_P99));
        Slopes {
            mean: of(Statistic::Mean),
            p50: of(Statistic::P50),
            p99: of(Statistic::P99).filter(|_| is_enough),
        }
    }

    /// Turns per exchange and mean time of a turn, over the loads without any delay.
    fn turns(&self, link: &str) -> Option<(f64, Option<f64>)> {
        let plain = self
            .0
            .iter()
            .filter(|row| row.purpose == DelayPurpose::Slope(None));
        let turns: Vec<_> = plain.filter_map(|row| row.links.get(link)).collect();
        if turns.is_empty() {
            return None;
        }
        #[expect(clippy::cast_precision_loss, reason = "a number of loads")]
        let mean = turns.iter().map(|turns| turns.per_exchange).sum::<f64>() / turns.len() as f64;
        let timed = turns
            .iter()
            .filter_map(|turns| Some((turns.turns, turns.turn_time_s?)));
        #[expect(clippy::cast_precision_loss, reason = "a weight")]
        let (weight, sum) = timed.fold((0.0, 0.0), |(weight, sum), (count, time)| {
            (weight + count as f64, sum + count as f64 * time)
        });
        Some((mean, (weight > 0.0).then(|| sum / weight)))
    }

    fn gain(&self, link: &str) -> Option<Gain> {
        let rounds = self.of(of_gain, link);
        let mean = |rows: &[&DelayRow], of: Option<&str>| {
            let mut rows = rows.iter();
            let row = rows.find(|row| of_gain(&row.purpose) == Some(of))?;
            // A delay that makes exchanges fail takes what they would have lasted out of the mean.
            row.figure(Statistic::Mean).filter(|_| row.failed == 0)
        };
        let pairs: Vec<(f64, f64)> = rounds
            .values()
            .filter_map(|rows| Some((mean(rows, None)?, mean(rows, Some(link))?)))
            .collect();
        let found = gain(&pairs)?;
        Some(Gain {
            value: found.value,
            low: found.low,
            high: found.high,
            share: self
                .baseline()
                .and_then(|baseline| share(&found, baseline))
                .map(|share| share.value),
        })
    }

    /// The mean response time without any delay.
    fn baseline(&self) -> Option<f64> {
        let means = self.means(&DelayPurpose::Slope(None));
        #[expect(clippy::cast_precision_loss, reason = "a number of loads")]
        (!means.is_empty()).then(|| means.iter().sum::<f64>() / means.len() as f64)
    }

    /// The mean response times of the loads of a purpose.
    fn means(&self, purpose: &DelayPurpose) -> Vec<f64> {
        let rows = self.0.iter().filter(|row| row.purpose == *purpose);
        rows.filter_map(|row| row.figure(Statistic::Mean)).collect()
    }

    /// A sentence where exchanges last longer with all links delayed than turns and delays explain: they queue then, and a difference between
    /// two such loads is no gain.
    fn queueing(&self) -> Option<String> {
        let all_delayed = DelayPurpose::Gain(None);
        let plain = Estimate::of(&self.means(&DelayPurpose::Slope(None)))?;
        let found = Estimate::of(&self.means(&all_delayed))?;
        let row = self.0.iter().find(|row| row.purpose == all_delayed)?;
        let added = row.delayed.iter().map(|(link, delay)| {
            let turns = self.turns(link);
            turns.map_or(0.0, |(per_exchange, _)| per_exchange * delay)
        });
        let explained = (plain.high + added.sum::<f64>()) * EXPLAINED;
        (found.low > explained).then(|| {
            format!(
                "no gain is claimed: with all links delayed exchanges took {}, and their turns explain {} at most: the rest was queueing",
                format_seconds(found.value),
                format_seconds(explained)
            )
        })
    }

    fn delays(&self, link: &str) -> Vec<DelayFigures> {
        let mut by_delay: BTreeMap<u64, (Vec<f64>, u64)> = BTreeMap::new();
        for row in self.of(of_slope, link).into_values().flatten() {
            let delay = row.delayed.get(link).copied().unwrap_or(0.0);
            // The bits of numbers that are not negative ascend as these do.
            let (means, exchanges) = by_delay.entry(delay.to_bits()).or_default();
            means.extend(row.figure(Statistic::Mean));
            *exchanges += row.exchanges;
        }
        let figures = by_delay.into_iter();
        let figures = figures.map(|(delay, (means, exchanges))| DelayFigures {
            delay_s: f64::from_bits(delay),
            mean_s: Estimate::of(&means).as_ref().map(bounds),
            exchanges,
        });
        figures.collect()
    }

    /// That no gain is told apart from none: because there is none, or because its interval is too wide.
    fn no_gain(&self, gains: &[(&str, Estimate)]) -> String {
        let most = gains.iter().map(|(_, gain)| gain.high).fold(0.0, f64::max);
        let worth_naming = self.baseline().unwrap_or_default() * WORTH_NAMING;
        match most > worth_naming {
            true => format!(
                "whether callers would gain anything without a dependency is not told: none, or up to {}",
                format_seconds(most)
            ),
            false => "callers would gain nothing without any of these dependencies".to_owned(),
        }
    }

    fn critical(&self, links: &[LinkSummary]) -> Option<CriticalLink> {
        let gains: Vec<(&str, Estimate)> = links
            .iter()
            .filter_map(|link| {
                let Gain {
                    value, low, high, ..
                } = link.gain?;
                Some((link.name.as_str(), Estimate { value, low, high }))
            })
            .collect();
        if gains.is_empty() {
            return None;
        }
        let of = self.baseline().map_or(String::new(), |baseline| {
            format!(" of {}", format_seconds(baseline))
        });
        let said = |index: usize| {
            let (name, gain) = &gains[index];
            format!(
                "{name}: without it callers would be answered {} sooner{of} ({} to {})",
                format_seconds(gain.value),
                format_seconds(gain.low.max(0.0)),
                format_seconds(gain.high.max(0.0))
            )
        };
        let rises = |link: &&LinkSummary| link.slope.mean.is_some_and(|slope| slope.low > 0.0);
        let unknown: Vec<&str> = links
            .iter()
            .filter(|link| link.gain.is_none())
            .filter(rises)
            .map(|link| link.name.as_str())
            .collect();
        Some(match critical(&gains) {
            Critical::One(index) if !unknown.is_empty() => CriticalLink {
                name: None,
                sentence: format!(
                    "of the dependencies whose gain is known the largest is {}; callers wait for {}, too, whose gain is not",
                    said(index),
                    unknown.join(", ")
                ),
            },
            Critical::One(index) => CriticalLink {
                name: Some(gains[index].0.to_owned()),
                sentence: format!("critical is {}", said(index)),
            },
            Critical::NotToldApart(indices) => CriticalLink {
                name: None,
                sentence: format!(
                    "which dependency is critical is not told apart: {}",
                    indices.into_iter().map(said).collect::<Vec<_>>().join("; ")
                ),
            },
            Critical::None => CriticalLink {
                name: None,
                sentence: self.no_gain(&gains),
            },
        })
    }
}

fn of_slope(purpose: &DelayPurpose) -> Option<Option<&str>> {
    match purpose {
        DelayPurpose::Slope(link) => Some(link.as_deref()),
        DelayPurpose::HalfRate(_) | DelayPurpose::Gain(_) => None,
    }
}

fn at_half(purpose: &DelayPurpose) -> Option<Option<&str>> {
    match purpose {
        DelayPurpose::HalfRate(link) => Some(link.as_deref()),
        DelayPurpose::Slope(_) | DelayPurpose::Gain(_) => None,
    }
}

fn of_gain(purpose: &DelayPurpose) -> Option<Option<&str>> {
    match purpose {
        DelayPurpose::Gain(link) => Some(link.as_deref()),
        DelayPurpose::Slope(_) | DelayPurpose::HalfRate(_) => None,
    }
}

fn bounds(estimate: &Estimate) -> Bounds {
    Bounds {
        value: estimate.value,
        low: estimate.low,
        high: estimate.high,
    }
}

/// Links whose slope is above 0, as far as these rounds tell: those that are worth a look at half the rate.
#[must_use]
pub fn with_slope(rows: &[DelayRow]) -> BTreeSet<String> {
    let rows = Rows(rows);
    let links = rows.links();
    let rises = |link: &&str| {
        let slope = slope(&rows.levels(of_slope, link, |row| row.figure(Statistic::Mean)));
        slope.is_some_and(|slope| slope.low > 0.0)
    };
    links.into_iter().filter(rises).map(str::to_owned).collect()
}
