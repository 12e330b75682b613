//! Servers that are started together and driven by turns of a second, so that whatever the machine does meanwhile it does to all of them.

use crate::Error;
use crate::bench::Bench;
use crate::server::Server;
use std::time::Duration;

/// How long a turn takes.
pub const TURN: Duration = Duration::from_secs(1);

/// Gives each server so many turns; what `drive` says of them, by server, which it gets with its place. Their number is even, for whoever went before a server in one
/// cycle goes after it in the next.
pub fn by_turns<T>(
    bench: &Bench,
    servers: &[Server],
    cycles: usize,
    drive: impl Fn(usize, &Server) -> Result<T, Error>,
) -> Result<Vec<Vec<T>>, Error> {
    let cycles = if bench.lengths.short { 1 } else { cycles };
    let mut said: Vec<Vec<T>> = servers.iter().map(|_| Vec::new()).collect();
    for turn in order(servers.len()).take(cycles * servers.len()) {
        said[turn].push(drive(turn, &servers[turn])?);
    }
    Ok(said)
}

/// The processor time that each has used up to now.
pub fn used(servers: &[Server]) -> Vec<Duration> {
    servers.iter().map(Server::processor_time).collect()
}

/// Whose turn it is of so many: each pair of cycles begins with another one, and the second goes back by the way that the first came.
fn order(sides: usize) -> impl Iterator<Item = usize> {
    (0..).flat_map(move |cycle| {
        (0..sides).map(move |place| {
            let forth = cycle % 2 == 0;
            let place = if forth { place } else { sides - 1 - place };
            (place + cycle / 2) % sides
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_side_always_follows_the_same_one() {
        let turns: Vec<usize> = order(3).take(3 * 20).collect();
        assert_eq!(turns[..9], [0, 1, 2, 2, 1, 0, 1, 2, 0]);
        for side in 0..3 {
            assert_eq!(turns.iter().filter(|turn| **turn == side).count(), 20);
            for other in (0..3).filter(|other| *other != side) {
                let pairs = turns.windows(2);
                let times = pairs.filter(|pair| **pair == [other, side]).count();
                assert!((6..=10).contains(&times), "{side} after {other}: {times}");
            }
        }
    }
}
