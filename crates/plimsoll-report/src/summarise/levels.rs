//! The levels of one arm: each is judged, and described, for itself.

use super::{Level, component_summaries, figures};
use crate::analysis::bottleneck::{Case, Point};
use crate::record::metric::Metric;
use crate::record::{
    ArmBlocks, ArmData, Bottleneck, Drift, Effect, LevelSummary, Manner, Statistic, ValidityRow,
};
use crate::summarise::drift::{self, Held};
use crate::{bearing, bottleneck, validity};

/// Results of each level, ascending, and their validity. `named` are the levels of the experiment, by number from 1.
pub(super) fn summarise(arm: &ArmBlocks, named: &[Level]) -> (Vec<LevelSummary>, Vec<ValidityRow>) {
    let (mut levels, mut rows) = (Vec::new(), Vec::new());
    let mut best_per_s: Option<f64> = None;
    for (number, data) in &arm.blocks {
        let place = usize::try_from(*number).unwrap_or(usize::MAX);
        let Some(level) = place.checked_sub(1).and_then(|place| named.get(place)) else {
            continue;
        };
        let mut own = validity::judge(data);
        for row in &mut own {
            row.level = Some(level.name.clone());
        }
        let summary = of_level((*number, level), data, best_per_s, &own);
        best_per_s = match (best_per_s, summary.good_per_s) {
            (Some(best), Some(now)) => Some(best.max(now)),
            (best, now) => best.or(now),
        };
        levels.push(summary);
        rows.extend(own);
    }
    (levels, rows)
}

/// The bottleneck, from all levels together; `None` where nothing was sent.
pub(super) fn attribute(arm: &ArmBlocks, levels: &[LevelSummary], cpus: u32) -> Option<Bottleneck> {
    let points = levels.iter().filter_map(|level| {
        let data = arm.blocks.get(&level.level).filter(|data| data.sent > 0)?;
        let point = Point::of(data);
        // Users of the closed model have no rate to bear.
        Some(match &level.bearing {
            Some(bearing) => {
                let missed = point.gave_way() || bearing.manner != Manner::Sustains;
                point.judged(missed)
            }
            None => point,
        })
    });
    let points: Vec<Point> = points.collect();
    (!points.is_empty()).then(|| bottleneck::attribute(&Case::of_points(points, cpus)))
}

/// How response times changed with time; `None` where they did not, and where that cannot be told.
pub(super) fn drift(arm: &ArmBlocks, levels: &[LevelSummary]) -> Option<Drift> {
    let held = levels.iter().filter_map(|level| {
        let manner = level.bearing.as_ref().map(|bearing| bearing.manner);
        let sustained = manner.is_none_or(|manner| manner == Manner::Sustains);
        Some(Held {
            name: &level.name,
            turn: level.turn,
            offered_per_s: level.offered_per_s,
            seconds: level.seconds,
            stands: sustained && !level.void_for.contains(&Statistic::P50),
            health: &arm.blocks.get(&level.level)?.health,
        })
    });
    drift::judge(&held.collect::<Vec<Held>>())
}

fn of_level(
    (number, level): (u32, &Level),
    data: &ArmData,
    best_per_s: Option<f64>,
    rows: &[ValidityRow],
) -> LevelSummary {
    let figures = figures(data);
    let rules_out = |statistic: &Statistic| {
        let path = format!("levels.{}.response_time.{}", level.name, statistic.name());
        Metric::parse(&path)
            .is_ok_and(|metric| validity::effect_on(rows, &data.name, &metric) == Effect::Invalid)
    };
    LevelSummary {
        name: level.name.clone(),
        level: number,
        turn: Some(level.turn),
        users: level.users,
        seconds: data.seconds,
        offered_per_s: data.offered_per_s,
        achieved_per_s: figures.achieved_per_s,
        good_per_s: figures.good_per_s,
        intended: data.intended,
        sent: data.sent,
        dropped: data.dropped,
        in_flight: data.in_flight(),
        bearing: bearing::judge(data, &figures, best_per_s),
        failed: figures.failed,
        failed_share: figures.failed_share,
        response_time: figures.times.response_time,
        failed_time: figures.failed_time,
        service_time: figures.times.service_time,
        pacing_lag: figures.times.pacing_lag,
        by_step: figures.by_step,
        by_group: figures.by_group,
        components: component_summaries(data),
        void_for: Statistic::ALL.into_iter().filter(rules_out).collect(),
        outcomes: figures.outcomes,
        notes: figures.notes,
    }
}
