//! Memory with 10,000 connections: proxies that hold them idle, and our generator with as many users.

use super::Comparison;
use crate::bench::Bench;
use crate::child::{Child, Output};
use crate::client::ours;
use crate::clock;
use crate::process;
use crate::rounds::{Side, interleave};
use crate::row::{Bar, Quantity, Row};
use crate::server::{self, Kind};
use crate::trouble::Trouble;
use serde_json::json;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

pub const COMPARISON: Comparison = Comparison {
    name: "memory",
    about: "10,000 connections",
    run,
};

const CONNECTIONS: usize = 10_000;
/// Our gateway first, then other proxies. HAProxy reserves two descriptors for each connection that it might get, more than this many
/// connections leave under a usual limit of 20,000.
const PROXIES: [Kind; 3] = [Kind::GatewayPlain, Kind::NginxProxy, Kind::GoProxy];
const GATEWAY: Bar = Bar::new(150.0, 80.0);
const GENERATOR: Bar = Bar::new(200.0, 100.0);
const QUANTITY: Quantity = Quantity::Memory("memory");
/// The longest that one answer may take while the connections are made.
const ANSWER: Duration = Duration::from_secs(10);

fn run(bench: &Bench) -> Result<Vec<Row>, Trouble> {
    let sides = interleave(bench, &PROXIES, |kind| idle(bench, kind));
    let of = |side: &Side<f64>| side.rounds(|megabytes| *megabytes);
    let work = "gateway, 10,000 idle connections";
    let mut rows = match sides[0].absent() {
        Some(reason) => vec![Row::absent(work, "plimsoll", &reason)],
        None => vec![Row::alone(work, QUANTITY, &of(&sides[0]), Some(GATEWAY))],
    };
    for (kind, side) in PROXIES.iter().zip(&sides).skip(1) {
        rows.push(match side.absent() {
            Some(reason) => Row::absent(work, kind.name(), &reason),
            None => Row::beside(
                work,
                QUANTITY,
                &of(&sides[0]),
                (kind.name(), &of(side)),
                None,
            ),
        });
    }
    let work = "generator, 10,000 connected users";
    let generator = interleave(bench, &[()], |()| users(bench)).remove(0);
    rows.push(match generator.absent() {
        Some(reason) => Row::absent(work, "plimsoll", &reason),
        None => Row::alone(work, QUANTITY, &of(&generator), Some(GENERATOR)),
    });
    Ok(rows)
}

/// Megabytes of a proxy that holds connections on each of which one request was answered.
fn idle(bench: &Bench, kind: Kind) -> Result<f64, Trouble> {
    let upstream = Kind::Mock.start(bench, bench.placement.clients, None)?;
    let proxy = kind.start(bench, bench.placement.server, Some(upstream.address))?;
    let held: Vec<TcpStream> = (0..CONNECTIONS)
        .map(|number| {
            connected(proxy.address).map_err(Trouble::io(format!(
                "connection {number} to {}",
                kind.name()
            )))
        })
        .collect::<Result<_, _>>()?;
    let megabytes = process::resident_megabytes(proxy.pid());
    drop(held);
    Ok(megabytes)
}

/// A connection on which one request was answered.
fn connected(address: SocketAddr) -> std::io::Result<TcpStream> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(ANSWER))?;
    let path = server::PATH;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n")?;
    let mut answer = [0; 4096];
    match stream.read(&mut answer)? {
        0 => Err(std::io::ErrorKind::UnexpectedEof.into()),
        length if answer[..length].starts_with(b"HTTP/1.1 200") => Ok(stream),
        length => Err(std::io::Error::other(
            String::from_utf8_lossy(&answer[..length]).into_owned(),
        )),
    }
}

/// Megabytes of our generator, with all that belongs to its run, while every user is connected.
fn users(bench: &Bench) -> Result<f64, Trouble> {
    let target = Kind::NginxReturn.start(bench, bench.placement.server, None)?;
    let directory = bench.directory()?;
    // First iterations are spread over one think time, so that every user is connected when half of the run is over.
    let think = bench.lead() * 2;
    let experiment = json!({
        "version": 1,
        "name": "bench",
        "components": { "target": { "external": format!("http://{}", target.address), "probe": "none" } },
        "scenario": [ours::step()],
        "load": {
            "users": CONNECTIONS,
            "think": format!("{}ms", think.as_millis()),
            "warmup": "0s",
            "duration": format!("{}ms", (think * 3).as_millis()),
        },
        "arms": { "main": { "target": "target" } },
        "method": "measure",
    });
    let command = ours::run(bench, &experiment, directory.path())?;
    let mut client = Child::spawn(
        &command,
        bench.placement.clients,
        directory.path(),
        Output::Messages,
    )?;
    clock::pause(think * 2 + think / 2);
    client.check_alive()?;
    let megabytes = process::resident_megabytes(client.pid());
    client.wait(think * 3 + ANSWER * 3)?;
    let summary = ours::summary(directory.path())?;
    let failed = ours::number(&summary, "/arms/main/failed")?;
    let connected = ours::number(&summary, "/arms/main/connect_time/count")?;
    if failed > 0.0 || connected < 10_000.0 {
        return Err(Trouble::Behaved(format!(
            "{connected} connections, {failed} exchanges failed"
        )));
    }
    Ok(megabytes)
}
