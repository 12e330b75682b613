//! Processor time per request at several numbers of connections: ours beside each peer, and how it grows from the fewest to the most beside
//! the peer's own growth. The curves in `docs/bench.md` are drawn from these rows.

use crate::Error;
use crate::bench::{Bench, Reading};
use crate::figures::findings::Findings;
use crate::figures::rounds::{Side, Turns, interleave};
use crate::figures::row::{Bar, Quantity, Row};
use crate::figures::thousands::thousands;
use crate::rows::pair;

/// Sides and the numbers of connections at which they are measured.
pub struct Curve<K: 'static> {
    /// Its name in the table.
    pub work: &'static str,
    /// Ours, and its name.
    pub ours: (K, &'static str),
    /// Whom the bars are against.
    pub peers: &'static [(K, &'static str)],
    /// Ours with something more, which is shown beside the first peer.
    pub more: Option<(K, &'static str)>,
    /// The numbers of connections under the bar, in ascending order.
    pub judged: &'static [u32],
    /// Further ones, which the curve has.
    pub shown: &'static [u32],
    /// On processor time per request, ours to each peer's.
    pub bar: Bar,
}

/// Ours grows no more than a peer does.
const NO_MORE: Bar = Bar::at_most(1.0);
/// Processor time per request hardly moves while the machine stands still for so little.
const TOLERATED: f64 = 0.02;

/// Who is measured, by its name, on so many connections.
type Point<K> = (K, &'static str, u32);

/// Measures all points; `read` gives microseconds of processor time per request.
pub fn compare<K: Copy>(
    bench: &Bench,
    curve: &Curve<K>,
    read: impl Fn(K, u32) -> Result<Reading<f64>, Error>,
) -> Result<Findings, Error> {
    let (points, judged) = curve.points();
    let turns = Turns {
        judged,
        tolerated: TOLERATED,
    };
    let name = |(_, name, count): Point<K>| format!("{name} on {}", thousands(count));
    let sides = interleave(bench, &points, turns, name, |(kind, _, count)| {
        read(kind, count)
    })?;
    let side = |name: &str, count: u32| {
        let place = points
            .iter()
            .position(|point| (point.1, point.2) == (name, count));
        &sides[place.expect("invariant: every point was measured")]
    };
    Ok(Findings::of(curve.rows(side), &sides))
}

impl<K: Copy> Curve<K> {
    /// Every point, those under a bar first, and how many these are.
    fn points(&self) -> (Vec<Point<K>>, usize) {
        let under_bar = || std::iter::once(&self.ours).chain(self.peers);
        let of = |counts: &[u32], sides: &[(K, &'static str)]| -> Vec<Point<K>> {
            let at = |count| sides.iter().map(move |(kind, name)| (*kind, *name, count));
            counts.iter().flat_map(|count| at(*count)).collect()
        };
        let under_bar: Vec<_> = under_bar().copied().collect();
        let more: Vec<_> = self.more.into_iter().collect();
        let mut points = of(self.judged, &under_bar);
        let judged = points.len();
        points.extend(of(self.shown, &under_bar));
        points.extend(of(self.judged, &more));
        points.extend(of(self.shown, &more));
        (points, judged)
    }

    fn rows<'a>(&self, side: impl Fn(&str, u32) -> &'a Side<f64>) -> Vec<Row> {
        let mut counts = [self.judged, self.shown].concat();
        counts.sort_unstable();
        let ours = self.ours.1;
        let mut rows = Vec::new();
        for count in counts {
            let work = format!("{}, {} connections", self.work, thousands(count));
            let bar = self.judged.contains(&count).then_some(self.bar);
            for (_, peer) in self.peers {
                let sides = [(ours, side(ours, count)), (*peer, side(peer, count))];
                rows.push(pair::row(&work, Quantity::Cost, sides, |us| *us, bar));
            }
            if let (Some((_, more)), Some((_, peer))) = (self.more, self.peers.first()) {
                let work = format!("{more}, {} connections", thousands(count));
                let sides = [(more, side(more, count)), (*peer, side(peer, count))];
                rows.push(pair::row(&work, Quantity::Cost, sides, |us| *us, None));
            }
        }
        rows.extend(self.growth(side));
        rows
    }

    /// From the fewest to the most connections under the bar.
    fn growth<'a>(&self, side: impl Fn(&str, u32) -> &'a Side<f64>) -> Vec<Row> {
        let [few, .., most] = self.judged else {
            return Vec::new();
        };
        let (from, to) = (thousands(*few), thousands(*most));
        let work = format!("{}, {from} to {to} connections", self.work);
        let of = |name| (name, [side(name, *most), side(name, *few)]);
        let row = |(_, peer): &(K, &'static str)| {
            let sides = [of(self.ours.1), of(peer)];
            pair::growth(&work, sides, |us| *us, Some(NO_MORE))
        };
        self.peers.iter().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CURVE: Curve<u8> = Curve {
        work: "w",
        ours: (0, "ours"),
        peers: &[(1, "peer")],
        more: Some((2, "w, more")),
        judged: &[50, 1_000],
        shown: &[200],
        bar: Bar::at_most(1.0),
    };

    #[test]
    fn points_under_a_bar_come_first() {
        let (points, judged) = CURVE.points();
        assert_eq!(judged, 4);
        let at = |index: usize| (points[index].0, points[index].2);
        assert_eq!(
            [at(0), at(3), at(4), at(6)],
            [(0, 50), (1, 1_000), (0, 200), (2, 50)]
        );
        assert_eq!(points.len(), 9);
    }

    #[test]
    fn growth_is_set_beside_the_peers_own() {
        let side = |name: &str, us: f64| {
            let mut side = Side::of(name.to_owned());
            side.readings = [us, us * 1.01, us * 0.99].map(Some).to_vec();
            side
        };
        let few = [side("ours", 8.0), side("peer", 10.0), side("w, more", 9.0)];
        let most = [side("ours", 12.0), side("peer", 20.0), side("w, more", 9.0)];
        let rows = CURVE.rows(|name, count| {
            let sides = if count == 1_000 { &most } else { &few };
            sides.iter().find(|side| side.name == name).unwrap()
        });
        let rows: Vec<String> = rows.iter().map(Row::markdown).collect();
        insta::assert_snapshot!(rows.join("\n"), @r"
        | w, 50 connections | CPU µs per request | 8.00 | peer: 10.00 | 0.800 (0.800 … 0.800) | ≤ 1.00 × |  | held |
        | w, more, 50 connections | CPU µs per request | 9.00 | peer: 10.00 | 0.900 (0.900 … 0.900) |  |  |  |
        | w, 200 connections | CPU µs per request | 8.00 | peer: 10.00 | 0.800 (0.800 … 0.800) |  |  |  |
        | w, more, 200 connections | CPU µs per request | 9.00 | peer: 10.00 | 0.900 (0.900 … 0.900) |  |  |  |
        | w, 1,000 connections | CPU µs per request | 12.00 | peer: 20.00 | 0.600 (0.600 … 0.600) | ≤ 1.00 × |  | held |
        | w, more, 1,000 connections | CPU µs per request | 9.00 | peer: 20.00 | 0.450 (0.450 … 0.450) |  |  |  |
        | w, 50 to 1,000 connections | growth of CPU per request | 1.500 × | peer: 2.000 × | 0.750 (0.750 … 0.750) | ≤ 1.00 × |  | held |
        ");
    }
}
