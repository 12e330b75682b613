//! Generators at a constant rate: how late arrivals are released, and what that costs beside `oha -q`.

use super::Comparison;
use crate::bench::Bench;
use crate::client::Kind;
use crate::generator_reading::GeneratorReading;
use crate::generator_reading::{Use, read};
use crate::rounds::{Side, interleave};
use crate::row::{Bar, Quantity, Row};
use crate::trouble::Trouble;

pub const COMPARISON: Comparison = Comparison {
    name: "generator-open",
    about: "generators at constant rates, 50 connections",
    run,
};

/// A way to run ours, beside `oha -q` at the same rate.
struct Case {
    rate: u32,
    pacing: Option<&'static str>,
    lag: Option<Bar>,
    cost: Option<Bar>,
}

const CASES: &[Case] = &[
    Case {
        rate: 20_000,
        pacing: Some("200us"),
        lag: Some(Bar::new(250.0, 220.0)),
        cost: Some(Bar::new(1.5, 1.2)),
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
        lag: Some(Bar {
            must: 50.0,
            aim: None,
        }),
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

fn run(bench: &Bench) -> Result<Vec<Row>, Trouble> {
    let mut uses: Vec<Use> = CASES.iter().map(Case::ours).collect();
    for case in CASES {
        if !uses.contains(&case.oha()) {
            uses.push(case.oha());
        }
    }
    let sides = interleave(bench, &uses, |usage| read(bench, usage));
    let side = |usage: Use| {
        let index = uses.iter().position(|other| *other == usage);
        &sides[index.expect("invariant: every use was measured")]
    };
    Ok(CASES
        .iter()
        .flat_map(|case| case.rows(side(case.ours()), side(case.oha())))
        .collect())
}

impl Case {
    fn ours(&self) -> Use {
        Use {
            kind: Kind::Ours,
            rate: Some(self.rate),
            pacing: self.pacing,
        }
    }

    fn oha(&self) -> Use {
        Use {
            kind: Kind::Oha,
            rate: Some(self.rate),
            pacing: None,
        }
    }

    fn rows(&self, ours: &Side<GeneratorReading>, oha: &Side<GeneratorReading>) -> Vec<Row> {
        let pacing = self.pacing.unwrap_or("as shipped");
        let work = format!("generator, open {}/s, pacing {pacing}", self.rate);
        if let Some(reason) = ours.absent() {
            return vec![Row::absent(&work, "plimsoll", &reason)];
        }
        let lag = ours.rounds(|reading| reading.lag_p99_us);
        let lag = Row::alone(&work, Quantity::Time("p99 of pacing lag"), &lag, self.lag);
        let name = "oha -q";
        let mut rows = vec![lag];
        if let Some(reason) = oha.absent() {
            rows.push(Row::absent(&work, name, &reason));
            return rows;
        }
        let of = |side: &Side<_>| side.rounds(|reading: &GeneratorReading| reading.cost_us);
        let cost = (name, &of(oha));
        rows.push(Row::beside(
            &work,
            Quantity::Cost,
            &of(ours),
            cost,
            self.cost,
        ));
        // Whether both kept the rate.
        let of = |side: &Side<_>| side.rounds(|reading: &GeneratorReading| reading.per_s);
        let reached = (name, &of(oha));
        rows.push(Row::beside(
            &work,
            Quantity::Throughput,
            &of(ours),
            reached,
            None,
        ));
        rows
    }
}
