//! Generators at a constant rate: how late arrivals are released, and what that costs beside `oha -q`.

use super::{Comparison, Findings, Round};
use crate::Error;
use crate::bench::Bench;
use crate::client::Kind;
use crate::figures::rounds::{Side, Turns, interleave};
use crate::figures::row::{Bar, Limit, Quantity, Row};
use crate::figures::statistics::{Rounds, median};
use crate::reading::generator::GeneratorReading;
use crate::reading::generator::{Use, read};

pub const COMPARISON: Comparison = Comparison {
    name: "generator-open",
    about: "generators at constant rates, 50 connections",
    round: Round {
        starts: 16,
        leads: 8,
        measured_times: 8,
    },
    run,
};

/// A way to run ours, beside `oha -q` at the same rate.
struct Case {
    rate: u32,
    pacing: Option<&'static str>,
    lag: Option<Bar>,
    cost: Option<Bar>,
}

/// A generator keeps a rate when it reaches so much of it; one that does less has a cost of other work.
const KEPT: f64 = 0.99;

/// A p99 is that of the machine where it stands still for 1 % of the time.
const TOLERATED: f64 = 0.005;

const CASES: &[Case] = &[
    Case {
        rate: 20_000,
        pacing: Some("200us"),
        lag: Some(Bar::new(250.0, 220.0)),
        cost: Some(Bar::at_most(1.2)),
    },
    Case {
        rate: 20_000,
        pacing: Some("400us"),
        lag: Some(Bar::new(500.0, 400.0)),
        cost: Some(Bar::new(1.15, 0.95)),
    },
    Case {
        rate: 20_000,
        pacing: Some("precise"),
        lag: Some(Bar::at_most(50.0)),
        cost: None,
    },
    Case {
        rate: 2_000,
        pacing: None,
        lag: None,
        cost: Some(Bar::new(1.2, 1.0)),
    },
    Case {
        rate: 60_000,
        pacing: None,
        lag: None,
        cost: Some(Bar::new(0.95, 0.8)),
    },
];

fn run(bench: &Bench) -> Result<Findings, Error> {
    let mut uses: Vec<Use> = CASES.iter().map(Case::ours).collect();
    for case in CASES {
        if !uses.contains(&case.oha()) {
            uses.push(case.oha());
        }
    }
    let turns = Turns {
        judged: uses.len(),
        tolerated: TOLERATED,
    };
    let sides = interleave(bench, &uses, turns, name, |usage| read(bench, usage))?;
    let side = |usage: Use| {
        let index = uses.iter().position(|other| *other == usage);
        &sides[index.expect("invariant: every use was measured")]
    };
    let rows = CASES
        .iter()
        .flat_map(|case| case.rows(side(case.ours()), side(case.oha())))
        .collect();
    Ok(Findings::of(rows, &sides))
}

/// The name of a side in notes.
fn name(usage: Use) -> String {
    let rate = usage.rate.map(|rate| format!(" {rate}/s"));
    let pacing = usage.pacing.map(|pacing| format!(" {pacing}"));
    [Some(usage.kind.name().to_owned()), rate, pacing]
        .into_iter()
        .flatten()
        .collect()
}

impl Case {
    fn ours(&self) -> Use {
        Use {
            rate: Some(self.rate),
            pacing: self.pacing,
            ..Use::closed(Kind::Ours)
        }
    }

    fn oha(&self) -> Use {
        Use {
            rate: Some(self.rate),
            ..Use::closed(Kind::Oha)
        }
    }

    fn rows(&self, ours: &Side<GeneratorReading>, oha: &Side<GeneratorReading>) -> Vec<Row> {
        let pacing = self.pacing.unwrap_or("as shipped");
        let work = format!("generator, open {}/s, pacing {pacing}", self.rate);
        let lag = Quantity::Time("p99 of pacing lag");
        if let Some(reason) = ours.absent() {
            let limits = [
                (lag, self.lag.map(Limit::Figure)),
                (Quantity::Cost, self.cost.map(Limit::Ratio)),
            ];
            let absent = |(quantity, limit)| {
                let side = (Kind::Ours.name(), &*reason);
                Row::absent(&work, quantity, side, limit)
            };
            return limits.map(absent).to_vec();
        }
        let lags = ours.rounds(|reading| reading.lag_p99_us);
        let mut rows = vec![Row::alone(&work, lag, &lags, self.lag)];
        let name = "oha -q";
        if let Some(reason) = oha.absent() {
            let limit = self.cost.map(Limit::Ratio);
            rows.push(Row::absent(&work, Quantity::Cost, (name, &reason), limit));
            return rows;
        }
        let of = |side: &Side<_>| side.rounds(|reading: &GeneratorReading| reading.cost_us);
        let cost = (name, &of(oha));
        let cost = Row::beside(&work, Quantity::Cost, &of(ours), cost, self.cost);
        let of = |side: &Side<_>| side.rounds(|reading: &GeneratorReading| reading.per_s);
        let (reached, others) = (of(ours), of(oha));
        let kept = [&reached, &others].map(|side| keeps(self.rate, side));
        rows.push(if kept.contains(&false) {
            cost.with_verdict("rate not kept")
        } else {
            cost
        });
        let others = (name, &others);
        rows.push(Row::beside(
            &work,
            Quantity::Throughput,
            &reached,
            others,
            None,
        ));
        rows
    }
}

/// Whether a side kept a rate, by the median of what it reached.
fn keeps(rate: u32, reached: &Rounds) -> bool {
    median(reached).is_none_or(|per_s| per_s >= f64::from(rate) * KEPT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_kept_to_one_in_a_hundred() {
        let check = |reached: &[f64], expected| {
            let reached: Rounds = reached.iter().copied().map(Some).collect();
            assert_eq!(keeps(20_000, &reached), expected, "{reached:?}");
        };
        check(&[20_000.0, 19_998.0, 12_000.0], true);
        check(&[19_800.0], true);
        check(&[20_000.0, 19_799.0, 19_700.0], false);
    }
}
