//! Gains: how much shorter callers would wait without a link, and which link's absence would give most.

use super::estimate::Estimate;

/// How much shorter the figure is with one link relieved: the mean over blocks of `all_delayed` − `one_relieved` (seconds), with t over
/// blocks; `None` for fewer than two.
///
/// All links have the same delay b, at least the longest mean turn time; then one has b less its own turn time τ, and its callers see it as if
/// it took no time while every link takes b longer (Coz's virtual speedup). For calls in sequence that is
/// exactly what its absence gives, also where the figure is no straight line over delays; for parallel branches of one call each it is as far
/// as their times do not vary: of two that last 10 ms each, exponentially, one's absence gives 5 ms, and this 3.2. Of means and medians; a high
/// quantile of sums of times does not add up so.
#[must_use]
pub fn gain(pairs: &[(f64, f64)]) -> Option<Estimate> {
    let differences: Vec<f64> = pairs.iter().map(|(all, one)| all - one).collect();
    Estimate::of(&differences)
}

/// A gain as a share of the figure without delays; `None` where that figure is not above zero.
///
/// The baseline counts as known: its error in per cent is smaller than that of the gain, which is a difference of two such figures.
#[must_use]
pub fn share(gain: &Estimate, baseline: f64) -> Option<Estimate> {
    (baseline > 0.0).then(|| Estimate {
        value: gain.value / baseline,
        low: gain.low / baseline,
        high: gain.high / baseline,
    })
}

/// The link whose absence would give most.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Critical {
    /// The place of the one whose interval is apart from that of every other.
    One(usize),
    /// The places of those that may be it, the largest gain first.
    NotToldApart(Vec<usize>),
    /// No link's gain has an interval above zero.
    None,
}

/// Which of these links is critical: the largest gain, if its interval is apart from all others'.
///
/// All others and not the second alone, since a third's interval may reach further up than that of the second. On the safe side: gains of one
/// block share the load with all links delayed, and what that contributes to both would cancel in their difference.
#[must_use]
pub fn critical<Name>(gains: &[(Name, Estimate)]) -> Critical {
    let mut order: Vec<usize> = (0..gains.len()).collect();
    order.sort_by(|a, b| gains[*b].1.value.total_cmp(&gains[*a].1.value));
    let Some((&largest, others)) = order.split_first() else {
        return Critical::None;
    };
    if gains.iter().all(|(_, gain)| gain.low <= 0.0) {
        return Critical::None;
    }
    let first = &gains[largest].1;
    let close = others
        .iter()
        .filter(|other| !first.apart(&gains[**other].1));
    let close: Vec<usize> = close.copied().collect();
    if close.is_empty() {
        Critical::One(largest)
    } else {
        Critical::NotToldApart([vec![largest], close].concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(value: f64, reach: f64) -> Estimate {
        Estimate {
            value,
            low: value - reach,
            high: value + reach,
        }
    }

    #[test]
    fn gains_are_per_block() {
        let pairs = [(10.0, 9.0), (20.0, 18.0), (5.0, 2.0)];
        assert_eq!(gain(&pairs), Estimate::of(&[1.0, 2.0, 3.0]));
        assert_eq!(gain(&pairs[..1]), None);
    }

    /// With calls of 110 and 90 ms and own work of 30 ms, delayed by 120 ms: one relieved is as one absent, in sequence and side by side.
    #[test]
    fn relieved_is_as_absent() {
        let check = |response: fn(f64, f64) -> f64| {
            let delayed = response(110.0 + 120.0, 90.0 + 120.0);
            let relieved = response(110.0 + 120.0 - 110.0, 90.0 + 120.0);
            let absent = response(110.0, 90.0) - response(0.0, 90.0);
            let found = gain(&[(delayed, relieved), (delayed, relieved)]).unwrap();
            assert_eq!(found.value, absent);
        };
        check(|secrets, log| 30.0 + secrets + log);
        check(|secrets, log| 30.0 + secrets.max(log));
    }

    #[test]
    fn shares() {
        let expected = Estimate {
            value: 0.5,
            low: 0.25,
            high: 0.75,
        };
        assert_eq!(share(&around(2.0, 1.0), 4.0), Some(expected));
        assert_eq!(share(&around(2.0, 1.0), 0.0), None);
    }

    #[test]
    fn critical_links() {
        let check = |gains: &[Estimate], expected: Critical| {
            let named: Vec<(&str, Estimate)> = gains.iter().map(|gain| ("link", *gain)).collect();
            assert_eq!(critical(&named), expected);
        };
        let (log, secrets) = (around(0.09, 0.005), around(0.11, 0.005));
        check(&[log, secrets], Critical::One(1));
        check(&[secrets], Critical::One(0));
        let vague = around(0.05, 0.06);
        check(&[log, vague, secrets], Critical::NotToldApart(vec![2, 1]));
        check(
            &[log, around(0.1, 0.01)],
            Critical::NotToldApart(vec![1, 0]),
        );
        let wild = around(0.2, 0.3);
        check(&[wild, secrets], Critical::NotToldApart(vec![0, 1]));
        check(&[vague, around(-0.1, 0.01)], Critical::None);
        check(&[], Critical::None);
    }
}
