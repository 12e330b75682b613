//! `toxiproxy`: a proxy of a Toxiproxy that somebody else has started is slow, broken or silent. The proof is a client of ours at the proxy's
//! own address, to whom its server has to answer.

use super::super::conversation::{Conversation, Usual, is_well, sees};
use super::super::{Step, step};
use super::Kind;
use crate::topology::component::Topology;
use crate::toxiproxy::{Api, Change};
use crate::undo::Undo;
use plimsoll_experiment::{Effect, ForeignProxy, TemplatePart};
use serde_json::{Value, json};
use std::cell::Cell;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};

/// For how long nothing comes behind an answer that is whole.
const QUIET: Duration = Duration::from_millis(500);
/// How long a proxy may take to listen again.
const REACHED_WITHIN: Duration = Duration::from_secs(10);
const AGAIN_AFTER: Duration = Duration::from_millis(20);
/// Most bytes of an answer that are read.
const MOST_BYTES: usize = 16_000_000;
/// A limited bandwidth shows in an answer that takes at least so long.
const SHOWS_IN_S: f64 = 0.1;

pub(super) struct Foreign {
    proxy: ForeignProxy,
    /// The change that is made, once its API is known.
    change: Option<Change>,
    /// Bytes that its server answers, with their substitutions made.
    request: Vec<u8>,
    /// How the proxy was before, once it was begun.
    usual: Rc<Cell<Option<Usual>>>,
}

impl Foreign {
    pub(super) fn new(proxy: ForeignProxy) -> Self {
        Self {
            proxy,
            change: None,
            request: Vec::new(),
            usual: Rc::default(),
        }
    }
}

/// Whether the proxy is there. Where its API is a component's, nobody knows before that runs.
pub(super) async fn check(proxy: &ForeignProxy) -> Result<(), String> {
    let [TemplatePart::Literal(api)] = proxy.api.parts() else {
        return Ok(());
    };
    let change = Change {
        api: Api::at(api),
        proxy: proxy.proxy.clone(),
        toxics: Vec::new(),
    };
    change.proxy().await.map(drop)
}

impl Kind for Foreign {
    fn undo(&mut self, topology: &mut Topology<'_>) -> Result<Option<Undo>, String> {
        let run = topology.run_id().to_owned();
        let (values, addresses) = topology.values();
        let api = values.resolve(&self.proxy.api, None, addresses);
        let api = api.map_err(|error| error.to_string())?;
        let request = values.resolve(&self.proxy.request, None, addresses);
        let request = request.map_err(|error| error.to_string())?;
        self.request = request.expose().into();
        let change = Change {
            api: Api::at(api.expose()),
            proxy: self.proxy.proxy.clone(),
            toxics: toxics(&self.proxy.effect, &run),
        };
        self.change = Some(change.clone());
        Ok(Some(Undo::Proxy(change)))
    }

    fn inject(&mut self, _: &mut Topology<'_>) -> Step {
        let (effect, change) = (self.proxy.effect.clone(), self.change.clone());
        let (request, begun) = (self.request.clone(), Rc::clone(&self.usual));
        step(async move {
            let change = change.ok_or("its API is not known")?;
            let found = change.proxy().await?;
            if found["enabled"] != true || found["toxics"] != json!([]) {
                return Err("it is disabled or has toxics already".to_owned());
            }
            let client = Client::of(&found, &change, request)?;
            let usual = match effect {
                // Whether it answers or not is not asked.
                Effect::Refuse => Usual::default(),
                _ => Usual::of(&client, &effect).await?,
            };
            begun.set(Some(usual));
            change.make().await?;
            sees(&client, &effect, usual).await
        })
    }

    fn heal(&mut self, _: &mut Topology<'_>) -> Step {
        let (change, request) = (self.change.clone(), self.request.clone());
        let (effect, usual) = (self.proxy.effect.clone(), self.usual.get());
        step(async move {
            let (Some(change), Some(usual)) = (change, usual) else {
                return Ok("it was not touched".to_owned());
            };
            let Some(proxy) = change.take_back().await? else {
                return Ok("its proxy is gone, and all toxics with it".to_owned());
            };
            let client = Client::of(&proxy, &change, request)?;
            let again = match effect {
                // Its server has answered all the time.
                Effect::Delay { .. } | Effect::Bandwidth(_) => {
                    is_well(&client, &effect, Some(usual)).await?
                }
                _ => client.is_reached().await?,
            };
            Ok(format!("its API has nothing of it, and {again}"))
        })
    }
}

/// An effect as toxics, with names that no other run has. Refusing connections takes none: the proxy is disabled.
fn toxics(effect: &Effect, run: &str) -> Vec<Value> {
    let (kind, attributes) = match effect {
        Effect::Delay { delay, jitter } => (
            "latency",
            json!({ "latency": delay.as_millis(), "jitter": jitter.as_millis() }),
        ),
        Effect::Bandwidth(bytes) => ("bandwidth", json!({ "rate": bytes / 1000 })),
        Effect::Reset => ("reset_peer", json!({ "timeout": 0 })),
        // Nothing passes until it is removed, which closes the connections.
        Effect::Silence => ("timeout", json!({ "timeout": 0 })),
        Effect::Refuse => return Vec::new(),
    };
    let streams: &[&str] = match effect {
        Effect::Delay { .. } => &["downstream"],
        _ => &["upstream", "downstream"],
    };
    let toxic = |stream: &&str| {
        let name = format!("plimsoll-{run}-{stream}");
        json!({ "name": name, "type": kind, "stream": stream, "attributes": attributes })
    };
    streams.iter().map(toxic).collect()
}

/// A client of ours of the proxy.
struct Client {
    host: String,
    port: u16,
    request: Vec<u8>,
}

impl Client {
    /// One of a proxy that is like this: at its address, or, where it listens at all of its host's, at the host of its API.
    fn of(proxy: &Value, change: &Change, request: Vec<u8>) -> Result<Self, String> {
        let listen = proxy["listen"].as_str().unwrap_or_default();
        let nowhere = || format!("it listens nowhere: {listen}");
        let (host, port) = listen.rsplit_once(':').ok_or_else(nowhere)?;
        let everywhere = listen
            .parse()
            .is_ok_and(|address: SocketAddr| address.ip().is_unspecified());
        Ok(Self {
            host: match everywhere || host.is_empty() {
                true => change.api.host()?,
                false => host.trim_matches(['[', ']']).to_owned(),
            },
            port: port.parse().map_err(|_| nowhere())?,
            request,
        })
    }

    /// Waits until connections are accepted, and says whether its server answers. That it does not may be the fault's doing, which callers
    /// see and which is no part of the fault itself.
    async fn is_reached(&self) -> Result<String, String> {
        let deadline = Instant::now() + REACHED_WITHIN;
        while let Err(error) = self.connect().await {
            if Instant::now() > deadline {
                return Err(format!("connections are not accepted: {error}"));
            }
            sleep(AGAIN_AFTER).await;
        }
        if self.request.is_empty() {
            return Ok("connections are accepted".to_owned());
        }
        let answered = timeout(QUIET, self.round_trip()).await;
        Ok(match answered {
            Ok(Ok(took)) => format!("bytes come back in {:.1} ms", took.as_secs_f64() * 1e3),
            Ok(Err(_)) | Err(_) => {
                "connections are accepted, though its server does not answer yet".to_owned()
            }
        })
    }

    /// Sends the request, and gives the moment.
    async fn ask(&self) -> io::Result<(TcpStream, Instant)> {
        let mut stream = self.connect().await?;
        let begun = Instant::now();
        stream.write_all(&self.request).await?;
        Ok((stream, begun))
    }
}

impl Conversation for Client {
    fn request(&self) -> &[u8] {
        &self.request
    }

    async fn connect(&self) -> io::Result<TcpStream> {
        let stream = TcpStream::connect((self.host.as_str(), self.port)).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    async fn round_trip(&self) -> Result<Duration, String> {
        let asked = async {
            let (mut stream, begun) = self.ask().await?;
            match stream.read(&mut [0; 1]).await? {
                0 => Err(io::Error::other("its server does not answer `request`")),
                _ => Ok(begun.elapsed()),
            }
        };
        asked.await.map_err(|error: io::Error| error.to_string())
    }

    async fn transfer(&self, limit: f64) -> Result<(f64, Duration), String> {
        let said = |error: io::Error| error.to_string();
        let (mut stream, begun) = self.ask().await.map_err(said)?;
        let (mut bytes, mut took) = (0, Duration::ZERO);
        let mut piece = vec![0; 64 * 1024];
        // The request passes no faster.
        #[expect(clippy::cast_precision_loss, reason = "a length for a time")]
        let sending = self.request.len() as f64 / limit;
        let mut patience = QUIET + Duration::from_secs_f64(sending);
        while bytes < MOST_BYTES
            && let Ok(read) = timeout(patience, stream.read(&mut piece)).await
        {
            patience = QUIET;
            match read.map_err(said)? {
                0 => break,
                more => bytes += more,
            }
            took = begun.elapsed();
        }
        #[expect(clippy::cast_precision_loss, reason = "limited above")]
        let bytes = bytes as f64;
        match bytes >= limit * SHOWS_IN_S {
            true => Ok((bytes, took)),
            false => Err(format!(
                "the answer has {bytes} bytes, too few to show a rate: write a `request` with an answer of {:.0} bytes or more",
                limit * SHOWS_IN_S
            )),
        }
    }
}
