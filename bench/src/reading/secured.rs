//! One reading of a proxy that wants clients' certificates: driven by our generator, for wrk and others cannot show any, in a time in the middle of
//! its run. Requests are those that the upstream counted, the same for every proxy.

use crate::Error;
use crate::bench::{Bench, Reading};
use crate::client::{CONNECTIONS, ours};
use crate::program::Program;
use crate::reading::server::{Common, OVERHEAD, Saturated, ServerReading};
use crate::server::{Kind, Server};
use crate::{clock, http};
use serde_json::json;
use std::time::Duration;

/// How long the generator runs on after the measured time, so that its end is not in it.
const TAIL: Duration = Duration::from_millis(700);

/// How long connections are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// As long as the run lasts.
    Always,
    /// For one exchange, and each begins with a full handshake.
    Never,
}

/// Takes one: as fast as answers come, then at a common rate per second.
pub fn read(bench: &Bench, kind: Kind, rate: u32) -> Result<Reading<ServerReading>, Error> {
    let (upstream, proxy) = start(bench, kind)?;
    let saturated = drive(bench, &upstream, &proxy, None, Kept::Always)?;
    let common = drive(bench, &upstream, &proxy, Some(rate), Kept::Always)?;
    let lost = saturated.lost.max(common.lost);
    let common = match common.figures.undone {
        true => Common::NotKept,
        false => Common::Cost(common.figures.seen.cost_us),
    };
    Ok(Reading {
        figures: ServerReading {
            saturated: whole(saturated.figures)?,
            common,
        },
        lost,
    })
}

/// Takes one of connections that carry one exchange each.
pub fn read_handshakes(bench: &Bench, kind: Kind) -> Result<Reading<Saturated>, Error> {
    let (upstream, proxy) = start(bench, kind)?;
    let driven = drive(bench, &upstream, &proxy, None, Kept::Never)?;
    Ok(Reading {
        lost: driven.lost,
        figures: whole(driven.figures)?,
    })
}

/// The figures of a driven server, and whether something failed or was never begun.
struct Driven {
    seen: Saturated,
    undone: bool,
}

fn whole(driven: Driven) -> Result<Saturated, Error> {
    match driven.undone {
        false => Ok(driven.seen),
        true => Err(Error::Measured("exchanges failed".to_owned())),
    }
}

fn start(bench: &Bench, kind: Kind) -> Result<(Server, Server), Error> {
    let upstream = Kind::Mock.start(bench, bench.placement.clients, None)?;
    let proxy = kind.start(bench, bench.placement.server, Some(upstream.address))?;
    Ok((upstream, proxy))
}

fn drive(
    bench: &Bench,
    upstream: &Server,
    proxy: &Server,
    rate: Option<u32>,
    kept: Kept,
) -> Result<Reading<Driven>, Error> {
    let mut experiment = ours::experiment(proxy.listener, &proxy.authority());
    experiment["scenario"] = json!([ours::step()]);
    let load = &mut experiment["load"];
    let length = bench.lead() + bench.measured_time() + TAIL;
    load["warmup"] = "0s".into();
    load["duration"] = format!("{}ms", length.as_millis()).into();
    match rate {
        Some(rate) => {
            load["rate"] = format!("{rate}/s").into();
            load["connections"] = CONNECTIONS.into();
        }
        None => load["users"] = CONNECTIONS.into(),
    }
    if kept == Kept::Never {
        load["connection_per"] = "exchange".into();
        load["tls"]["resumption"] = false.into();
        // A port rests for a while behind a connection.
        load["sources"] = json!(["127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"]);
    }
    let directory = bench.directory()?;
    let command = ours::run(bench, &experiment, directory.path())?;
    let mut client = Program::client(bench, &command, directory.path())?;
    clock::pause(bench.lead());
    client.check_alive()?;
    let watch = bench.watch();
    let (begin, requests, used) = (clock::now(), counted(upstream)?, proxy.processor_time());
    clock::pause(bench.measured_time());
    let used = proxy.processor_time().saturating_sub(used).as_secs_f64();
    // The asking itself is one of them.
    let requests = counted(upstream)? - requests - 1.0;
    let seconds = (clock::now() - begin).as_secs_f64();
    let watched = watch.ends(());
    client.wait(length + OVERHEAD)?;
    if requests < 1.0 {
        let said = client.last_words();
        return Err(Error::Measured(format!("no request came: {said}")));
    }
    let summary = ours::summary(directory.path())?;
    Ok(watched.with(Driven {
        seen: Saturated {
            per_s: requests / seconds,
            cost_us: used * 1e6 / requests,
            busy: used / seconds,
        },
        undone: ours::undone(&summary)? > 0.0,
    }))
}

/// Requests that our mock has received.
fn counted(mock: &Server) -> Result<f64, Error> {
    let (_, text) = http::get(mock.address, "/__admin/metrics", &[])?;
    received(&text).ok_or_else(|| Error::Measured("the mock does not count".to_owned()))
}

fn received(metrics: &str) -> Option<f64> {
    let name = "plimsoll_mock_requests_received_total ";
    let line = metrics.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mocks_total_is_read() {
        let text = "# HELP plimsoll_mock_requests_received_total Requests\nplimsoll_mock_requests_received_total 17\n";
        assert_eq!(received(text), Some(17.0));
        assert_eq!(received(""), None);
    }
}
