//! `sensitivity`: links of each arm are delayed, one by one and in random order, round by round.
//!
//! Components run through: a new start would close the connections that callers keep, and its chances would be the same for all delays of
//! a round anyway, which are held against each other.
//!
//! First every delay of every link, from which slopes follow. Then the loads that these ask for: links that callers may wait for at half the
//! rate, and gains, for which all links are delayed by a little more than the slowest takes, and then each of them by its own time less.
//!
//! A load whose mean response time cannot be used, for a criterion of validity reaches it, is run again in its round.

mod round;
mod turns;

use super::outlook::{Outlook, length};
use super::{Block, Ending, Session};
use crate::error::LabError;
use crate::load::Keeping;
use crate::topology::component::Passed;
use plimsoll_base::units::{Rate, format_seconds};
use plimsoll_experiment::{Arm, Point, Sensitivity, TooFewConnections};
use plimsoll_report::record::{DelayPurpose, DelayRow, Statistic, UndelayedPeer};
use plimsoll_report::statistics::sensitivity::connections_needed;
use plimsoll_report::summarise::{figures, may_be_waited_for, void_figures};
use round::{Round, Run};
use std::collections::{BTreeMap, BTreeSet};
use turns::between;

/// Part of the rate at which links with a slope are measured again, for as many exchanges.
const HALF: f64 = 0.5;

/// Every link is delayed by so much at least in loads for gains: a timer is late, and what it is late by cancels only between two delays.
const LEAST_DELAY_S: f64 = 0.001;

/// A load of one arm under delays.
#[derive(Debug, Clone, PartialEq)]
struct Planned {
    /// By its place in the experiment.
    arm: usize,
    purpose: DelayPurpose,
    delayed: BTreeMap<String, f64>,
}

/// Numbers of rounds and loads so far, of whichever question.
#[derive(Debug, Default)]
struct Done {
    rounds: u32,
    loads: u32,
}

pub(super) async fn run(
    session: &mut Session<'_, '_>,
    sensitivity: &Sensitivity,
) -> Result<Ending, LabError> {
    if session.start_missing().await? == Ending::Interrupted {
        return Ok(Ending::Interrupted);
    }
    let mut done = Done::default();
    let planned = slopes(session, sensitivity);
    let further = foreseen(session, sensitivity);
    let ending = rounds(session, sensitivity, (&planned, &further), &mut done).await?;
    if ending != Ending::Complete {
        return Ok(ending);
    }
    let planned = consequences(session, sensitivity);
    rounds(session, sensitivity, (&planned, &[]), &mut done).await
}

/// Every delay of every link, and none, for each arm.
fn slopes(session: &Session<'_, '_>, sensitivity: &Sensitivity) -> Vec<Planned> {
    let mut planned = Vec::new();
    for (arm, links) in of_arms(session, sensitivity) {
        planned.push(Planned {
            arm,
            purpose: DelayPurpose::Slope(None),
            delayed: BTreeMap::new(),
        });
        for link in &links {
            let delays = sensitivity.delays.iter().filter(|delay| !delay.is_zero());
            planned.extend(delays.map(|delay| Planned {
                arm,
                purpose: DelayPurpose::Slope(Some(link.clone())),
                delayed: [(link.clone(), delay.as_secs_f64())].into(),
            }));
        }
    }
    planned
}

/// Loads that slopes and turns will ask for if every link has some.
fn foreseen(session: &Session<'_, '_>, sensitivity: &Sensitivity) -> Vec<Planned> {
    let arms = of_arms(session, sensitivity).into_iter();
    let of_arm = |(arm, links): (usize, Vec<String>)| {
        let links = links.into_iter().map(Some);
        let links: Vec<Option<String>> = [None].into_iter().chain(links).collect();
        let halved = links.clone().into_iter().map(DelayPurpose::HalfRate);
        let purposes = halved.chain(links.into_iter().map(DelayPurpose::Gain));
        let planned = purposes.map(move |purpose| Planned {
            arm,
            purpose,
            delayed: BTreeMap::new(),
        });
        planned.collect::<Vec<_>>()
    };
    arms.flat_map(of_arm).collect()
}

/// Loads that slopes and turns ask for.
fn consequences(session: &mut Session<'_, '_>, sensitivity: &Sensitivity) -> Vec<Planned> {
    let longest = sensitivity.delays.iter().max().copied().unwrap_or_default();
    let mut planned = Vec::new();
    let mut notes = Vec::new();
    for (arm, links) in of_arms(session, sensitivity) {
        let rows = session.rows_of(arm);
        let waited_for = may_be_waited_for(rows);
        let halved = links.iter().filter(|link| waited_for.contains(*link));
        let halved: Vec<Planned> = halved
            .map(|link| Planned {
                arm,
                purpose: DelayPurpose::HalfRate(Some(link.clone())),
                delayed: [(link.clone(), longest.as_secs_f64())].into(),
            })
            .collect();
        if !halved.is_empty() {
            planned.push(Planned {
                arm,
                purpose: DelayPurpose::HalfRate(None),
                delayed: BTreeMap::new(),
            });
        }
        planned.extend(halved);
        let gains = gains(arm, &links, &turn_times(rows));
        match refuse_gains(&session.experiment.arms[arm], rows, &gains) {
            None => planned.extend(gains),
            Some(note) => notes.push((arm, note)),
        }
    }
    for (arm, note) in notes {
        session.note(arm, note);
    }
    planned
}

/// All links delayed by a little more than the slowest takes, and each in turn by its own time less. None where a link without turns has no
/// time.
fn gains(arm: usize, links: &[String], times: &BTreeMap<String, f64>) -> Vec<Planned> {
    let slowest = times.values().copied().fold(0.0, f64::max);
    if slowest <= 0.0 {
        return Vec::new();
    }
    let longest = slowest + LEAST_DELAY_S;
    let all: BTreeMap<String, f64> = links.iter().map(|link| (link.clone(), longest)).collect();
    let mut planned = vec![Planned {
        arm,
        purpose: DelayPurpose::Gain(None),
        delayed: all.clone(),
    }];
    for link in links {
        if let Some(time) = times.get(link) {
            let mut relieved = all.clone();
            relieved.insert(link.clone(), longest - time);
            planned.push(Planned {
                arm,
                purpose: DelayPurpose::Gain(Some(link.clone())),
                delayed: relieved,
            });
        }
    }
    planned
}

/// The mean time of a turn of each link that has any, over the loads without delays.
fn turn_times(rows: &[DelayRow]) -> BTreeMap<String, f64> {
    let mut sums: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    let plain = rows
        .iter()
        .filter(|row| row.purpose == DelayPurpose::Slope(None));
    for (link, passed) in plain.flat_map(|row| &row.links) {
        if let Some(time) = passed.turn_time_s {
            #[expect(clippy::cast_precision_loss, reason = "a weight")]
            let weight = passed.turns as f64;
            let (count, sum) = sums.entry(link.clone()).or_default();
            *count += weight;
            *sum += weight * time;
        }
    }
    let timed = sums.into_iter().filter(|(_, (count, _))| *count > 0.0);
    timed
        .map(|(link, (count, sum))| (link, sum / count))
        .collect()
}

/// The arms by their places, each with the texts of its links.
fn of_arms(session: &Session<'_, '_>, sensitivity: &Sensitivity) -> Vec<(usize, Vec<String>)> {
    let arms = session.experiment.arms.iter().enumerate();
    arms.map(|(place, arm)| {
        let links = sensitivity.reached(&arm.target.component);
        (place, links.into_iter().map(|link| link.text()).collect())
    })
    .collect()
}

/// Each of the first loads once a round, in an order of its own; the others are still to come.
async fn rounds(
    session: &mut Session<'_, '_>,
    sensitivity: &Sensitivity,
    (planned, further): (&[Planned], &[Planned]),
    done: &mut Done,
) -> Result<Ending, LabError> {
    let experiment = session.experiment;
    let of = sensitivity.blocks;
    let held = |load: &Planned| held(&experiment.arms[load.arm], &load.purpose, sensitivity);
    let loads = || planned.iter().chain(further);
    let lengths = || loads().map(|load| length(&held(load)));
    let mut outlook = Outlook::of((0..of).flat_map(|_| lengths()));
    for number in 1..=of {
        done.rounds += 1;
        let mut round = Round::new(planned, session.seed, done.rounds);
        while let Some((load, run)) = round.next() {
            done.loads += 1;
            let arm = held(load);
            let ahead = outlook.begin(length(&arm), session.recorder.now());
            let again = match run {
                Run::First => "",
                Run::Again => ", again",
            };
            let label = format!("round {number} of {of}, {}{again}", words(load));
            let is_block = load.purpose == DelayPurpose::Slope(None) && run == Run::First;
            let block = Block {
                // Those of the arm by their round; all others come behind these.
                number: if is_block { number } else { of + done.loads },
                label: &label,
                ahead: &ahead,
                keeping: match is_block {
                    true => Keeping::OfArm,
                    false => Keeping::Apart,
                },
            };
            let ending = delayed(session, &arm, load, number, block).await?;
            if ending != Ending::Complete {
                return Ok(ending);
            }
            let is_void = session.rows_of(load.arm).last().is_some_and(is_void);
            if is_void && round.repeat(load) {
                outlook.add(length(&arm).unwrap_or_default());
            }
        }
    }
    Ok(Ending::Complete)
}

/// One load under its delays.
async fn delayed(
    session: &mut Session<'_, '_>,
    arm: &Arm,
    load: &Planned,
    round: u32,
    block: Block<'_>,
) -> Result<Ending, LabError> {
    session.topology.links()?.delay(&load.delayed).await?;
    let before = session.topology.passed().await?;
    let measured = session.measure(arm, block).await?;
    let ending = measured.ending?;
    if ending != Ending::Complete {
        return Ok(ending);
    }
    let after = session.topology.passed().await?;
    let own = figures(&measured.data);
    let sensitivity_links = session.links_of(load.arm);
    // The warm-up's exchanges are among the turns, too.
    let settings = &arm.settings;
    let whole = (settings.warmup + settings.duration).as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "a number of exchanges")]
    let exchanges = own.times.response_time.count as f64 * whole / settings.duration.as_secs_f64();
    let row = DelayRow {
        arm: arm.name.clone(),
        round,
        delayed: load.delayed.clone(),
        purpose: load.purpose.clone(),
        exchanges: own.times.response_time.count,
        failed: own.failed,
        by_step: own.times_by_step(),
        response_time: own.times.response_time,
        void_for: void_figures(&measured.data),
        links: sensitivity_links
            .into_iter()
            .map(|link| {
                let of = |passed: &BTreeMap<String, Passed>| {
                    passed.get(&link).copied().unwrap_or_default()
                };
                let looks = [&before, &measured.passed, &after].map(of);
                (link, between(looks, exchanges))
            })
            .collect(),
        undelayed_peers: match load.purpose {
            DelayPurpose::Slope(None) => session.undelayed_peers(load.arm),
            _ => Vec::new(),
        },
    };
    if load.purpose == DelayPurpose::Slope(None) && !is_void(&row) {
        refuse_crowding(arm, &row, session)?;
    }
    if block.keeping == Keeping::OfArm {
        session.keep(block.number, measured.data, measured.notes);
    }
    session.recorder.delay(&row)?;
    let rows = session.delays.entry(arm.name.clone()).or_default();
    rows.push(row);
    Ok(ending)
}

/// Whether the mean response time of a load cannot be used.
fn is_void(row: &DelayRow) -> bool {
    row.void_for.contains(&Statistic::Mean)
}

/// Refuses to go on with so few connections that delays would be waited out in the queue for one.
fn refuse_crowding(arm: &Arm, row: &DelayRow, session: &Session<'_, '_>) -> Result<(), LabError> {
    let plimsoll_experiment::Method::Sensitivity(sensitivity) = &session.experiment.method else {
        return Ok(());
    };
    if row.links.is_empty() {
        return Ok(());
    }
    let delay = sensitivity.delays.iter().max().copied().unwrap_or_default();
    let turns = row.links.values().map(|passed| passed.per_exchange);
    let longest = delay.as_secs_f64() * turns.fold(1.0, f64::max);
    let Some((mean, needed, TooFewConnections { most, write })) = lacking(arm, row, longest) else {
        return Ok(());
    };
    Err(LabError::Input(format!(
        "arm `{}`: exchanges that take {} need {needed} connections under delays of up to {} in all, and there are at most {most}: write `{write}`, or a lower rate",
        arm.name,
        format_seconds(mean),
        format_seconds(longest)
    )))
}

/// Why gains cannot be measured: all links delayed at once would keep exchanges for longer than connections or the timeout allow.
fn refuse_gains(arm: &Arm, rows: &[DelayRow], gains: &[Planned]) -> Option<String> {
    let all = gains.first()?;
    let plain = || {
        let rows = rows.iter();
        rows.filter(|row| row.purpose == DelayPurpose::Slope(None))
    };
    // A machine that was disturbed in all of them is no reason to forget the limits.
    let plain = plain()
        .find(|row| !is_void(row))
        .or_else(|| plain().next())?;
    let added = all.delayed.iter().map(|(link, delay)| {
        let turns = plain
            .links
            .get(link)
            .map_or(0.0, |passed| passed.per_exchange);
        turns * delay
    });
    let added: f64 = added.sum();
    let mean = plain.response_time.mean?;
    let timeout = arm.settings.timeout.as_secs_f64();
    if mean + added > timeout / 2.0 {
        return Some(format!(
            "gains were not measured: with all links as slow as the slowest an exchange takes {}, more than half of the timeout of {}",
            format_seconds(mean + added),
            format_seconds(timeout)
        ));
    }
    let (_, needed, TooFewConnections { most, write }) = lacking(arm, plain, added)?;
    Some(format!(
        "gains were not measured: with all links as slow as the slowest it takes {needed} connections, and there are at most {most}: write `{write}`"
    ))
}

/// The mean response time, the connections that it takes when exchanges last so much longer, and how many there may be, where these are fewer.
fn lacking(arm: &Arm, row: &DelayRow, longer: f64) -> Option<(f64, u64, TooFewConnections)> {
    let mean = row.response_time.mean?;
    let needed = connections_needed(arm.rate()?, mean, longer);
    Some((mean, needed, arm.too_few_connections(needed)?))
}

/// The arm with the rate that a load has; at half the rate for as long as it takes to have as many exchanges.
fn held(arm: &Arm, purpose: &DelayPurpose, sensitivity: &Sensitivity) -> Arm {
    match (purpose, arm.rate()) {
        (DelayPurpose::HalfRate(_), Some(rate)) => match Rate::per_second(rate * HALF) {
            Some(rate) => arm.at(Point::Rate(rate), sensitivity.hold.div_f64(HALF)),
            None => arm.clone(),
        },
        _ => arm.clone(),
    }
}

/// A load in words.
fn words(load: &Planned) -> String {
    match &load.purpose {
        DelayPurpose::Slope(None) => "no delay".to_owned(),
        DelayPurpose::HalfRate(None) => "half the rate".to_owned(),
        DelayPurpose::Gain(None) => "all links delayed".to_owned(),
        DelayPurpose::Gain(Some(link)) => format!("all links delayed but {link}"),
        DelayPurpose::Slope(Some(link)) => format!("{} at {link}", longest(load)),
        DelayPurpose::HalfRate(Some(link)) => {
            format!("half the rate, {} at {link}", longest(load))
        }
    }
}

fn longest(load: &Planned) -> String {
    format_seconds(load.delayed.values().copied().fold(0.0, f64::max))
}

impl Session<'_, '_> {
    /// Loads under delays so far of an arm by its place.
    fn rows_of(&self, arm: usize) -> &[DelayRow] {
        let name = &self.experiment.arms[arm].name;
        self.delays.get(name).map_or(&[], Vec::as_slice)
    }

    /// A sentence beside the figures of an arm by its place.
    fn note(&mut self, arm: usize, note: String) {
        let name = &self.experiment.arms[arm].name;
        if let Some(blocks) = self.arms.iter_mut().find(|blocks| blocks.name == *name) {
            blocks.notes.push(note);
        }
    }

    /// Whom the components of an arm are connected with where no link leads that is delayed.
    fn undelayed_peers(&self, arm: usize) -> Vec<UndelayedPeer> {
        let plimsoll_experiment::Method::Sensitivity(sensitivity) = &self.experiment.method else {
            return Vec::new();
        };
        let components = sensitivity.components(&self.experiment.arms[arm].target.component);
        let peers = self.topology.undelayed_peers().into_iter();
        let of_arm = peers.filter(|found| components.contains(found.component.as_str()));
        of_arm.collect()
    }

    /// The texts of the links of an arm by its place.
    fn links_of(&self, arm: usize) -> BTreeSet<String> {
        let plimsoll_experiment::Method::Sensitivity(sensitivity) = &self.experiment.method else {
            return BTreeSet::new();
        };
        let target = &self.experiment.arms[arm].target.component;
        let links = sensitivity.reached(target).into_iter();
        links.map(|link| link.text()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn for_gains_all_links_but_one_answer_later_than_the_slowest() {
        let links = [
            "a -> log".to_owned(),
            "a -> secrets".to_owned(),
            "a -> idle".to_owned(),
        ];
        let times = [
            ("a -> log".to_owned(), 0.09),
            ("a -> secrets".to_owned(), 0.11),
        ];
        let planned = gains(0, &links, &times.into());
        let delays = |load: &Planned| -> Vec<f64> {
            load.delayed
                .values()
                .map(|delay| (delay * 1e3).round())
                .collect()
        };
        // By name: idle, log, secrets.
        assert_eq!(delays(&planned[0]), [111.0, 111.0, 111.0]);
        assert_eq!(delays(&planned[1]), [111.0, 21.0, 111.0]);
        assert_eq!(delays(&planned[2]), [111.0, 111.0, 1.0]);
        assert_eq!(
            planned.len(),
            3,
            "nobody knows what a link takes on which nothing passes"
        );
        assert!(gains(0, &links, &BTreeMap::new()).is_empty());
    }
}
