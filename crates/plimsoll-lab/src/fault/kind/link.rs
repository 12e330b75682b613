//! `link`: the proxy in a link makes it slow, broken or silent. The proof is a connection of ours through the same listener and the same toxics,
//! which the proxy leads to an echo of ours in the place of the server.

use super::super::conversation::{Conversation, Usual, is_well, sees};
use super::super::{Step, step};
use super::Kind;
use crate::topology::component::{Links, Topology};
use plimsoll_experiment::{Effect, Link};
use serde_json::{Value, json};
use std::cell::Cell;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::Instant;

/// Bytes of a round trip.
const LITTLE: &[u8] = &[b'x'; 64];
/// For how many seconds' bytes of a limited bandwidth the proof waits.
const LIMITED_FOR: f64 = 0.5;
/// Most bytes that the proof sends.
const MOST_BYTES: f64 = 4e6;

pub(super) struct Broken {
    link: Link,
    effect: Effect,
    /// How the link was before, once that is known.
    usual: Rc<Cell<Option<Usual>>>,
}

impl Broken {
    pub(super) fn new(link: Link, effect: Effect) -> Self {
        Self {
            link,
            effect,
            usual: Rc::default(),
        }
    }
}

impl Kind for Broken {
    fn inject(&mut self, topology: &mut Topology<'_>) -> Step {
        let links = topology.links().cloned();
        let (link, effect) = (self.link.clone(), self.effect.clone());
        let known = Rc::clone(&self.usual);
        step(async move {
            let links = links.map_err(|error| error.to_string())?;
            let echoed = Echoed {
                links: &links,
                link: &link,
            };
            let usual = Usual::of(&echoed, &effect).await?;
            known.set(Some(usual));
            for toxic in toxics(&effect) {
                links
                    .poison(&link, &toxic)
                    .await
                    .map_err(|error| error.to_string())?;
            }
            sees(&echoed, &effect, usual).await
        })
    }

    fn heal(&mut self, topology: &mut Topology<'_>) -> Step {
        let links = topology.links().cloned();
        let (link, effect) = (self.link.clone(), self.effect.clone());
        let usual = self.usual.get();
        step(async move {
            let links = links.map_err(|error| error.to_string())?;
            links.cure(&link).await.map_err(|error| error.to_string())?;
            let echoed = Echoed {
                links: &links,
                link: &link,
            };
            is_well(&echoed, &effect, usual).await
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

/// A client of ours of the proxy in a link, which leads it to an echo of ours in the place of the server.
struct Echoed<'a> {
    links: &'a Links,
    link: &'a Link,
}

impl Conversation for Echoed<'_> {
    fn request(&self) -> &[u8] {
        LITTLE
    }

    async fn connect(&self) -> io::Result<TcpStream> {
        self.connect_to(None).await
    }

    async fn round_trip(&self) -> Result<Duration, String> {
        self.echo(LITTLE).await
    }

    async fn transfer(&self, limit: f64) -> Result<(f64, Duration), String> {
        let bytes = (limit * LIMITED_FOR).min(MOST_BYTES);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "limited above"
        )]
        let sent = vec![b'x'; bytes as usize];
        Ok((bytes, self.echo(&sent).await?))
    }
}

impl Echoed<'_> {
    /// Time from sending these bytes until all of them have come back.
    async fn echo(&self, sent: &[u8]) -> Result<Duration, String> {
        let said = |error: io::Error| error.to_string();
        let echo = TcpListener::bind("127.0.0.1:0").await.map_err(said)?;
        let to = echo.local_addr().map_err(said)?;
        let client = async {
            let mut client = self.connect_to(Some(to)).await?;
            let mut received = vec![0; sent.len()];
            let begun = Instant::now();
            let (mut read, mut write) = client.split();
            let (written, read) =
                tokio::join!(write.write_all(sent), read.read_exact(&mut received));
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
