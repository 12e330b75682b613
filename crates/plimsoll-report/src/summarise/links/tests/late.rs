//! Delays that were longer than planned.

use super::*;

/// Makes delays longer than planned, by `late` of a load's place, and what waits for them, so many turns of each link.
fn be_late(rows: &mut [DelayRow], turns: f64, late: impl Fn(usize) -> f64) {
    for (place, row) in rows.iter_mut().enumerate() {
        for passed in row.links.values_mut() {
            passed.per_exchange = turns;
        }
        let late_s = late(place);
        let mut added = 0.0;
        for (link, delay) in &row.delayed {
            row.links.get_mut(link).unwrap().late_s = Some(late_s);
            added += (turns - 1.0) * delay + turns * late_s;
        }
        row.response_time.mean = row.response_time.mean.map(|mean| mean + added);
    }
}

/// Delays that were longer than planned cost as much as if they had been planned: slopes of the mean are over those that were, and so is the
/// curvature, which three turns of 0.5 ms too much would bend by 0.19.
#[test]
fn slopes_and_shape_of_the_mean_are_over_delays_as_they_were() {
    for turns in [1.0, 3.0] {
        let check = |late: &dyn Fn(usize) -> f64| {
            let mut rows = rows(true);
            be_late(&mut rows, turns, late);
            for link in found(&rows).0 {
                let slope = link.slope.mean.unwrap();
                assert!((slope.value - turns).abs() < 1e-9, "{slope:?}");
                assert_eq!(link.shape, LinkShape::Straight);
                assert_eq!(link.saturated, Some(false));
            }
        };
        check(&|_| 0.0005);
        check(&|place| 0.0001 * (place % 7) as f64);
    }
}

/// Two delays that are late by 20 ms each add more than the twentieth that delays as planned would leave unexplained.
#[test]
fn lateness_is_no_queueing_and_no_gain() {
    let mut rows = rows(true);
    be_late(&mut rows, 1.0, |_| 0.02);
    for link in found(&rows).0 {
        let gain = link.gain.unwrap();
        assert!(
            (gain.value - link.turn_time_s.unwrap()).abs() < 1e-9,
            "{gain:?}"
        );
    }
}
