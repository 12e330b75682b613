//! Links of an arm from the loads under delays: slopes, shapes, gains, and the one that callers would gain most without.

mod critical;
mod gain;
#[cfg(test)]
mod tests;

use crate::record::{
    Bend, Bounds, CriticalLink, DelayFigures, DelayPurpose, DelayRow, LinkShape, LinkSummary,
    Slopes, Statistic, TimeStatistics, UndelayedPeer,
};
use crate::statistics::sensitivity::{Estimate, Level, Reading, Shape, saturated, shape, slope};
use std::collections::{BTreeMap, BTreeSet};

/// Exchanges of a load from which on its p99 has an upper 95 % bound.
const ENOUGH_FOR_P99: u64 = 299;

/// Loads of one arm.
struct Rows<'a>(&'a [DelayRow]);

/// Findings on the links of an arm.
#[derive(Debug, Default)]
pub(super) struct Dependencies {
    /// In the order of their names; none without rows.
    pub links: Vec<LinkSummary>,
    /// The one that is critical, or why none is named.
    pub critical: Option<CriticalLink>,
    /// Whom components were connected with where no delayed link leads, each once.
    pub undelayed_peers: Vec<UndelayedPeer>,
    /// Sentences on loads whose figures are not of good answers alone.
    pub notes: Vec<String>,
}

/// The links of an arm by its loads under delays.
pub(super) fn summarise(rows: &[DelayRow], seed: u64) -> Dependencies {
    let rows = Rows(rows);
    let links = rows.links();
    let mut names: BTreeMap<&str, u32> = BTreeMap::new();
    for link in &links {
        *names.entry(callee(link)).or_default() += 1;
    }
    let doubt = rows.doubt();
    let found = links.iter().map(|link| {
        let name = match names[callee(link)] {
            1 => callee(link),
            _ => link,
        };
        rows.link((name, link), doubt.as_deref(), seed)
    });
    let found: Vec<LinkSummary> = found.collect();
    let peers = rows.0.iter().flat_map(|row| &row.undelayed_peers);
    let peers: BTreeSet<&UndelayedPeer> = peers.collect();
    Dependencies {
        critical: rows.critical(&found, doubt),
        links: found,
        undelayed_peers: peers.into_iter().cloned().collect(),
        notes: rows.notes(),
    }
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

    /// The delay of a link that was planned for this load.
    fn planned_delay(&self, link: &str) -> f64 {
        self.delayed.get(link).copied().unwrap_or(0.0)
    }

    /// The delay of a link as it was in the mean: that it waits for a timer, and for a processor once more, comes on top of each delay, and
    /// not of none at all.
    fn mean_delay(&self, link: &str) -> f64 {
        let late = self.links.get(link).and_then(|turns| turns.late_s);
        self.planned_delay(link) + late.unwrap_or(0.0)
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

    /// A figure over the planned delays of a link, round by round.
    fn levels(
        &self,
        question: impl Fn(&DelayPurpose) -> Option<Option<&str>>,
        link: &str,
        figure: impl Fn(&DelayRow) -> Option<f64>,
    ) -> Vec<Vec<Level>> {
        self.levels_at(DelayRow::planned_delay, question, link, figure)
    }

    /// The mean response time over the mean delays of a link, round by round.
    fn means_by_delay(
        &self,
        question: impl Fn(&DelayPurpose) -> Option<Option<&str>>,
        link: &str,
        step: Option<&str>,
    ) -> Vec<Vec<Level>> {
        self.levels_at(DelayRow::mean_delay, question, link, |row| {
            row.figure_of(step, Statistic::Mean)
        })
    }

    /// The mean response time over the planned delays of a link, which are alike in all rounds.
    fn means_by_planned_delay(&self, link: &str) -> Vec<Vec<Level>> {
        self.levels(of_slope, link, |row| row.figure(Statistic::Mean))
    }

    fn levels_at(
        &self,
        delay: impl Fn(&DelayRow, &str) -> f64,
        question: impl Fn(&DelayPurpose) -> Option<Option<&str>>,
        link: &str,
        figure: impl Fn(&DelayRow) -> Option<f64>,
    ) -> Vec<Vec<Level>> {
        let rounds = self.of(question, link);
        let level = |row: &&DelayRow| {
            Some(Level {
                delay_s: delay(row, link),
                value: figure(row)?,
            })
        };
        let whole = rounds
            .into_values()
            .map(|rows| -> Vec<Level> { rows.iter().filter_map(level).collect() });
        whole.filter(|levels| levels.len() > 1).collect()
    }

    /// A link by its name. `doubt`: why no difference between loads with all links delayed is a gain, if there is a reason.
    fn link(&self, (name, link): (&str, &str), doubt: Option<&str>, seed: u64) -> LinkSummary {
        let slopes = self.slopes(link, None);
        let is_saturated = self.is_saturated(link);
        let means = self.means_by_delay(of_slope, link, None);
        let shape = shape(&means, &self.means_by_planned_delay(link), seed);
        let turns = self.turns(link);
        let per_exchange = turns.map(|(per_exchange, _)| per_exchange);
        let reading = match (self.reading(link), per_exchange) {
            _ if is_saturated == Some(true) => {
                "includes queueing: at half the rate a delay costs something else"
            }
            (_, Some(0.0)) => "nothing passed on it",
            (Some(reading), _) => reading.sentence(),
            (None, _) => "too few rounds to tell",
        };
        let gain = self.gain(link);
        let why_no_gain = self.why_no_gain(link, gain.is_some(), doubt);
        LinkSummary {
            name: name.to_owned(),
            link: link.to_owned(),
            slope: slopes,
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
            gain: gain.filter(|_| why_no_gain.is_none() && doubt.is_none()),
            why_no_gain,
            reading: reading.to_owned(),
            delays: self.delays(link),
        }
    }

    /// The slope at half the rate, between no delay and the longest; `None` where that was not measured.
    fn half_slope(&self, link: &str) -> Option<Estimate> {
        slope(&self.means_by_delay(at_half, link, None))
    }

    /// Whether the slope is another at half the rate; `None` where that was not measured.
    fn is_saturated(&self, link: &str) -> Option<bool> {
        // By the same two delays as at half the rate: a line that bends has another slope over more of them.
        let full = slope(&ends_of(&self.means_by_delay(of_slope, link, None)))?;
        Some(saturated(&full, &self.half_slope(link)?))
    }

    /// How callers use a link, by its slopes.
    fn reading(&self, link: &str) -> Option<Reading> {
        let mean = slope(&self.means_by_delay(of_slope, link, None))?;
        let median = self.levels(of_slope, link, |row| row.figure(Statistic::P50));
        let (turns, _) = self.turns(link)?;
        Some(Reading::of(&mean, &slope(&median)?, turns))
    }

    /// Whether callers may wait for a link, as far as its slope and its turns tell.
    fn may_be_waited_for(&self, link: &str) -> bool {
        // A delay does not show where no answer comes that could be late, and callers may wait for it all the same.
        let has_answers = |(_, turn_time): (f64, Option<f64>)| turn_time.is_some();
        match self.turns(link) {
            Some((0.0, _)) => false,
            turns => {
                !turns.is_some_and(has_answers) || self.reading(link) != Some(Reading::NotWaitedFor)
            }
        }
    }

    /// Sentences on loads whose figures are not of good answers alone.
    fn notes(&self) -> Vec<String> {
        let loads = self.0.len();
        let failed = self.0.iter().filter(|row| row.failed > 0).count();
        let void = self.0.iter().filter(|row| !row.void_for.is_empty()).count();
        let failed = (failed > 0).then(|| {
            format!(
                "exchanges failed in {failed} of {loads} loads: slopes and gains rest on answers that came"
            )
        });
        let void = (void > 0).then(|| {
            format!("{void} of {loads} loads are left out where criteria of validity reach their figures")
        });
        let again = self.repeated();
        let again = (again > 0).then(|| {
            let loads = if again == 1 { "load" } else { "loads" };
            format!("{again} {loads} whose mean could not be used ran again")
        });
        [failed, void, again].into_iter().flatten().collect()
    }

    /// How many loads are those of another of their round again.
    fn repeated(&self) -> usize {
        let is_again = |(place, row): &(usize, &DelayRow)| {
            let mut earlier = self.0[..*place].iter();
            earlier.any(|other| {
                (other.round, &other.purpose, &other.delayed)
                    == (row.round, &row.purpose, &row.delayed)
            })
        };
        self.0.iter().enumerate().filter(is_again).count()
    }

    /// Steps, where there are several.
    fn steps(&self) -> Vec<&str> {
        let first = self.0.first();
        let steps = first.into_iter().flat_map(|row| row.by_step.keys());
        steps.map(String::as_str).collect()
    }

    /// Slopes of the response times of a step, or of all of them.
    fn slopes(&self, link: &str, step: Option<&str>) -> Slopes {
        let of = |levels: Vec<Vec<Level>>| slope(&levels).as_ref().map(bounds);
        let quantile =
            |statistic| of(self.levels(of_slope, link, |row| row.figure_of(step, statistic)));
        let rounds = self.of(of_slope, link);
        let rows = rounds.values().flatten();
        let usable = rows.filter(|row| row.figure_of(step, Statistic::P99).is_some());
        let mut counts = usable.map(|row| row.times(step));
        let is_enough =
            counts.all(|times| times.is_some_and(|times| times.count >= ENOUGH_FOR_P99));
        Slopes {
            mean: of(self.means_by_delay(of_slope, link, step)),
            p50: quantile(Statistic::P50),
            p99: quantile(Statistic::P99).filter(|_| is_enough),
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

    fn delays(&self, link: &str) -> Vec<DelayFigures> {
        let mut by_delay: BTreeMap<u64, (Vec<f64>, u64)> = BTreeMap::new();
        for row in self.of(of_slope, link).into_values().flatten() {
            let delay = row.planned_delay(link);
            // The bits of numbers that are not negative ascend as these do.
            let (means, exchanges) = by_delay.entry(delay.to_bits()).or_default();
            if let Some(mean) = row.figure(Statistic::Mean) {
                means.push(mean);
                *exchanges += row.exchanges;
            }
        }
        let figures = by_delay.into_iter();
        let figures = figures.map(|(delay, (means, exchanges))| DelayFigures {
            delay_s: f64::from_bits(delay),
            mean_s: Estimate::of(&means).as_ref().map(bounds),
            exchanges,
        });
        figures.collect()
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

fn bounds(estimate: &Estimate) -> Bounds {
    Bounds {
        value: estimate.value,
        low: estimate.low,
        high: estimate.high,
    }
}

/// Links that callers may wait for, as far as these rounds tell: those that are worth a look at half the rate.
#[must_use]
pub fn may_be_waited_for(rows: &[DelayRow]) -> BTreeSet<String> {
    let rows = Rows(rows);
    let links = rows.links().into_iter();
    let found = links.filter(|link| rows.may_be_waited_for(link));
    found.map(str::to_owned).collect()
}
