//! Starts a fault proxy and runs it to its end.

use crate::api::{Api, Guard};
use crate::config::FaultConfig;
use crate::error::{ApiError, FaultError};
use crate::proxies::{Proxies, Shards, Wanted};
use crate::shard::{self, Command, Room};
use crate::tunnel;
use plimsoll_base::ignored::Ignored as _;
use plimsoll_http::pages::{self, Terms};
use plimsoll_http::{Drain, Listener, RequestHead, connections_possible, run_shards};
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{mpsc, watch};

/// Clients of the API, and those that ask for a server before they are given to a proxy, at a time; further ones wait to be accepted.
const CLIENTS: usize = 256;
/// A client of the API sends a list of proxies at most.
const TERMS: Terms = Terms {
    patience: Duration::from_secs(60),
    body_bytes: 1024 * 1024,
};
/// Commands that a shard may have before it.
const COMMANDS: usize = 64;
/// Descriptors of a connection: its client's and its server's.
const DESCRIPTORS: u32 = 2;

/// The names of listeners and where they are.
type Listening = Vec<(String, SocketAddr)>;

/// Runs a fault proxy until `stop` becomes true or its sender is dropped; blocks. `on_ready` is told the name and address of each listener
/// once all proxies of the configuration are there.
///
/// # Errors
/// [`FaultError`]; nothing is served then.
pub fn run(
    config: FaultConfig,
    on_ready: impl FnOnce(Listening) + Send,
    stop: watch::Receiver<bool>,
) -> Result<(), FaultError> {
    if config.shards == 0 {
        let message = "a fault proxy needs at least one shard";
        return Err(FaultError::Config(message.to_owned()));
    }
    if !config.api.ip().is_loopback() && !config.admin_open {
        return Err(FaultError::Config(format!(
            "listening on {} would let the network change faults: add --admin-open if it is to",
            config.api
        )));
    }
    let listeners = Listeners::bind(&config)?;
    let possible = connections_possible(config.shards, 0) / DESCRIPTORS;
    let room = Room::new(config.connections.min(possible) as usize);
    let room = Arc::new(room);
    let (commands, receivers): (Vec<_>, Vec<_>) =
        (0..config.shards).map(|_| mpsc::channel(COMMANDS)).unzip();
    let receivers: Vec<_> = receivers.into_iter().map(take_once).collect();
    // The API has a thread of its own, so that no burst of bytes lets it wait.
    let first = take_once((config, listeners, commands, on_ready));
    let results = run_shards(receivers.len() + 1, "fault", |index| {
        let (first, room, stop) = (&first, Arc::clone(&room), stop.clone());
        let receiver = index.checked_sub(1).map(|index| receivers[index]());
        async move {
            match receiver {
                Some(commands) => Ok(shard::run(commands, room).await?),
                None => {
                    let (config, listeners, commands, on_ready) = first();
                    lead(config, listeners, commands, on_ready, stop).await
                }
            }
        }
    })?;
    results.into_iter().collect()
}

/// Gives something away once.
fn take_once<T>(thing: T) -> impl Fn() -> T {
    let place = Mutex::new(Some(thing));
    move || {
        let mut place = place.lock().expect("invariant: nobody panics with it");
        place.take().expect("invariant: it is taken once")
    }
}

/// Bound sockets.
struct Listeners {
    api: Listener,
    connect: Option<Listener>,
}

impl Listeners {
    fn bind(config: &FaultConfig) -> Result<Self, FaultError> {
        let bind = |address| {
            Listener::bind(address).map_err(|source| FaultError::Listen { address, source })
        };
        Ok(Self {
            api: bind(config.api)?,
            connect: config.connect.map(bind).transpose()?,
        })
    }

    fn addresses(&self) -> io::Result<Listening> {
        let mut listening = vec![("api".to_owned(), self.api.local_addr()?)];
        if let Some(connect) = &self.connect {
            listening.push(("connect".to_owned(), connect.local_addr()?));
        }
        Ok(listening)
    }
}

/// Makes the proxies of the configuration, and serves the API to the end.
async fn lead(
    config: FaultConfig,
    listeners: Listeners,
    commands: Vec<mpsc::Sender<Command>>,
    on_ready: impl FnOnce(Listening),
    mut stop: watch::Receiver<bool>,
) -> Result<(), FaultError> {
    let api = Rc::new(Api {
        proxies: Proxies::new(Shards {
            commands,
            seed: config.seed,
            connect_timeout: config.connect_timeout,
        })
        .into(),
        guard: Guard {
            is_open: config.admin_open,
        },
        metrics: config.metrics,
        log: config.log,
    });
    let wanted = match &config.proxies {
        Some((file, body)) => {
            let wrong = |error: ApiError| FaultError::Config(format!("{file}: {error}"));
            api.all_wanted(body).map_err(wrong)?
        }
        None => Vec::new(),
    };
    let allowed = config.allow.iter().map(|server| tunnel::allowed(server));
    for wanted in wanted.into_iter().chain(allowed) {
        make(&api, wanted).await?;
    }
    let addresses = listeners.addresses()?;
    let drain = Rc::new(Drain::default());
    let stopped = async {
        // A sender that is gone means the same.
        stop.wait_for(|stop| *stop)
            .await
            .map(drop)
            .ignored("there is nobody left who could stop it later");
        drain.begin();
    };
    let answer = |client| {
        let (api, drain) = (Rc::clone(&api), Rc::clone(&drain));
        async move {
            let answer = async |head: &RequestHead, body: &[u8]| api.answer(head, body).await;
            pages::serve(client, TERMS, &drain, answer).await;
        }
    };
    let admit = |client| tunnel::admit(client, Rc::clone(&api));
    let listener = listeners.api.into_shard()?;
    let served = pages::serve_until(listener, CLIENTS, drain.begins(), &drain, answer);
    let connect = listeners.connect.map(Listener::into_shard).transpose()?;
    let tunnelled = async {
        match connect {
            Some(listener) => {
                pages::serve_until(listener, CLIENTS, drain.begins(), &drain, admit).await
            }
            None => Ok(()),
        }
    };
    on_ready(addresses);
    let (served, tunnelled, ()) = tokio::join!(served, tunnelled, stopped);
    api.proxies.lock().await.close().await;
    Ok(served.and(tunnelled)?)
}

async fn make(api: &Api, wanted: Wanted) -> Result<(), FaultError> {
    let name = wanted.name.clone();
    let mut proxies = api.proxies.lock().await;
    match proxies.create(wanted).await {
        Ok(_) => Ok(()),
        Err(error) => Err(FaultError::Config(format!("proxy {name}: {error}"))),
    }
}
