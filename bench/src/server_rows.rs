//! The rows of two servers side by side: processor time when saturated and at the common rate, and throughput.

use crate::rounds::{Side, Sides, counted};
use crate::row::{Bar, Limit, Quantity, Row};
use crate::server_reading::{Common, SATURATED, ServerReading};
use crate::statistics::median;

/// Ours beside a peer.
pub struct Beside<'a> {
    /// What they do.
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
    let never = |side: &Side<ServerReading>| median(&side.rounds(at_rate)).is_none();
    let mut rows = vec![
        beside.row(
            &saturated,
            Quantity::Cost,
            |r| r.saturated.cost_us,
            beside.cost,
        ),
        throughput,
    ];
    let reason = "does not serve this rate on one processor";
    rows.push(match sides.iter().find(|(_, side)| never(side)) {
        Some((name, _)) => beside.absent(&common, (name, reason)),
        None => beside.row(&common, Quantity::Cost, at_rate, beside.cost),
    });
    rows
}

/// In how many rounds which sides failed or dropped something at the common rate and so have no figure there, for the foot of the table.
pub fn not_kept(sides: &Sides<ServerReading>) -> Option<String> {
    let each = sides.iter().map(|side| {
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

/// Whether it had processor time left over, so that its throughput is a lower bound.
fn was_idle(side: &Side<ServerReading>) -> bool {
    let busy = median(&side.rounds(|reading| reading.saturated.busy));
    busy.is_some_and(|busy| busy < SATURATED)
}
