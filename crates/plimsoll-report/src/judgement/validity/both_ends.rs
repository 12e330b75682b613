//! Criterion 10: what the generator saw is what the component behind the wire did. The gap between their times is the network's, the
//! kernel's or the generator's; beyond max(0.5 ms, a tenth of the generator's figure) the figure carries a mark.
//!
//! A gap alone does not say whose it is, so it never takes more than a mark. While a thread of the component is at its limit, requests
//! lie unread before it, which its own clock does not see: then the gap is the component's, and marks nothing.

use super::reach::{self, Reached};
use super::row::Finding;
use crate::record::{ArmData, BothEnds, Effect, Sense, Statistic, ValidityRow};
use crate::statistics::{Distortion, Figure, quantile_interval};
use plimsoll_base::units::format_seconds;

const LOOKED_AT: [Statistic; 2] = [Statistic::P50, Statistic::P99];
/// From so many cores of one thread on, in the busiest second, requests wait for the component. As for the generator's threads.
const BUSY_CORES: f64 = 0.85;

pub(super) fn judge(arm: &ArmData) -> Vec<ValidityRow> {
    let gaps = gaps(arm);
    let excess = |gap: &Distortion| gap.by / gap.allowed();
    let Some(worst) = gaps.iter().max_by(|a, b| excess(a).total_cmp(&excess(b))) else {
        return Vec::new();
    };
    let busy = busy_cores(arm);
    let longer = format!(
        "At {} the generator waited {} longer than the component took",
        worst.figure.label(),
        format_seconds(worst.by)
    );
    let finding = Finding {
        criterion: 10,
        name: "time outside the component",
        value: worst.by,
        limit: worst.allowed(),
        unit: "s",
        sense: Sense::AtMost,
        good: format!(
            "Generator and component saw the same times at {}.",
            reach::list(gaps.iter().map(|gap| gap.figure.label()))
        ),
        bad: match busy {
            Some(cores) => format!(
                "{longer}, but a thread of it used {cores:.2} cores in its busiest second: requests waited until it read them."
            ),
            None => format!(
                "{longer}, and it was not at its limit: look at the network, at the generator, or at what shares their processors."
            ),
        },
    };
    finding.rows(&arm.name, || match busy {
        Some(_) => Vec::new(),
        None => reached(&gaps),
    })
}

/// How much longer the generator's quantiles are than the component's; of those that both know.
fn gaps(arm: &ArmData) -> Vec<Distortion> {
    let Some(BothEnds { client, server }) = &arm.health.both_ends else {
        return Vec::new();
    };
    let gap = |statistic: Statistic| {
        let share = statistic.share()?;
        // Too few times for an interval are too few for the quantile.
        quantile_interval(client, share)?;
        quantile_interval(server, share)?;
        let value = client.quantile(share)?;
        let figure = Figure::Of(statistic);
        Some(Distortion {
            figure,
            value,
            by: (value - server.quantile(share)?).max(0.0),
        })
    };
    LOOKED_AT.into_iter().filter_map(gap).collect()
}

/// Cores of the component's busiest thread in its busiest second, where requests may have waited for it.
fn busy_cores(arm: &ArmData) -> Option<f64> {
    let component = arm.target.split('/').next()?;
    let cores = arm.components.get(component)?.busiest_thread_cores_max?;
    (cores > BUSY_CORES).then_some(cores)
}

fn reached(gaps: &[Distortion]) -> Vec<Reached> {
    let wide = gaps.iter().filter(|gap| gap.effect() != Effect::None);
    let names = wide.flat_map(|gap| {
        ["response_time", "service_time"].map(|time| format!("{time}.{}", gap.figure.name()))
    });
    let names: Vec<String> = names.collect();
    let whole = reach::paths(names.iter().map(String::as_str), Effect::Marked);
    reach::and_of_parts(whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judgement::validity::sample::{self, histogram};
    use crate::record::ComponentData;

    /// Both ends of a thousand exchanges of 1 ms, of which the generator saw 20 as `slow` µs.
    fn arm(slow: u64) -> ArmData {
        let mut arm = sample::spread("a", 0.0);
        arm.health.both_ends = Some(BothEnds {
            client: histogram((0..1_000).map(|i| if i < 980 { 1_050 } else { slow })),
            server: histogram([1_000; 1_000]),
        });
        arm
    }

    #[test]
    fn a_wide_gap_marks_its_figure() {
        let narrow = judge(&arm(1_400));
        assert!(narrow[0].ok, "{narrow:?}");
        let wide = judge(&arm(3_000));
        assert!((wide[0].value.unwrap() - 2e-3).abs() < 1e-5, "{wide:?}");
        for time in ["service_time", "body_time"] {
            let path = format!("{time}.p99");
            assert_eq!(sample::effect(&wide, &path), Effect::Marked);
        }
        assert_eq!(sample::effect(&wide, "service_time.p50"), Effect::None);
        insta::assert_snapshot!(wide[0].advice, @"At p99 the generator waited 2.00 ms longer than the component took, and it was not at its limit: look at the network, at the generator, or at what shares their processors.");
    }

    #[test]
    fn a_component_at_its_limit_lets_requests_wait_itself() {
        let check = |busiest_thread_cores_max, expected| {
            let mut arm = arm(3_000);
            arm.target = "t/side".to_owned();
            let busy = ComponentData {
                busiest_thread_cores_max: Some(busiest_thread_cores_max),
                ..ComponentData::default()
            };
            arm.components.insert("t".to_owned(), busy);
            let rows = judge(&arm);
            assert_eq!(sample::effect(&rows, "service_time.p99"), expected);
            rows
        };
        check(0.8, Effect::Marked);
        let rows = check(0.95, Effect::None);
        assert!(rows[0].ok);
        insta::assert_snapshot!(rows[0].advice, @"At p99 the generator waited 2.00 ms longer than the component took, but a thread of it used 0.95 cores in its busiest second: requests waited until it read them. No reported figure is affected.");
    }

    #[test]
    fn too_few_exchanges_are_not_judged() {
        let mut few = arm(3_000);
        let ends = few.health.both_ends.as_mut().unwrap();
        ends.server = histogram([1_000; 100]);
        let rows = judge(&few);
        assert!(rows[0].ok, "only the median has enough: {rows:?}");
        few.health.both_ends = Some(BothEnds::default());
        assert_eq!(judge(&few), []);
    }
}
