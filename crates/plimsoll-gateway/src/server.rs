//! Starting and stopping: binds, resolves, starts the shards, and ends when they have drained.

use crate::admin::{Admin, AdminListener};
use crate::analytics::{Feed, Names, Writer};
use crate::config::GatewayConfig;
use crate::error::GatewayError;
use crate::metrics::{Counter, ShardMetrics};
use crate::service::Service;
use crate::shard::Shard;
use crate::upstream::{Placement, Upstream};
use plimsoll_http::{CountersFile, Listener, connections_possible, run_shards};
use std::cell::{Cell, RefCell};
use std::io;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use tokio::sync::{Notify, watch};

/// Takes one line of text for the operator; called from several threads.
pub(crate) type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// Serves `config` on `shards` threads until `stop` becomes true or its sender is dropped, then drains. Blocks.
///
/// `on_ready` is called once, with the name and address of every listener, when connections are accepted; the admin
/// listener's name is `admin`. `log` gets one line of text for each thing that its operator should know.
///
/// # Errors
/// [`GatewayError`] when it cannot start or a listener fails. Nothing listens any more then.
pub fn run(
    config: &GatewayConfig,
    shards: usize,
    on_ready: impl FnOnce(Vec<(String, SocketAddr)>),
    stop: watch::Receiver<bool>,
    log: impl Fn(&str) + Send + Sync + 'static,
) -> Result<(), GatewayError> {
    let log: Log = Arc::new(log);
    let shards = shards.max(1);
    let addresses = resolve(config)?;
    let listeners = bind(config)?;
    let since_epoch = crate::clock::since_epoch();
    let started = tokio::time::Instant::now();
    let service = Service::new(config, started, since_epoch);
    let upstreams = config.upstreams.iter();
    let health: Vec<_> = upstreams.map(|u| Upstream::health_of(u, started)).collect();
    let service = Arc::new(service.within(room_for_clients(config, shards, &log)));
    let metrics = make_metrics(config, shards);
    let counters = make_counters(config, shards)?;
    let (writer, feeds) = start_analytics(config, since_epoch, &metrics, &log)?;
    let admin = Admin::new(
        config,
        metrics.clone(),
        writer.as_ref().map(Writer::written),
        stop.clone(),
    );
    on_ready(listeners.names()?);
    let shares = share_out(listeners.main, feeds);
    let results = run_shards(shards, "gateway", |index| {
        let placement = Placement {
            shard: index,
            shards,
        };
        let share = (shares[index].lock().ok())
            .and_then(|mut share| share.take())
            .expect("invariant: each shard starts once");
        let shard = Shard {
            index,
            service: Arc::clone(&service),
            upstreams: (config.upstreams.iter().zip(&addresses).zip(&health))
                .map(|((upstream, addresses), health)| {
                    let limits = config.limits.response;
                    let health = health.clone();
                    Upstream::new(upstream, addresses, health, limits, &placement, started)
                })
                .collect(),
            metrics: Arc::clone(&metrics[index]),
            counters: counters.row(index),
            analytics: share.feed.map(RefCell::new),
            draining: Cell::new(false),
            drain: Notify::new(),
        };
        let admin = admin.as_ref().zip(listeners.admin.as_ref());
        let admin = admin.filter(|_| index == 0);
        serve_shard(Rc::new(shard), share.listeners, admin, stop.clone())
    })?;
    let refused = writer.map_or(0, Writer::join);
    let cut_off = results.into_iter().sum::<io::Result<usize>>()?;
    let queue_full: u64 = metrics.iter().map(|shard| shard.analytics_lost.get()).sum();
    if queue_full + refused > 0 {
        log(&format!(
            "{} analytics records were lost: {refused} that the file did not take, {queue_full} that the writer could not keep up with",
            queue_full + refused
        ));
    }
    tell_of_limits(&metrics, &log);
    if cut_off > 0 {
        log(&format!(
            "stopped; {cut_off} connections were cut off when the drain timeout passed"
        ));
    }
    Ok(())
}

/// How many clients there may be at a time: descriptors are needed for connections to upstreams, too.
fn room_for_clients(config: &GatewayConfig, shards: usize, log: &Log) -> u32 {
    let configured = config.limits.connections;
    let behind = config.upstreams.iter().map(|upstream| {
        let each = u64::from(upstream.max_pending) + u64::from(upstream.idle_connections);
        each * upstream.endpoints.len() as u64
    });
    let possible = connections_possible(shards, behind.sum());
    if possible < configured {
        log(&format!(
            "limits.connections is {configured}, but this process has descriptors for {possible} clients: further ones get 503 (raise `ulimit -n`)"
        ));
    }
    configured.min(possible)
}

/// Says which limits clients have met.
fn tell_of_limits(metrics: &[Arc<ShardMetrics>], log: &Log) {
    type Limit = (&'static str, fn(&ShardMetrics) -> &Counter);
    let limits: [Limit; 5] = [
        ("were turned away: too many", |m| &m.connections_refused),
        ("had to wait: no descriptor was left", |m| &m.exhausted),
        ("ended: a head took too long", |m| &m.ended.slow_head),
        ("ended: a body took too long", |m| &m.ended.slow_body),
        ("ended: an answer was not taken", |m| &m.ended.unread),
    ];
    for (words, counter) in limits {
        let count: u64 = metrics.iter().map(|shard| counter(shard).get()).sum();
        if count > 0 {
            log(&format!("{count} connections {words}"));
        }
    }
}

/// What a shard takes with it when it starts.
struct Share {
    /// Let go of as soon as the shard has its own descriptors, so that the ports close with the last shard's.
    listeners: Arc<[Listener]>,
    feed: Option<Feed>,
}

/// One share for each feed. The locks are only for moving a share into its thread: each is taken once.
fn share_out(
    listeners: Vec<(String, Listener)>,
    feeds: Vec<Option<Feed>>,
) -> Vec<Mutex<Option<Share>>> {
    let listeners: Arc<[Listener]> = listeners.into_iter().map(|(_, socket)| socket).collect();
    let share = |feed| Share {
        listeners: Arc::clone(&listeners),
        feed,
    };
    let shares = feeds.into_iter().map(share);
    shares.map(|share| Mutex::new(Some(share))).collect()
}

async fn serve_shard(
    shard: Rc<Shard>,
    listeners: Arc<[Listener]>,
    admin: Option<(&Admin, &AdminListener)>,
    stop: watch::Receiver<bool>,
) -> io::Result<usize> {
    let sockets = (listeners.iter().map(Listener::for_shard)).collect::<io::Result<Vec<_>>>()?;
    drop(listeners);
    let clients = Rc::clone(&shard).run(sockets, stop);
    let result = match admin {
        Some((admin, AdminListener(listener))) => {
            let socket = listener.for_shard()?;
            // The admin listener outlives the drain, so that it can be watched.
            tokio::select! {
                result = clients => result,
                Err(error) = admin.serve(socket) => Err(error),
            }
        }
        None => clients.await,
    };
    if let Some(shard) = Rc::into_inner(shard) {
        shard.finish();
    }
    result
}

/// The bound sockets.
struct Listeners {
    main: Vec<(String, Listener)>,
    admin: Option<AdminListener>,
}

impl Listeners {
    fn names(&self) -> io::Result<Vec<(String, SocketAddr)>> {
        let mut names = Vec::new();
        for (name, listener) in &self.main {
            names.push((name.clone(), listener.local_addr()?));
        }
        if let Some(AdminListener(listener)) = &self.admin {
            names.push(("admin".to_owned(), listener.local_addr()?));
        }
        Ok(names)
    }
}

fn bind(config: &GatewayConfig) -> Result<Listeners, GatewayError> {
    let bind_one = |name: &str, address: SocketAddr| {
        Listener::bind(address).map_err(|source| GatewayError::Listen {
            name: name.to_owned(),
            address,
            source,
        })
    };
    let main = config.listeners.iter().map(|listener| {
        let socket = bind_one(&listener.name, listener.address)?;
        Ok((listener.name.clone(), socket))
    });
    let admin = config.admin.as_ref();
    Ok(Listeners {
        main: main.collect::<Result<_, GatewayError>>()?,
        admin: admin
            .map(|admin| bind_one("admin", admin.address).map(AdminListener))
            .transpose()?,
    })
}

/// One address for each endpoint of each upstream.
fn resolve(config: &GatewayConfig) -> Result<Vec<Vec<SocketAddr>>, GatewayError> {
    let resolve_one = |upstream: &str, host: &str, port: u16| {
        let host = host.trim_matches(['[', ']']);
        let fail = |reason: String| GatewayError::Resolve {
            upstream: upstream.to_owned(),
            endpoint: format!("{host}:{port}"),
            reason,
        };
        let found: Vec<SocketAddr> = (host, port)
            .to_socket_addrs()
            .map_err(|error| fail(error.to_string()))?
            .collect();
        let ipv4 = found.iter().find(|address| address.is_ipv4());
        let chosen = ipv4.or(found.first()).copied();
        chosen.ok_or_else(|| fail("it has no address".to_owned()))
    };
    config
        .upstreams
        .iter()
        .map(|upstream| {
            let endpoints = upstream.endpoints.iter();
            endpoints
                .map(|endpoint| resolve_one(&upstream.name, &endpoint.host, endpoint.port))
                .collect()
        })
        .collect()
}

fn make_metrics(config: &GatewayConfig, shards: usize) -> Vec<Arc<ShardMetrics>> {
    let (routes, upstreams) = (config.routes.len(), config.upstreams.len());
    let of_one = |_| Arc::new(ShardMetrics::new(routes, upstreams));
    (0..shards).map(of_one).collect()
}

fn make_counters(config: &GatewayConfig, shards: usize) -> Result<CountersFile, GatewayError> {
    CountersFile::create(config.counters.as_deref(), shards).map_err(|source| {
        GatewayError::Counters {
            path: config.counters.clone().unwrap_or_default(),
            source,
        }
    })
}

type Analytics = (Option<Writer>, Vec<Option<Feed>>);

fn start_analytics(
    config: &GatewayConfig,
    since_epoch: std::time::Duration,
    metrics: &[Arc<ShardMetrics>],
    log: &Log,
) -> Result<Analytics, GatewayError> {
    let Some(path) = &config.analytics else {
        return Ok((None, metrics.iter().map(|_| None).collect()));
    };
    let keys = |route: &crate::config::RouteConfig| {
        let digests = route.key.iter().flat_map(|key| &key.digests);
        digests.map(|digest| digest.to_hex()).collect()
    };
    let names = Names {
        start_micros: u64::try_from(since_epoch.as_micros()).unwrap_or(0),
        routes: config
            .routes
            .iter()
            .map(|route| route.path.clone())
            .collect(),
        keys: config.routes.iter().map(keys).collect(),
    };
    let (writer, feeds) =
        Writer::start(path, names, metrics, Arc::clone(log)).map_err(|source| {
            GatewayError::Analytics {
                path: path.clone(),
                source,
            }
        })?;
    Ok((Some(writer), feeds.into_iter().map(Some).collect()))
}
