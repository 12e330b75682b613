//! Criterion 10: what the generator saw is what the component behind the wire did. The gap between their times is the network's, the
//! kernel's or the generator's; beyond max(0.5 ms, a tenth of the generator's figure) the figure carries a mark.
//!
//! A gap alone does not say whose it is, so it never takes more than a mark.

use super::reach;
use super::row::Finding;
use crate::record::{ArmData, Effect, Sense, Statistic, ValidityRow};
use crate::statistics::{Distortion, Figure};
use plimsoll_base::units::format_seconds;

pub(super) fn judge(arm: &ArmData) -> Vec<ValidityRow> {
    let Some(ends) = arm.health.both_ends else {
        return Vec::new();
    };
    let figures = [
        (Statistic::P50, ends.client_p50, ends.server_p50),
        (Statistic::P99, ends.client_p99, ends.server_p99),
    ];
    let gaps = figures.map(|(statistic, client, server)| Distortion {
        figure: Figure::Of(statistic),
        value: client,
        by: (client - server).max(0.0),
    });
    let [p50, p99] = gaps;
    let excess = |gap: &Distortion| gap.by / gap.allowed();
    let worst = if excess(&p99) > excess(&p50) {
        p99
    } else {
        p50
    };
    let finding = Finding {
        criterion: 10,
        name: "time outside the component",
        value: worst.by,
        limit: worst.allowed(),
        unit: "s",
        sense: Sense::AtMost,
        good: "Generator and component saw the same times.".to_owned(),
        bad: format!(
            "At {} the generator waited {} longer than the component took: look at the network, or at the generator.",
            worst.figure.label(),
            format_seconds(worst.by)
        ),
    };
    finding.rows(&arm.name, || {
        let wide = gaps.iter().filter(|gap| gap.effect() != Effect::None);
        let names = wide.flat_map(|gap| {
            ["response_time", "service_time"].map(|time| format!("{time}.{}", gap.figure.name()))
        });
        let names: Vec<String> = names.collect();
        reach::paths(names.iter().map(String::as_str), Effect::Marked)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::BothEnds;
    use crate::validity::sample;

    #[test]
    fn a_wide_gap_marks_its_figure() {
        let with = |client_p99: f64| {
            let mut arm = sample::spread("a", 0.0);
            arm.health.both_ends = Some(BothEnds {
                client_p50: 0.2e-3,
                server_p50: 0.05e-3,
                client_p99,
                server_p99: 1e-3,
            });
            judge(&arm)
        };
        assert!(with(1.4e-3)[0].ok);
        let rows = with(3e-3);
        assert_eq!(sample::effect(&rows, "service_time.p99"), Effect::Marked);
        assert_eq!(sample::effect(&rows, "service_time.p50"), Effect::None);
    }
}
