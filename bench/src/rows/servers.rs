//! The rows of two servers side by side: processor time when saturated and at the common rate, and throughput.

use crate::figures::rounds::{Side, counted};
use crate::figures::row::{Bar, Limit, Quantity, Row};
use crate::figures::statistics::median;
use crate::reading::server::{Common, SATURATED, ServerReading};

/// Ours beside a peer.
pub struct Beside<'a> {
    /// Their work, as the table has it.
    pub work: &'a str,
    /// The common rate per second.
    pub rate: u32,
    /// Our readings.
    pub ours: &'a Side<ServerReading>,
    /// The peer's name.
    pub name: &'a str,
    /// The peer's readings.
    pub peer: &'a Side<ServerReading>,
    /// On processor time per request, saturated and at the common rate.
    pub cost: Option<Bar>,
    /// On the throughput when saturated.
    pub throughput: Option<Bar>,
}

/// The rows of a comparison of two.
pub fn rows(beside: &Beside<'_>) -> Vec<Row> {
    let work = beside.work;
    let saturated = format!("{work}, saturated");
    let common = format!("{work}, {}/s", beside.rate);
    let sides = [("plimsoll", beside.ours), (beside.name, beside.peer)];
    for (name, side) in sides {
        if let Some(reason) = side.absent() {
            return [&saturated, &common]
                .map(|work| beside.absent(work, (name, &reason)))
                .to_vec();
        }
    }
    let throughput = beside.row(
        &saturated,
        Quantity::Throughput,
        |r| r.saturated.per_s,
        beside.throughput,
    );
    // Ours would have done still more: that holds none the less.
    let lower_bound = throughput.is_held() && !was_idle(beside.peer);
    let idle = was_idle(beside.ours) || was_idle(beside.peer);
    let throughput = if idle && !lower_bound {
        throughput.with_verdict("not saturated: the clients' processor was full first")
    } else {
        throughput
    };
    let at_rate = |r: &ServerReading| r.common.cost_us();
    let lacking = |(name, side): (_, &Side<ServerReading>)| Some((name, without_cost(side)?));
    let mut rows = vec![
        beside.row(
            &saturated,
            Quantity::Cost,
            |r| r.saturated.cost_us,
            beside.cost,
        ),
        throughput,
    ];
    rows.push(match sides.into_iter().find_map(lacking) {
        Some(lack) => beside.absent(&common, lack),
        None => beside.row(&common, Quantity::Cost, at_rate, beside.cost),
    });
    rows
}

/// In how many rounds which sides failed or dropped something at the common rate and so have no figure there, for the foot of the table.
pub fn not_kept<'a>(sides: impl Iterator<Item = &'a Side<ServerReading>>) -> Option<String> {
    let each = sides.map(|side| {
        let readings = side.readings.iter().flatten();
        let count = readings.filter(|reading| reading.common == Common::NotKept);
        (&*side.name, count.count())
    });
    let counts = counted(each)?;
    let text = "rounds without a figure at the common rate, as something failed or was dropped";
    Some(format!("{text}: {counts}"))
}

impl Beside<'_> {
    fn row<V: Into<Option<f64>>>(
        &self,
        work: &str,
        quantity: Quantity,
        figure: impl Fn(&ServerReading) -> V + Copy,
        bar: Option<Bar>,
    ) -> Row {
        let theirs = self.peer.rounds(figure);
        Row::beside(
            work,
            quantity,
            &self.ours.rounds(figure),
            (self.name, &theirs),
            bar,
        )
    }

    /// A row of processor time for which a side has no figure.
    fn absent(&self, work: &str, side: (&str, &str)) -> Row {
        Row::absent(work, Quantity::Cost, side, self.cost.map(Limit::Ratio))
    }
}

/// Why a side has no figure at the common rate, if it has none.
fn without_cost(side: &Side<ServerReading>) -> Option<&'static str> {
    let mut readings = side.readings.iter().flatten();
    if median(&side.rounds(|reading| reading.common.cost_us())).is_some() {
        None
    } else if readings.any(|reading| reading.common == Common::NotKept) {
        Some("does not serve this rate on one processor")
    } else {
        Some("was not asked for this rate")
    }
}

/// Whether it had processor time left over, so that its throughput is a lower bound.
fn was_idle(side: &Side<ServerReading>) -> bool {
    let busy = median(&side.rounds(|reading| reading.saturated.busy));
    busy.is_some_and(|busy| busy < SATURATED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::server::Saturated;

    #[test]
    fn who_was_not_asked_has_not_failed() {
        let check = |rounds: &[Common], expected: Option<&str>| {
            let reading = |common: &Common| ServerReading {
                saturated: Saturated {
                    per_s: 1.0,
                    cost_us: 1.0,
                    busy: 1.0,
                },
                common: *common,
            };
            let mut side = Side::of("a".to_owned());
            side.readings = rounds.iter().map(reading).map(Some).collect();
            assert_eq!(without_cost(&side), expected, "{rounds:?}");
        };
        check(&[Common::NotKept, Common::Cost(1.0)], None);
        let failed = Some("does not serve this rate on one processor");
        check(&[Common::NotKept, Common::NotKept], failed);
        check(&[Common::NotAsked], Some("was not asked for this rate"));
    }
}
