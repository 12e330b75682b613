//! One arm's figures over its blocks.

use crate::record::{
    Answers, ArmBlocks, ArmData, ArmSummary, BlockSummary, ComponentData, ComponentSummary,
    FailureSummary, GENERATOR, GroupSummary, LoadModel, Outcomes, Ranges, Reasons, Statistic,
    StepSummary, TimeStatistics, Times, per_exchange,
};
use crate::statistics::ResponseTimes;
use plimsoll_base::histogram::TimeHistogram;
use plimsoll_base::outcome_class::OutcomeClass;
use plimsoll_base::tally::{CheckCount, GroupTally, StepTally};
use plimsoll_base::time_kind::TimeKind;
use plimsoll_base::units::{format_number, format_seconds};
use std::collections::BTreeMap;

/// A generator whose busiest thread used this much of a processor had nothing left to give.
const SATURATED_CORES: f64 = 0.95;

/// Summarises `merged`, the blocks of `arm` together. Differences to a baseline are left to `added`.
pub(super) fn summarise<'a>(
    arm: &ArmBlocks,
    merged: &ArmData,
    ranges: &Ranges,
    void_for: impl Fn(u32) -> &'a [Statistic],
) -> ArmSummary {
    let failed = failed(merged.steps.values());
    let within = merged.within();
    ArmSummary {
        target: merged.target.clone(),
        model: merged.model,
        seconds: merged.seconds,
        offered_per_s: merged.offered_per_s,
        achieved_per_s: per_second(within.total().answered, merged.seconds),
        good_per_s: per_second(within.total().good, merged.seconds),
        intended: merged.intended,
        sent: merged.sent,
        in_flight: merged.in_flight(),
        outcomes: outcomes(merged.steps.values()),
        reasons: reasons(merged.steps.values()),
        dropped: merged.dropped,
        connected: Some(merged.connected),
        reconnected: Some(merged.reconnected),
        failed,
        failed_share: share(failed, with_result(merged.steps.values())),
        times: Times {
            response_time: ResponseTimes::of_arm(merged).statistics(),
            ..Times::of(|kind| merged.histogram(kind))
        },
        failed_time: failed_time(merged.steps.values()),
        added: None,
        ranges: ranges.of(
            &passed(merged.steps.values()),
            with_result(merged.steps.values()),
        ),
        failures: failures(merged),
        by_step: merged
            .steps
            .iter()
            .map(|(name, step)| {
                (
                    name.clone(),
                    step_summary(step, within.step(name), merged.seconds, ranges),
                )
            })
            .collect(),
        by_group: merged
            .groups
            .iter()
            .map(|(name, group)| {
                (
                    name.clone(),
                    group_summary(group, within.group(name), merged.seconds),
                )
            })
            .collect(),
        checks: checks(merged),
        components: super::component_summaries(merged),
        host: merged.host.strain,
        bottleneck: None,
        by_block: arm
            .blocks
            .iter()
            .map(|(block, data)| block_summary(*block, data, void_for(*block)))
            .collect(),
        levels: Vec::new(),
        drift: None,
        capacity: None,
        links: Vec::new(),
        critical_link: None,
        undelayed_peers: Vec::new(),
        availability: None,
        faults: merged.faults.clone(),
        without_faults: (merged.undisturbed.as_ref()).map(|part| super::callers(part)),
        notes: arm.notes.iter().cloned().chain(notes(merged)).collect(),
    }
}

fn step_summary(step: &StepTally, within: Answers, seconds: f64, ranges: &Ranges) -> StepSummary {
    let failed = failed([step]);
    StepSummary {
        sent: step.sent,
        in_flight: step.in_flight,
        outcomes: outcomes([step]),
        reasons: reasons([step]),
        failed,
        failed_share: share(failed, with_result([step])),
        achieved_per_s: per_second(within.answered, seconds),
        good_per_s: per_second(within.good, seconds),
        response_time: ResponseTimes::of_step(step).statistics(),
        failed_time: failed_time([step]),
        service_time: TimeStatistics::of(&step.histogram(TimeKind::ServiceTime)),
        first_byte_time: TimeStatistics::of(&step.histogram(TimeKind::FirstByteTime)),
        body_time: TimeStatistics::of(&step.histogram(TimeKind::BodyTime)),
        ranges: ranges.of(&passed([step]), with_result([step])),
        checks: step.checks.clone(),
        bytes_sent: step.bytes_sent,
        bytes_received: step.bytes_received,
    }
}

fn group_summary(group: &GroupTally, within: u64, seconds: f64) -> GroupSummary {
    GroupSummary {
        count: group.count,
        failed: group.failed,
        failed_share: share(group.failed, group.count),
        achieved_per_s: per_second(within, seconds),
        duration: TimeStatistics::of(&group.duration),
        cumulated_response_time: TimeStatistics::of(&group.response_time),
    }
}

pub(super) fn component_summary(
    data: &ComponentData,
    answered_per_s: Option<f64>,
) -> ComponentSummary {
    let cpu_cores_mean = data.cpu_cores_mean();
    let used = cpu_cores_mean.zip(answered_per_s);
    ComponentSummary {
        cpu_cores_mean,
        cpu_cores_max: data.cpu_cores_max,
        cpu_s_per_exchange: used.and_then(|(cores, rate)| per_exchange(cores, rate)),
        busiest_thread_cores_max: data.busiest_thread_cores_max,
        rss_bytes_max: data.rss_bytes_max,
        fds_max: data.fds_max,
        threads_max: data.threads_max,
        strain: data.strain,
        server: data.server,
    }
}

fn block_summary(block: u32, data: &ArmData, void_for: &[Statistic]) -> BlockSummary {
    let within = data.within().total();
    BlockSummary {
        block,
        achieved_per_s: data.answered_per_s(),
        good_per_s: per_second(within.good, data.seconds),
        failed: failed(data.steps.values()),
        cpu_s_per_exchange: data.cpu_s_per_exchange(),
        response_time: ResponseTimes::of_arm(data).statistics(),
        void_for: void_for.to_vec(),
    }
}

/// Of what failed otherwise than at its deadline.
fn failed_time<'a>(steps: impl IntoIterator<Item = &'a StepTally>) -> TimeStatistics {
    TimeStatistics::of(&response_times(steps, OutcomeClass::enters_failed_time))
}

fn outcomes<'a>(steps: impl IntoIterator<Item = &'a StepTally>) -> Outcomes {
    let mut total = Outcomes::default();
    for step in steps {
        for (status, count) in &step.statuses {
            *total.answered.entry(status.to_string()).or_default() += count;
        }
        total.timed_out += step.count(OutcomeClass::TimedOut);
        total.unfinished += step.count(OutcomeClass::Unfinished);
        total.refused += step.count(OutcomeClass::Refused);
        total.exhausted += step.count(OutcomeClass::Exhausted);
        total.closed += step.count(OutcomeClass::Closed);
        total.reset += step.count(OutcomeClass::Reset);
        total.tls_failed += step.count(OutcomeClass::TlsFailed);
        total.malformed += step.count(OutcomeClass::Malformed);
        total.aborted += step.count(OutcomeClass::Aborted);
    }
    total
}

fn reasons<'a>(steps: impl IntoIterator<Item = &'a StepTally>) -> Reasons {
    let mut total = Reasons::new();
    for (reason, count) in steps.into_iter().flat_map(|step| &step.reasons) {
        let of_class = total.entry(reason.class().name().to_owned()).or_default();
        *of_class.entry(reason.name().to_owned()).or_default() += count;
    }
    total
}

/// Response times of exchanges that passed.
fn passed<'a>(steps: impl IntoIterator<Item = &'a StepTally>) -> TimeHistogram {
    response_times(steps, |class| class == OutcomeClass::Passed)
}

fn response_times<'a>(
    steps: impl IntoIterator<Item = &'a StepTally>,
    wanted: impl Fn(OutcomeClass) -> bool,
) -> TimeHistogram {
    let mut merged = TimeHistogram::new();
    for step in steps {
        merged.merge(&step.response_times(&wanted));
    }
    merged
}

/// Failures, the most frequent first.
fn failures(arm: &ArmData) -> Vec<FailureSummary> {
    let results = with_result(arm.steps.values());
    let told = arm
        .failures
        .iter()
        .map(|(step, failure, seen)| FailureSummary {
            step: step.to_owned(),
            failure: failure.name(),
            reason: failure.reason().map(str::to_owned),
            count: seen.count,
            share: share(seen.count, results),
            first_s: seen.first_s,
            last_s: seen.last_s,
        });
    let mut failures: Vec<FailureSummary> = told.collect();
    failures.sort_by_key(|failure| std::cmp::Reverse(failure.count));
    failures
}

fn checks(arm: &ArmData) -> BTreeMap<String, CheckCount> {
    let mut total: BTreeMap<String, CheckCount> = BTreeMap::new();
    for (name, count) in arm.steps.values().flat_map(|step| &step.checks) {
        total.entry(name.clone()).or_default().add(*count);
    }
    total
}

fn failed<'a>(steps: impl IntoIterator<Item = &'a StepTally>) -> u64 {
    count(steps, OutcomeClass::is_failure)
}

fn with_result<'a>(steps: impl IntoIterator<Item = &'a StepTally>) -> u64 {
    count(steps, |class| class != OutcomeClass::Aborted)
}

fn count<'a>(
    steps: impl IntoIterator<Item = &'a StepTally>,
    counted: impl Fn(OutcomeClass) -> bool,
) -> u64 {
    steps
        .into_iter()
        .flat_map(|step| &step.classes)
        .filter(|(class, _)| counted(**class))
        .map(|(_, data)| data.count)
        .sum()
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a rate for people and thresholds"
)]
fn per_second(count: u64, seconds: f64) -> Option<f64> {
    (seconds > 0.0).then(|| count as f64 / seconds)
}

#[expect(clippy::cast_precision_loss, reason = "a share")]
fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

fn notes(arm: &ArmData) -> Vec<String> {
    let mut notes = Vec::new();
    if arm.model == LoadModel::Closed {
        notes.push("closed model: stalls are under-sampled".to_owned());
    }
    let busiest = arm
        .components
        .get(GENERATOR)
        .and_then(ComponentData::busiest_thread_cores_mean);
    if arm.model == LoadModel::Closed && busiest.is_some_and(|cores| cores >= SATURATED_CORES) {
        let achieved = arm.answered_per_s().unwrap_or(0.0);
        notes.push(format!(
            "the generator used all of its processor: throughput is at least {}/s",
            format_number(achieved)
        ));
    }
    if arm.reconnected > 0 {
        #[expect(clippy::cast_precision_loss, reason = "counts for people")]
        let [closed, made] = [arm.reconnected, arm.connected].map(|n| format_number(n as f64));
        notes.push(format!(
            "kept connections found unusable before an exchange, so that nothing was sent on them: {closed} ({made} opened in all)"
        ));
    }
    const AT_DEADLINE: [OutcomeClass; 2] = [OutcomeClass::TimedOut, OutcomeClass::Unfinished];
    let timed_out: u64 = AT_DEADLINE.iter().map(|class| arm.count(*class)).sum();
    if timed_out > 0 {
        let deadline = arm
            .steps
            .values()
            .flat_map(|step| {
                AT_DEADLINE
                    .iter()
                    .filter_map(|class| step.classes.get(class))
            })
            .filter_map(|class| class.times.get(&TimeKind::ResponseTime)?.min())
            .fold(f64::INFINITY, f64::min);
        #[expect(clippy::cast_precision_loss, reason = "a count for people")]
        let exchanges = format_number(timed_out as f64);
        notes.push(if deadline.is_finite() {
            format!("{exchanges} exchanges timed out; each counts at its deadline, from {}: it took longer", format_seconds(deadline))
        } else {
            format!("{exchanges} exchanges timed out")
        });
    }
    notes
}
