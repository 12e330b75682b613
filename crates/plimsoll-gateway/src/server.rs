//! Starting and stopping: binds, resolves, starts the shards, and ends when they have drained.

pub(crate) mod acceptor;
pub(crate) mod admin;
pub(crate) mod connection;
use crate::config::GatewayConfig;
use crate::error::GatewayError;
use crate::listening::handover::{ADMIN, Sockets, Starting};
use crate::listening::listener_id::{ListenerId, ListenerSpec};
use crate::metrics::{Counter, ShardMetrics};
use crate::origin::Origin;
use crate::reloading::controls::{Controls, Reload};
use crate::reloading::generation::Blueprint;
use crate::reloading::preparation::{
    open, resolve, room_for_clients, tell_of_insecure, tell_of_nameless,
};
use crate::reloading::reload::{self, Alone, Asked, Fixed, Message, Reloader};
use crate::server::acceptor::Share;
use crate::server::admin::{Admin, AdminListener, Sources};
use crate::shard::{ConnectionLimiters, Shard};
use crate::upstream::Placement;
use plimsoll_base::ignored::Ignored as _;
use plimsoll_base::log::Log;
use plimsoll_http::server::OpenConnections;
use plimsoll_http::{CountersFile, run_shards};
use plimsoll_records::Output;
use plimsoll_records::{Analytics, Counts, RecordSender};
use plimsoll_secrets::SecretRefresher;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

/// Serves `config` on `shards` threads until it is told to stop, then drains. Blocks.
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
    controls: impl Into<Controls>,
    log: impl Fn(&str) + Send + Sync + 'static,
) -> Result<(), GatewayError> {
    let controls: Controls = controls.into();
    let (stop, reload, handover) = (controls.stop, controls.reload, controls.handover);
    let sockets = handover.sockets;
    let (log, shards): (Log, usize) = (Arc::new(log), shards.max(1));
    // Before clients can come: they are not to wait for secrets.
    let refresher = start_keeper(config, &log)?;
    let listeners = bind(config, &sockets)?;
    let origin = Origin::new(Instant::now(), plimsoll_http::clock::since_epoch());
    let (behind, room) = (resolve(config)?, room_for_clients(config, shards, &log));
    tell_of_nameless(config, &behind, &log);
    let first = Arc::new(Blueprint::new(config, behind, &origin, shards, room, None));
    tell_of_insecure(config, &log);
    let (current, generation) = watch::channel(Arc::clone(&first));
    let metrics: Vec<Arc<ShardMetrics>> = (0..shards).map(|_| Arc::default()).collect();
    let counters = make_counters(config, shards)?;
    let records = start_analytics(config, controls.output, shards, &origin, &log)?;
    let (to_shards, changed) = (0..shards).map(|_| mpsc::channel(1)).unzip();
    let (ask, asked) = mpsc::channel(reload::WAITING);
    let ask = reload.is_some().then_some(ask);
    start_control(config, &origin, ask.clone(), &log)?;
    let looked_at = Sources {
        shards: metrics.clone(),
        generation,
        analytics: records.counts(),
        keys: config.control.as_ref().map(|it| Arc::clone(&it.keys)),
        secrets: refresher.figures(),
        reloader: ask,
        stop: stop.clone(),
    };
    let admin = Admin::new(config, looked_at);
    on_ready(listeners.names()?);
    let Records {
        sink_workers,
        feeds,
    } = records;
    let changes = Changing {
        refresher,
        origin,
        shards: to_shards,
        current,
        asked,
        sockets: Arc::clone(&sockets),
        alone: handover.alone,
        stop: stop.clone(),
    }
    .start(config, reload, &log)?;
    let shares = share_out(
        &listeners.main,
        Each {
            feeds,
            changed,
            metrics: &metrics,
        },
        &first,
        &counters,
        &sockets,
    )?;
    drop(listeners.main);
    let starting = Starting::new(shards, handover.prepared, handover.go);
    let results = run_shards(shards, "gateway", |index| {
        let share = (shares[index].lock().ok())
            .and_then(|mut share| share.take())
            .expect("invariant: each shard starts once");
        let admin = admin.as_ref().zip(listeners.admin.as_ref());
        let admin = admin.filter(|_| index == 0);
        serve_shard(share, admin, &starting, stop.clone(), &sockets)
    })?;
    changes.end();
    stop_control(config, &log);
    log_shutdown_summary(sink_workers, &metrics, results, &log)
}

fn start_control(
    config: &GatewayConfig,
    origin: &Origin,
    ask: Option<mpsc::Sender<Asked>>,
    log: &Log,
) -> io::Result<()> {
    let Some(control) = &config.control else {
        return Ok(());
    };
    let reload = Box::new(move || reload::ask(ask.as_ref()));
    control.start(origin.pseudonym(), Arc::clone(log), reload)
}

fn stop_control(config: &GatewayConfig, log: &Log) {
    let unheard = config.control.as_ref().map_or(0, |control| control.stop());
    if unheard > 0 {
        log(&format!("{unheard} changes of keys never reached Redis"));
    }
}

/// Starts the refresher of the configuration's secrets, before anything needs them.
fn start_keeper(config: &GatewayConfig, log: &Log) -> Result<SecretRefresher, GatewayError> {
    let mut refresher = SecretRefresher::new(Arc::clone(log));
    if let Some(keeping) = &config.keeping {
        let asked = refresher.take(keeping)?;
        asked.wait().map_err(GatewayError::Secrets)?;
    }
    Ok(refresher)
}

/// Parts that change while the gateway runs, beside the requests.
struct Changing {
    refresher: SecretRefresher,
    origin: Origin,
    shards: Vec<mpsc::Sender<Message>>,
    current: watch::Sender<Arc<Blueprint>>,
    asked: mpsc::Receiver<Asked>,
    sockets: Arc<Sockets>,
    alone: Option<watch::Receiver<bool>>,
    stop: watch::Receiver<bool>,
}

/// The changes under way.
enum Changes {
    /// Secrets alone change.
    Secrets { _keeper: SecretRefresher },
    /// Everything may.
    Reloads(JoinHandle<()>),
}

impl Changing {
    fn start(
        self,
        config: &GatewayConfig,
        reload: Option<Reload>,
        log: &Log,
    ) -> io::Result<Changes> {
        let Some(reload) = reload else {
            return Ok(Changes::Secrets {
                _keeper: self.refresher,
            });
        };
        let reloader = Reloader {
            source: reload.source,
            origin: self.origin,
            log: Arc::clone(log),
            fixed: Fixed::of(config),
            listeners: config.listeners.iter().map(|l| l.listener_id()).collect(),
            shards: self.shards,
            map_since: 1,
            last_sharding: config.sharding.clone(),
            current: self.current,
            refresher: self.refresher,
            sockets: self.sockets,
            alone: Alone::new(self.alone),
        };
        start_reloader(reloader, reload.hangups, self.asked, self.stop).map(Changes::Reloads)
    }
}

impl Changes {
    /// The gateway has stopped.
    fn end(self) {
        match self {
            Self::Secrets { .. } => {}
            Self::Reloads(thread) => thread.join().expect("the reloader panicked"),
        }
    }
}

/// Says what was lost and cut off, and which limits clients have met.
fn log_shutdown_summary(
    sink_workers: Vec<Analytics>,
    metrics: &[Arc<ShardMetrics>],
    results: Vec<io::Result<usize>>,
    log: &Log,
) -> Result<(), GatewayError> {
    let begun = Instant::now();
    let sink_workers = sink_workers.into_iter();
    sink_workers.for_each(|sink_workers| sink_workers.join(begun, log));
    let cut_off = results.into_iter().sum::<io::Result<usize>>()?;
    tell_of_limits(metrics, log);
    if cut_off > 0 {
        log(&format!(
            "stopped; {cut_off} connections were cut off when the drain timeout passed"
        ));
    }
    Ok(())
}

/// Says which limits clients have met.
fn tell_of_limits(metrics: &[Arc<ShardMetrics>], log: &Log) {
    type Limit = (&'static str, fn(&ShardMetrics) -> &Counter);
    let limits: [Limit; 8] = [
        ("were turned away: too many", |m| &m.refused.all),
        ("were turned away: too many of one address", |m| {
            &m.refused.of_address
        }),
        ("were turned away: too many of one identity", |m| {
            &m.refused.of_identity
        }),
        ("ended: a flood of streams or heads", |m| &m.ended.flood),
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

/// State of each shard, in their order.
struct Each<'a> {
    feeds: Vec<(Option<RecordSender>, Option<RecordSender>)>,
    changed: Vec<mpsc::Receiver<Message>>,
    metrics: &'a [Arc<ShardMetrics>],
}

/// One share for each shard. The locks are only for moving a share into its thread: each is taken once.
fn share_out(
    listeners: &[ListenerSpec],
    each: Each<'_>,
    first: &Arc<Blueprint>,
    counters: &CountersFile,
    sockets: &Arc<Sockets>,
) -> io::Result<Vec<Mutex<Option<Share>>>> {
    let open = Arc::new(OpenConnections::default());
    let limiters = ConnectionLimiters::default();
    let shards = each.metrics.len();
    let each = (each.feeds.into_iter())
        .zip(each.changed)
        .zip(each.metrics)
        .enumerate();
    each.map(|(shard, (((feed, spans), changes), metrics))| {
        let listeners = listeners.iter().map(ListenerSpec::try_clone);
        Ok(Mutex::new(Some(Share {
            listeners: listeners.collect::<io::Result<_>>()?,
            blueprint: Arc::clone(first),
            placement: Placement { shard, shards },
            open: Arc::clone(&open),
            limiters: limiters.clone(),
            metrics: Arc::clone(metrics),
            counters: counters.row(shard),
            feed,
            spans,
            changes,
            sockets: Arc::clone(sockets),
        })))
    })
    .collect()
}

async fn serve_shard(
    share: Share,
    admin: Option<(&Admin, &AdminListener)>,
    starting: &Starting,
    stop: watch::Receiver<bool>,
    sockets: &Sockets,
) -> io::Result<usize> {
    let (shard, listeners, changes) = Shard::new(share);
    let shard = Rc::new(shard);
    starting.wait(stop.clone()).await;
    let clients = Rc::clone(&shard).run(listeners, changes, stop.clone());
    let result = match admin {
        Some((admin, AdminListener(listener))) => {
            let socket = listener.for_shard()?;
            let (drained, all_drained) = oneshot::channel::<()>();
            let clients = async {
                let result = clients.await;
                drop(drained);
                result
            };
            // The admin listener outlives the drain, so that it can be watched; a successor answers for itself alone.
            let over = async {
                tokio::select! {
                    _ = all_drained => {}
                    () = succeeded(stop, sockets) => {}
                }
            };
            let (result, ()) = tokio::try_join!(clients, admin.serve(socket, over))?;
            Ok(result)
        }
        None => clients.await,
    };
    if let Some(shard) = Rc::into_inner(shard) {
        shard.finish();
    }
    result
}

/// Ready when another process has this one's sockets; never if it does not stop for that.
async fn succeeded(mut stop: watch::Receiver<bool>, sockets: &Sockets) {
    stop.wait_for(|stop| *stop)
        .await
        .ignored("whoever could tell it to stop has gone, which has it stop");
    if !sockets.have_a_successor() {
        std::future::pending::<()>().await;
    }
}

/// Starts the thread that reloads. It ends with the first shard.
fn start_reloader(
    reloader: Reloader,
    hangups: watch::Receiver<u64>,
    asked: mpsc::Receiver<Asked>,
    stop: watch::Receiver<bool>,
) -> io::Result<JoinHandle<()>> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    std::thread::Builder::new()
        .name("reload".to_owned())
        .spawn(move || runtime.block_on(reloader.run(hangups, asked, stop)))
}

/// The bound sockets.
struct Listeners {
    main: Vec<ListenerSpec>,
    admin: Option<AdminListener>,
}

impl Listeners {
    fn names(&self) -> io::Result<Vec<(String, SocketAddr)>> {
        let mut names = Vec::new();
        for listener_id in &self.main {
            if let Some(listener) = &listener_id.listener {
                names.push((listener_id.id.name.clone(), listener.local_addr()?));
            }
        }
        if let Some(AdminListener(listener)) = &self.admin {
            names.push((ADMIN.to_owned(), listener.local_addr()?));
        }
        Ok(names)
    }
}

fn bind(config: &GatewayConfig, sockets: &Sockets) -> Result<Listeners, GatewayError> {
    let main = config.listeners.iter().map(|listener| {
        let id = listener.listener_id();
        let listener = Some(open(sockets, &id)?);
        Ok(ListenerSpec { id, listener })
    });
    let admin = config.admin.as_ref().map(|admin| {
        let id = ListenerId {
            name: ADMIN.to_owned(),
            address: admin.address,
        };
        open(sockets, &id).map(AdminListener)
    });
    let listeners = Listeners {
        main: main.collect::<Result<_, GatewayError>>()?,
        admin: admin.transpose()?,
    };
    sockets.forget_the_rest();
    Ok(listeners)
}

fn make_counters(config: &GatewayConfig, shards: usize) -> Result<CountersFile, GatewayError> {
    CountersFile::create(config.counters.as_deref(), shards).map_err(|source| {
        GatewayError::Counters {
            path: config.counters.clone().unwrap_or_default(),
            source,
        }
    })
}

/// Carriers of records and spans.
struct Records {
    sink_workers: Vec<Analytics>,
    /// For each shard: where its records go, and its spans.
    feeds: Vec<(Option<RecordSender>, Option<RecordSender>)>,
}

impl Records {
    /// Outcomes of each sink's records.
    fn counts(&self) -> Vec<(&'static str, Arc<Counts>)> {
        let sink_workers = self.sink_workers.iter();
        sink_workers.flat_map(Analytics::counts).collect()
    }
}

fn start_analytics(
    config: &GatewayConfig,
    output: Output,
    shards: usize,
    origin: &Origin,
    log: &Log,
) -> Result<Records, GatewayError> {
    let mut sink_workers = Vec::new();
    let none = || {
        (0..shards)
            .map(|_| None)
            .collect::<Vec<Option<RecordSender>>>()
    };
    let mut start = |started: Option<io::Result<(Analytics, Vec<RecordSender>)>>| {
        let Some(started) = started else {
            return Ok(none());
        };
        let (carrying, feeds) = started.map_err(GatewayError::Analytics)?;
        sink_workers.push(carrying);
        Ok::<_, GatewayError>(feeds.into_iter().map(Some).collect())
    };
    let analytics = config.analytics.as_ref();
    let name = origin.pseudonym();
    let records = analytics.map(|config| Analytics::start(config, output, shards, name, log));
    let records = start(records)?;
    let tracing = config.tracing.as_ref();
    let spans = start(tracing.map(|config| Analytics::start_spans(config, shards, log)))?;
    Ok(Records {
        sink_workers,
        feeds: records.into_iter().zip(spans).collect(),
    })
}
