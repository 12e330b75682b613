//! One reading of a server or proxy that wrk drives as fast as it can on many connections. Requests are those that the server has counted or,
//! of a proxy, its upstream, which is the same for every proxy.

use crate::Error;
use crate::bench::{Bench, Reading};
use crate::client::wrk::{self, Visit};
use crate::program::Program;
use crate::reading::steady::{self, Lengths};
use crate::server::{Kind, Upstream};
use std::time::Duration;

/// Time that a connection takes to be made, with the one behind a proxy.
pub const EACH: Duration = Duration::from_micros(200);

/// Takes one: microseconds of processor time per request. `behind`: what stands behind a proxy.
pub fn read(
    bench: &Bench,
    kind: Kind,
    behind: Option<Kind>,
    connections: u32,
) -> Result<Reading<f64>, Error> {
    let behind = behind
        .map(|kind| kind.start(bench, bench.placement.clients, None))
        .transpose()?;
    let upstream = behind.as_ref().map(|behind| Upstream {
        address: behind.address,
        connections,
    });
    let server = kind.start(bench, bench.placement.server, upstream)?;
    let counting = behind.as_ref().unwrap_or(&server);
    let lengths = Lengths::of(bench, connections, EACH);
    let load = Visit::Constant.on(connections);
    let directory = bench.directory()?;
    let whole = lengths.whole();
    let command = wrk::visiting(bench, server.listener, load, whole, directory.path())?;
    let mut client = Program::client(bench, &command, directory.path())?;
    let requests = || counting.requests();
    let seen = steady::measure(bench, &mut client, lengths, requests, |_| {
        server.processor_time()
    })?;
    wrk::said(&client.messages(), load)?;
    Ok(seen.with(seen.figures.cost_us()))
}
