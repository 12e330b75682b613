//! Memory of proxies while readers take large bodies slowly: a proxy that streams holds little of each, whatever the size.

use super::Comparison;
use crate::bench::Bench;
use crate::clock;
use crate::process;
use crate::rounds::{Side, interleave};
use crate::row::{Bar, Quantity, Row};
use crate::server::Kind;
use crate::trouble::Trouble;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

pub const COMPARISON: Comparison = Comparison {
    name: "bodies",
    about: "100 MB bodies, taken slowly by 20 readers",
    run,
};

/// Ours first.
const PROXIES: [Kind; 4] = [
    Kind::GatewayPlain,
    Kind::NginxProxy,
    Kind::HaProxy,
    Kind::GoProxy,
];
const READERS: u32 = 20;
const BODY_BYTES: u64 = 100_000_000;
/// What each reader takes at most at a time, and how long it then waits: about 1 MB/s.
const BITE: usize = 65_536;
const REST: Duration = Duration::from_millis(60);
/// One MiB.
const GROWTH: Bar = Bar {
    must: 1.048_576,
    aim: None,
};
const WORK: &str = "gateway, 100 MB bodies, 20 slow readers";
const QUANTITY: Quantity = Quantity::Memory("growth per stream");

fn run(bench: &Bench) -> Result<Vec<Row>, Trouble> {
    let sides = interleave(bench, &PROXIES, |kind| growth(bench, kind));
    let of = |side: &Side<f64>| side.rounds(|megabytes| *megabytes);
    if let Some(reason) = sides[0].absent() {
        return Ok(vec![Row::absent(WORK, "plimsoll", &reason)]);
    }
    let ours = of(&sides[0]);
    let mut rows = vec![Row::alone(WORK, QUANTITY, &ours, Some(GROWTH))];
    for (kind, side) in PROXIES.iter().zip(&sides).skip(1) {
        rows.push(match side.absent() {
            Some(reason) => Row::absent(WORK, kind.name(), &reason),
            None => Row::beside(WORK, QUANTITY, &ours, (kind.name(), &of(side)), None),
        });
    }
    Ok(rows)
}

/// By how many megabytes per reader a proxy grew at most.
fn growth(bench: &Bench, kind: Kind) -> Result<f64, Trouble> {
    let upstream = Kind::NginxReturn.start(bench, bench.placement.clients, None)?;
    let path = upstream.publish("body", BODY_BYTES)?;
    let proxy = kind.start(bench, bench.placement.server, Some(upstream.address))?;
    let before = process::resident_megabytes(proxy.pid());
    let failed = || Trouble::io(format!("reading a body through {}", kind.name()));
    let mut readers: Vec<TcpStream> = (0..READERS)
        .map(|_| request(proxy.address, &path))
        .collect::<Result<_, _>>()
        .map_err(failed())?;
    let mut most = before;
    let end = clock::now() + bench.window();
    let mut bite = vec![0; BITE];
    while clock::now() < end {
        for reader in &mut readers {
            if reader.read(&mut bite).map_err(failed())? == 0 {
                let name = kind.name();
                return Err(Trouble::Behaved(format!("{name} ended a body early")));
            }
        }
        most = most.max(process::resident_megabytes(proxy.pid()));
        clock::pause(REST);
    }
    Ok((most - before) / f64::from(READERS))
}

/// A connection on which the body was asked for and its answer has begun well.
fn request(address: SocketAddr, path: &str) -> std::io::Result<TcpStream> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n")?;
    let mut begin = [0; 12];
    stream.read_exact(&mut begin)?;
    if begin == *b"HTTP/1.1 200" {
        Ok(stream)
    } else {
        let begin = String::from_utf8_lossy(&begin).into_owned();
        Err(std::io::Error::other(format!("answered `{begin}`")))
    }
}
