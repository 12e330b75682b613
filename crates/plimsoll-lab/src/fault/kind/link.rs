//! `link`: the proxy in a link makes it slow, broken or silent. The proof is a connection of ours through the same listener and the same toxics,
//! which the proxy leads to an echo of ours in the place of the server.

use super::super::{Step, step};
use super::Kind;
use crate::topology::component::{Links, Topology};
use plimsoll_experiment::{Effect, Link};
use serde_json::{Value, json};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::{Instant, sleep, timeout};

/// How long an answer of the echo may take where nothing is broken, beyond what was asked for.
const PROMPTLY: Duration = Duration::from_millis(500);
/// How long a link may take to be well again.
const WELL_WITHIN: Duration = Duration::from_secs(10);
const AGAIN_AFTER: Duration = Duration::from_millis(20);
/// For how long nothing must arrive on a silent link.
const SILENT_FOR: Duration = Duration::from_millis(200);
/// How many answers must all be late.
const ECHOES: u32 = 3;
/// For how many seconds' bytes of a limited bandwidth the proof waits.
const LIMITED_FOR: f64 = 0.5;
/// Most bytes that the proof sends.
const MOST_BYTES: f64 = 4e6;
/// A rate that is measured in so short a time is off by less than this.
const RATE_ERROR: f64 = 0.25;

pub(super) struct Broken {
    link: Link,
    effect: Effect,
}

impl Broken {
    pub(super) fn new(link: Link, effect: Effect) -> Self {
        Self { link, effect }
    }
}

impl Kind for Broken {
    fn inject(&mut self, topology: &mut Topology<'_>) -> Step {
        let links = topology.links().cloned();
        let (link, effect) = (self.link.clone(), self.effect.clone());
        step(async move {
            let links = links.map_err(|error| error.to_string())?;
            let mut before = PROMPTLY;
            for _ in 0..ECHOES {
                // The quickest: a machine that stalls takes time for itself.
                before = before.min(Probe::new(&links, &link).prompt().await?);
            }
            for toxic in toxics(&effect) {
                links
                    .poison(&link, &toxic)
                    .await
                    .map_err(|error| error.to_string())?;
            }
            let probe = Probe::new(&links, &link);
            probe.sees(&effect, before).await
        })
    }

    fn heal(&mut self, topology: &mut Topology<'_>) -> Step {
        let links = topology.links().cloned();
        let link = self.link.clone();
        step(async move {
            let links = links.map_err(|error| error.to_string())?;
            links.cure(&link).await.map_err(|error| error.to_string())?;
            let took = Probe::new(&links, &link).prompt().await?;
            Ok(format!(
                "bytes come back in {:.1} ms",
                took.as_secs_f64() * 1e3
            ))
        })
    }
}

/// An effect as toxics of the proxy.
fn toxics(effect: &Effect) -> Vec<Value> {
    let each_way = |toxic: Value| -> Vec<Value> {
        let streams = ["upstream", "downstream"].into_iter();
        let with = |stream: &str| {
            let mut toxic = toxic.clone();
            toxic["stream"] = stream.into();
            toxic["name"] = format!("fault-{stream}").into();
            toxic
        };
        streams.map(with).collect()
    };
    match effect {
        Effect::Delay { delay, jitter } if jitter.is_zero() => {
            vec![json!({ "type": "delay", "attributes": { "delay": micros(*delay) } })]
        }
        Effect::Delay { delay, jitter } => vec![json!({
            "type": "latency",
            "attributes": { "latency": millis(*delay), "jitter": millis(*jitter) },
        })],
        Effect::Bandwidth(bytes) => {
            each_way(json!({ "type": "bandwidth", "attributes": { "rate": bytes / 1000 } }))
        }
        Effect::Refuse => vec![json!({ "type": "refuse" })],
        // Whichever side sends first.
        Effect::Reset => each_way(json!({ "type": "reset_peer", "attributes": { "timeout": 0 } })),
        Effect::Silence => each_way(json!({ "type": "silence" })),
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// A client of ours of the proxy in a link.
struct Probe<'a> {
    links: &'a Links,
    link: &'a Link,
}

impl<'a> Probe<'a> {
    fn new(links: &'a Links, link: &'a Link) -> Self {
        Self { links, link }
    }

    /// Time in which bytes come back where nothing is broken; looks again for a while, for machines stall.
    async fn prompt(&self) -> Result<Duration, String> {
        let deadline = Instant::now() + WELL_WITHIN;
        loop {
            let found = match timeout(PROMPTLY, self.echo(64)).await {
                Ok(Ok(took)) => return Ok(took),
                Ok(Err(why)) => why,
                Err(_) => format!("bytes take longer than {} ms", PROMPTLY.as_millis()),
            };
            if Instant::now() > deadline {
                return Err(found);
            }
            sleep(AGAIN_AFTER).await;
        }
    }

    /// Proves that the effect is there, which was not `before`.
    async fn sees(&self, effect: &Effect, before: Duration) -> Result<String, String> {
        match effect {
            Effect::Delay { delay, jitter } => self.is_late(*delay, *jitter, before).await,
            Effect::Bandwidth(bytes) => self.is_limited(*bytes).await,
            Effect::Silence => match timeout(SILENT_FOR, self.echo(64)).await {
                Err(_) => Ok(format!(
                    "bytes do not come back within {} ms",
                    SILENT_FOR.as_millis()
                )),
                Ok(Ok(_)) => Err("bytes come back".to_owned()),
                Ok(Err(why)) => Err(why),
            },
            Effect::Refuse => match self.connect().await {
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                    Ok("connections are refused".to_owned())
                }
                Err(error) => Err(error.to_string()),
                Ok(_) => Err("connections are accepted".to_owned()),
            },
            Effect::Reset => {
                let mut client = self.connect().await.map_err(|error| error.to_string())?;
                client
                    .write_all(b"x")
                    .await
                    .map_err(|error| error.to_string())?;
                match timeout(PROMPTLY, client.read(&mut [0; 1])).await {
                    Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionReset => {
                        Ok("connections are reset".to_owned())
                    }
                    Ok(Err(error)) => Err(error.to_string()),
                    Ok(Ok(_)) | Err(_) => Err("connections are not reset".to_owned()),
                }
            }
        }
    }

    async fn is_late(
        &self,
        delay: Duration,
        jitter: Duration,
        before: Duration,
    ) -> Result<String, String> {
        let mut took = Vec::new();
        for _ in 0..ECHOES {
            took.push(self.echo(64).await?);
        }
        let ms = |time: &Duration| format!("{:.1}", time.as_secs_f64() * 1e3);
        let said: Vec<String> = took.iter().map(ms).collect();
        let said = said.join(", ");
        // The proxy draws in whole milliseconds.
        let least =
            (delay - jitter).saturating_sub(Duration::from_millis(u64::from(!jitter.is_zero())));
        // Jitter may take all of a delay from one of them, and not from their sum.
        let sum: Duration = took.iter().sum();
        let is_late = jitter.is_zero() || sum > (before + delay / 4) * ECHOES;
        match is_late
            && took
                .iter()
                .all(|time| *time >= least && *time < delay + jitter + PROMPTLY)
        {
            true => Ok(format!("bytes come back after {said} ms")),
            false => Err(format!(
                "bytes come back after {said} ms, which is not {} ms",
                ms(&delay)
            )),
        }
    }

    async fn is_limited(&self, limit: u64) -> Result<String, String> {
        #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
        let limit = limit as f64;
        let bytes = (limit * LIMITED_FOR).min(MOST_BYTES);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "limited above"
        )]
        let took = self.echo(bytes as usize).await?;
        let rate = bytes / took.as_secs_f64();
        let said = format!(
            "{:.0} kB came back in {:.2} s",
            bytes / 1e3,
            took.as_secs_f64()
        );
        match rate <= limit * (1.0 + RATE_ERROR) {
            true => Ok(said),
            false => Err(format!(
                "{said}, which is more than {:.0} kB/s",
                limit / 1e3
            )),
        }
    }

    /// Time from sending so many bytes until all of them have come back.
    async fn echo(&self, bytes: usize) -> Result<Duration, String> {
        let said = |error: io::Error| error.to_string();
        let echo = TcpListener::bind("127.0.0.1:0").await.map_err(said)?;
        let to = echo.local_addr().map_err(said)?;
        let client = async {
            let mut client = self.connect_to(Some(to)).await?;
            let sent = vec![b'x'; bytes];
            let mut received = vec![0; bytes];
            let begun = Instant::now();
            let (mut read, mut write) = client.split();
            let (written, read) =
                tokio::join!(write.write_all(&sent), read.read_exact(&mut received));
            written?;
            read?;
            Ok(begun.elapsed())
        };
        let server = async {
            let (mut stream, _) = echo.accept().await?;
            let (mut read, mut write) = stream.split();
            tokio::io::copy(&mut read, &mut write).await?;
            // Its client decides.
            std::future::pending::<io::Result<()>>().await
        };
        tokio::select! {
            took = client => took.map_err(said),
            failed = server => Err(failed.err().map_or_else(String::new, said)),
        }
    }

    async fn connect(&self) -> io::Result<TcpStream> {
        self.connect_to(None).await
    }

    /// A connection to the proxy in the link, which leads to the link's server or aside.
    async fn connect_to(&self, aside: Option<SocketAddr>) -> io::Result<TcpStream> {
        let socket = TcpSocket::new_v4()?;
        socket.bind(SocketAddr::from(([127, 0, 0, 1], 0)))?;
        let port = socket.local_addr()?.port();
        if let Some(to) = aside {
            let set = self.links.lead_aside(self.link, port, to).await;
            set.map_err(|error| io::Error::other(error.to_string()))?;
        }
        let listener = self.links.listener(self.link);
        let stream = socket
            .connect(listener.ok_or(io::ErrorKind::NotFound)?)
            .await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}
