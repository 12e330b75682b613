//! The fault proxy's toxics against what was asked for: delays and their lateness, bandwidth, toxicity, changes under load, and a server
//! that answers nothing.

use super::Check;
use crate::bar::Bar;
use crate::bench::{Bench, Error};
use crate::clock;
use crate::fault::FaultProxy;
use serde_json::{Value, json};
use socket2::{Domain, Socket, Type};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

pub const CHECK: Check = Check {
    name: "toxics",
    about: "delays at 2,000 pieces a second, bandwidth, toxicity, changes under load",
    run,
};

/// Pieces a second.
const RATE: u32 = 2_000;
/// A piece: when it was sent, in nanoseconds since the check began.
const STAMP: usize = 8;
/// Delays in milliseconds.
const DELAYS: [u64; 4] = [1, 5, 20, 100];
/// How far the mean delay may be off, and how late the p99 may be.
const MEAN_OFF: f64 = 0.000_2;
const P99_LATE: f64 = 0.001;
/// A stall reaches pieces so long after it.
const AFTERWARDS: Duration = Duration::from_millis(5);
/// How far a bandwidth may be off.
const RATE_OFF: f64 = 0.02;
const BANDWIDTHS: [u64; 3] = [100, 10_000, 100_000];
const TOXICITY: f64 = 0.3;
/// Standard normal quantile of 99.9 %, two-sided.
const Z: f64 = 3.29;
/// How long a change may take under load.
const CHANGE: Duration = Duration::from_millis(100);
/// Pause of a sender behind each block: about 60 MB/s each way. Without any, senders and readers would fill both processors of a small
/// machine, and the time of a change would be the scheduler's.
const REST: Duration = Duration::from_millis(1);
/// How long a client may wait to be accepted while a server answers nothing.
const ACCEPT: Duration = Duration::from_millis(10);
const PATIENCE: Duration = Duration::from_secs(30);

fn run(bench: &Bench) -> Result<Vec<Bar>, Error> {
    let mut bars = Vec::new();
    for millis in DELAYS {
        bench.progress(&format!("toxics: a delay of {millis} ms"));
        bars.extend(delay(bench, millis)?);
    }
    for rate in BANDWIDTHS {
        bars.push(bandwidth(bench, rate)?);
    }
    bench.progress("toxics: toxicity");
    bars.extend(toxicity(bench)?);
    bench.progress("toxics: changes under load");
    bars.push(changes(bench)?);
    bars.push(blackhole(bench)?);
    Ok(bars)
}

/// A proxy, and both ends of a connection through it.
fn through(proxy: &FaultProxy) -> Result<(TcpStream, TcpStream), Error> {
    let io = |error| Error::io("a connection through the proxy", error);
    let listener = TcpListener::bind("127.0.0.1:0").map_err(io)?;
    let address = listener.local_addr().map_err(io)?;
    let client = TcpStream::connect(proxy.proxy("p", address)?).map_err(io)?;
    let (server, _) = listener.accept().map_err(io)?;
    for stream in [&client, &server] {
        stream.set_nodelay(true).map_err(io)?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(io)?;
    }
    Ok((client, server))
}

fn delay(bench: &Bench, millis: u64) -> Result<Vec<Bar>, Error> {
    let seconds = bench.pick(20, 1);
    let proxy = FaultProxy::start(bench, 1, "10s")?;
    let (client, server) = through(&proxy)?;
    let toxic =
        json!({ "type": "latency", "stream": "upstream", "attributes": { "latency": millis } });
    proxy.add("p", &toxic)?;
    let mark = bench.witness.mark();
    let begin = clock::now();
    let count = RATE * seconds;
    let sent = std::thread::spawn(move || send(client, begin, count));
    let mut times = receive(server, begin, count)?;
    sent.join()
        .map_err(|_| Error::Measured("the sender failed".to_owned()))?;
    let stalls = bench.witness.stalls_since(&mark);
    let all = times.len();
    times.retain(|(sent, arrived)| {
        let reaches = |gap: &crate::witness::Gap| {
            *sent < gap.end + AFTERWARDS && *arrived + gap.length > gap.end
        };
        !stalls.iter().any(reaches)
    });
    proxy.stop()?;
    let mut delays: Vec<f64> = times
        .iter()
        .map(|(sent, arrived)| (*arrived - *sent).as_secs_f64())
        .collect();
    if delays.is_empty() {
        return Ok(vec![Bar::not_measured(
            format!("delay of {millis} ms"),
            "every piece met a stall",
        )]);
    }
    delays.sort_by(f64::total_cmp);
    #[expect(clippy::cast_precision_loss, reason = "pieces of a run")]
    let mean = delays.iter().sum::<f64>() / delays.len() as f64;
    let p99 = delays[delays.len() * 99 / 100];
    let asked = Duration::from_millis(millis).as_secs_f64();
    let early = delays.iter().filter(|delay| **delay < asked).count();
    Ok(vec![
        Bar::judged(
            format!("delay of {millis} ms, mean"),
            format!("± {:.1} ms, none early", MEAN_OFF * 1e3),
            format!(
                "{:+.3} ms, {early} early, of {} pieces ({all} sent)",
                (mean - asked) * 1e3,
                delays.len()
            ),
            (mean - asked).abs() <= MEAN_OFF && early == 0,
        ),
        Bar::judged(
            format!("delay of {millis} ms, p99"),
            format!("at most {:.1} ms late", P99_LATE * 1e3),
            format!("{:.3} ms late", (p99 - asked) * 1e3),
            p99 - asked <= P99_LATE,
        ),
    ])
}

/// Sends stamps at the rate.
fn send(mut client: TcpStream, begin: Instant, count: u32) {
    for number in 0..count {
        clock::until(begin + Duration::from_secs(1) / RATE * number);
        let now = u64::try_from((clock::now() - begin).as_nanos()).unwrap_or(u64::MAX);
        if client.write_all(&now.to_le_bytes()).is_err() {
            return;
        }
    }
}

/// When each was sent, and when it arrived.
fn receive(
    mut server: TcpStream,
    begin: Instant,
    count: u32,
) -> Result<Vec<(Instant, Instant)>, Error> {
    let mut times = Vec::with_capacity(count as usize);
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    while times.len() < count as usize {
        let read = server.read(&mut buffer);
        let read = read.map_err(|error| Error::io("reading what was delayed", error))?;
        let now = clock::now();
        if read == 0 {
            return Err(Error::Measured("the proxy closed".to_owned()));
        }
        bytes.extend_from_slice(&buffer[..read]);
        let whole = bytes.len() / STAMP * STAMP;
        for stamp in bytes[..whole].chunks_exact(STAMP) {
            let nanos = u64::from_le_bytes(stamp.try_into().unwrap_or_default());
            times.push((begin + Duration::from_nanos(nanos), now));
        }
        bytes.drain(..whole);
    }
    Ok(times)
}

fn bandwidth(bench: &Bench, rate: u64) -> Result<Bar, Error> {
    let seconds = bench.pick(10, 1);
    bench.progress(&format!("toxics: {rate} kB/s for {seconds} s"));
    let proxy = FaultProxy::start(bench, 1, "10s")?;
    let (mut client, mut server) = through(&proxy)?;
    let toxic =
        json!({ "type": "bandwidth", "stream": "upstream", "attributes": { "rate": rate } });
    proxy.add("p", &toxic)?;
    let bytes = usize::try_from(rate * 1_000 * seconds).unwrap_or(usize::MAX);
    let begin = clock::now();
    let sent = std::thread::spawn(move || {
        // From one block: making all of it would take time of what is measured.
        let block = vec![1; 64 * 1024];
        let mut left = bytes;
        while left > 0 {
            let count = left.min(block.len());
            client.write_all(&block[..count])?;
            left -= count;
        }
        Ok(())
    });
    let mut taken = 0;
    let mut buffer = vec![0; 64 * 1024];
    while taken < bytes {
        let read = server.read(&mut buffer);
        taken += read.map_err(|error| Error::io("reading what was slowed", error))?;
    }
    let took = clock::now() - begin;
    let sent = sent
        .join()
        .map_err(|_| Error::Measured("the sender failed".to_owned()))?;
    sent.map_err(|error: std::io::Error| Error::io("sending what is slowed", error))?;
    proxy.stop()?;
    #[expect(clippy::cast_precision_loss, reason = "megabytes")]
    let measured = bytes as f64 / took.as_secs_f64() / 1e3;
    #[expect(clippy::cast_precision_loss, reason = "megabytes")]
    let rate = rate as f64;
    Ok(Bar::judged(
        format!("bandwidth of {rate} kB/s"),
        format!("± {:.0} %", 100.0 * RATE_OFF),
        format!(
            "{measured:.0} kB/s ({:+.2} %)",
            100.0 * (measured / rate - 1.0)
        ),
        (measured / rate - 1.0).abs() <= RATE_OFF,
    ))
}

/// A server that sends one byte to each of its clients.
fn greeter() -> Result<SocketAddr, Error> {
    let io = |error| Error::io("a server", error);
    let listener = TcpListener::bind("127.0.0.1:0").map_err(io)?;
    let address = listener.local_addr().map_err(io)?;
    std::thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            if client.write_all(b"x").is_err() {
                // It was cut already.
            }
        }
    });
    Ok(address)
}

/// On which of so many connections a toxic works, by a seed.
fn worked(bench: &Bench, seed: u64, count: u32) -> Result<Vec<bool>, Error> {
    let proxy = FaultProxy::start(bench, seed, "10s")?;
    let address = proxy.proxy("p", greeter()?)?;
    proxy.add("p", &json!({ "type": "limit_data", "toxicity": TOXICITY }))?;
    let io = |error| Error::io("a client", error);
    let mut worked = Vec::new();
    for _ in 0..count {
        let mut client = TcpStream::connect(address).map_err(io)?;
        client.set_read_timeout(Some(PATIENCE)).map_err(io)?;
        let mut bytes = Vec::new();
        client.read_to_end(&mut bytes).map_err(io)?;
        worked.push(bytes.is_empty());
    }
    proxy.stop()?;
    Ok(worked)
}

fn toxicity(bench: &Bench) -> Result<Vec<Bar>, Error> {
    let count = bench.pick(10_000, 300);
    let first = worked(bench, 1, count)?;
    let again = worked(bench, 1, count)?;
    let cut = first.iter().filter(|worked| **worked).count();
    let expected = f64::from(count) * TOXICITY;
    let reach = Z * (expected * (1.0 - TOXICITY)).sqrt();
    #[expect(clippy::cast_precision_loss, reason = "a number of connections")]
    let off = (cut as f64 - expected).abs();
    Ok(vec![
        Bar::judged(
            format!("toxicity of {TOXICITY}"),
            format!("{expected:.0} ± {reach:.0} of {count} connections (99.9 %)"),
            cut.to_string(),
            off <= reach,
        ),
        Bar::judged(
            "toxicity by one seed",
            "the same connections in a second run",
            match first == again {
                true => "the same".to_owned(),
                false => "others".to_owned(),
            },
            first == again,
        ),
    ])
}

/// Toxics added and removed while a connection is full of bytes both ways.
fn changes(bench: &Bench) -> Result<Bar, Error> {
    let rounds = bench.pick(1_000, 40);
    let proxy = FaultProxy::start(bench, 1, "10s")?;
    let (client, server) = through(&proxy)?;
    let is_over = AtomicBool::new(false);
    let mut longest = Duration::ZERO;
    std::thread::scope(|scope| -> Result<(), Error> {
        for (from, to) in [(&client, &server), (&server, &client)] {
            let is_over = &is_over;
            scope.spawn(move || {
                let (mut from, block) = (from, vec![2; 64 * 1024]);
                while !is_over.load(Ordering::Relaxed) && from.write_all(&block).is_ok() {
                    clock::pause(REST);
                }
            });
            scope.spawn(move || {
                let (mut to, mut buffer) = (to, vec![0; 64 * 1024]);
                while matches!(to.read(&mut buffer), Ok(count) if count > 0) {}
            });
        }
        let changed = (0..rounds).try_for_each(|round| {
            let stream = ["upstream", "downstream"][round % 2];
            let kinds = [
                json!({ "type": "latency", "name": "t", "stream": stream, "attributes": { "latency": 50 } }),
                json!({ "type": "bandwidth", "name": "t", "stream": stream, "attributes": { "rate": 10 } }),
                json!({ "type": "silence", "name": "t", "stream": stream }),
            ];
            for what in [Some(&kinds[round % 3]), None] {
                let begin = clock::now();
                match what {
                    Some(toxic) => proxy.add("p", toxic)?,
                    None => proxy.ask("DELETE", "/proxies/p/toxics/t", &Value::Null).map(drop)?,
                }
                longest = longest.max(clock::now() - begin);
            }
            Ok(())
        });
        is_over.store(true, Ordering::Relaxed);
        for stream in [&client, &server] {
            if stream.shutdown(std::net::Shutdown::Both).is_err() {
                // Its other end was first.
            }
        }
        changed
    })?;
    proxy.stop()?;
    Ok(Bar::judged(
        "adding and removing toxics under load",
        format!("each within {} ms", CHANGE.as_millis()),
        format!(
            "the longest of {} took {:.1} ms",
            2 * rounds,
            longest.as_secs_f64() * 1e3
        ),
        longest <= CHANGE,
    ))
}

/// Clients of a proxy whose server answers nothing: how long each waits until the proxy has accepted it.
fn blackhole(bench: &Bench) -> Result<Bar, Error> {
    let io = |error| Error::io("a server that answers nothing", error);
    let listener = Socket::new(Domain::IPV4, Type::STREAM, None).map_err(io)?;
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    listener.bind(&any.into()).map_err(io)?;
    listener.listen(0).map_err(io)?;
    let address = listener.local_addr().map_err(io)?;
    let mut fillers = Vec::new();
    for _ in 0..8 {
        let filler = Socket::new(Domain::IPV4, Type::STREAM, None).map_err(io)?;
        filler.set_nonblocking(true).map_err(io)?;
        // It is under way, or never answered.
        drop(filler.connect(&address));
        fillers.push(filler);
    }
    let Some(address) = address.as_socket() else {
        return Err(Error::Measured("it has no address".to_owned()));
    };
    let proxy = FaultProxy::start(bench, 1, "30s")?;
    let hole = proxy.proxy("hole", address)?;
    let mut longest = Duration::ZERO;
    let mut clients = Vec::new();
    for number in 1..=bench.pick(100_u64, 10) {
        let begin = clock::now();
        clients.push(TcpStream::connect(hole).map_err(io)?);
        loop {
            let turns = proxy.ask("GET", "/plimsoll/turns", &Value::Null)?;
            if turns["hole"]["connections"] == number {
                break;
            }
            if clock::now() - begin > PATIENCE {
                return Err(Error::Measured(format!("client {number} was not accepted")));
            }
        }
        longest = longest.max(clock::now() - begin);
    }
    proxy.stop()?;
    drop(fillers);
    Ok(Bar::judged(
        "accepting while the server answers nothing",
        format!("each within {} ms", ACCEPT.as_millis()),
        format!(
            "the longest of {} took {:.2} ms",
            clients.len(),
            longest.as_secs_f64() * 1e3
        ),
        longest <= ACCEPT,
    ))
}
