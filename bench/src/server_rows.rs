//! The rows of two servers side by side: processor time when saturated and at the common rate, and throughput.

use crate::rounds::Side;
use crate::row::{Bar, Quantity, Row};
use crate::server_reading::{SATURATED, ServerReading};
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
    pub bar: Option<Bar>,
}

/// The rows of a comparison of two.
pub fn rows(beside: &Beside<'_>) -> Vec<Row> {
    let Beside {
        work, ours, peer, ..
    } = beside;
    if let Some(reason) = ours.absent() {
        return vec![Row::absent(work, "plimsoll", &reason)];
    }
    if let Some(reason) = peer.absent() {
        return vec![Row::absent(work, beside.name, &reason)];
    }
    let saturated = format!("{work}, saturated");
    let common = format!("{work}, {}/s", beside.rate);
    let throughput = beside.row(
        &saturated,
        Quantity::Throughput,
        |r| r.saturated_per_s,
        None,
    );
    let slack = beside.was_idle();
    let throughput = if slack {
        throughput.with_verdict("not saturated: the clients' processor was full first")
    } else {
        throughput
    };
    let mut rows = vec![
        beside.row(
            &saturated,
            Quantity::Cost,
            |r| r.saturated_cost_us,
            beside.bar,
        ),
        throughput,
    ];
    let at_rate = |r: &ServerReading| r.common_cost_us;
    if median(&peer.rounds(at_rate)).is_some() {
        rows.push(beside.row(&common, Quantity::Cost, at_rate, beside.bar));
    } else {
        rows.push(Row::absent(
            &common,
            beside.name,
            "does not serve this rate on one processor",
        ));
    }
    rows
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

    /// Whether one of the two had processor time left over, so that its throughput is a lower bound.
    fn was_idle(&self) -> bool {
        let busy = |side: &Side<ServerReading>| median(&side.rounds(|reading| reading.busy));
        [self.ours, self.peer]
            .into_iter()
            .any(|side| busy(side).is_some_and(|busy| busy < SATURATED))
    }
}
