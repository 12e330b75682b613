//! Reloading: reads the configuration anew on a thread of its own, and hands the generation that it makes to every shard.
//!
//! ```text
//! SIGHUP, POST /reload --> Reloader: source() --problems--> refused, the old generation lives on
//!                             \-- bind, resolve, Blueprint --> every shard takes it over and says so --> acknowledged
//! ```
//!
//! After the acknowledgement no request is served by the generation before but those that were being served already.

use crate::clients::shard_map::{ShardMap, moves};
use crate::config::{GatewayConfig, Sharding};
use crate::error::GatewayError;
use crate::listening::handover::Sockets;
use crate::listening::listener_id::{ListenerId, ListenerSpec};
use crate::origin::Origin;
use crate::reloading::controls::Source;
use crate::reloading::generation::Blueprint;
use crate::reloading::preparation::{
    open, resolve, room_for_clients, tell_of_insecure, tell_of_nameless,
};
use plimsoll_base::document::Problems;
use plimsoll_base::ignored::Ignored as _;
use plimsoll_base::log::Log;
use plimsoll_http::otlp::Endpoint;
use plimsoll_records::AnalyticsConfig;
use plimsoll_secrets::SecretRefresher;
use std::collections::HashMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot, watch};

/// Reloads that may wait for the one before; further ones are told to come back.
pub(crate) const WAITING: usize = 16;

/// Message to a shard.
#[derive(Debug)]
pub(crate) enum Message {
    Change(Change),
    /// To say which exchanges that may change data were begun before this generation and have not ended.
    Ask(u64, oneshot::Sender<Vec<Unfinished>>),
}

/// Exchanges of one shard and one generation that may change data and have not ended.
#[derive(Debug)]
pub(crate) struct Unfinished {
    /// By which they went.
    pub(crate) map: Arc<ShardMap>,
    pub(crate) count: u32,
}

/// A shard's part of a reload.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) blueprint: Arc<Blueprint>,
    /// Every listener_id that is open from now on.
    pub(crate) listeners: Vec<ListenerSpec>,
    /// To be told when the shard serves by it.
    pub(crate) done: oneshot::Sender<()>,
}

/// Somebody who wants the configuration read anew, and to know what came of it.
pub(crate) type Asked = oneshot::Sender<Result<Loaded, Refusal>>;

/// Outcome of a reload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Loaded {
    /// The generation that every shard serves by.
    pub(crate) generation: u64,
    /// Listeners that it opened, and where they listen.
    pub(crate) opened: Vec<(String, SocketAddr)>,
}

/// Why a configuration was not taken over.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The configuration is invalid.
    Invalid(Problems),
    /// It cannot be carried out: an address is taken, a name has none.
    Impossible(GatewayError),
    /// So many requests that may change data began when it was in another shard, and have not ended.
    Unfinished(u32),
    /// Another process serves clients by what it knows.
    NotAlone,
    /// Another process is to serve clients by what it has read.
    Handing,
    /// The gateway stops.
    Stopping,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(problems) => problems.fmt(f),
            Self::Impossible(error) => error.fmt(f),
            Self::Unfinished(count) => write!(
                f,
                "{count} requests that may change what is moved began before it was frozen or removed: reload again when they have ended"
            ),
            Self::NotAlone => {
                f.write_str("the process before this one still drains: try again when it has ended")
            }
            Self::Handing => f.write_str(
                "another process is started to take this one's place: try again when it serves",
            ),
            Self::Stopping => f.write_str("the gateway is stopping"),
        }
    }
}

/// Has the configuration read anew, and waits until it is served; says why it is not. Not for the shards' threads.
pub(crate) fn ask(reloader: Option<&mpsc::Sender<Asked>>) -> Result<(), String> {
    let reloader = reloader.ok_or("this gateway was not started from files")?;
    let (asker, answer) = oneshot::channel();
    reloader.try_send(asker).map_err(|error| match error {
        TrySendError::Full(_) => "too many reloads are waiting",
        TrySendError::Closed(_) => "the gateway is stopping",
    })?;
    match answer.blocking_recv() {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(refusal)) => Err(refusal.to_string()),
        Err(_) => Err("the gateway is stopping".to_owned()),
    }
}

/// The one who reloads.
pub(crate) struct Reloader {
    pub(crate) source: Source,
    pub(crate) origin: Origin,
    pub(crate) log: Log,
    /// Changes that need a restart.
    pub(crate) fixed: Fixed,
    /// ListenerSet that are open.
    pub(crate) listeners: Vec<ListenerId>,
    pub(crate) shards: Vec<mpsc::Sender<Message>>,
    /// The generation that brought the shard map that is served by.
    pub(crate) map_since: u64,
    /// The map that was served by last, and by which names: one that a reload takes away and another brings back has not been forgotten.
    pub(crate) last_sharding: Option<Sharding>,
    /// The generation that was acknowledged last, for who reports on it.
    pub(crate) current: watch::Sender<Arc<Blueprint>>,
    /// Who keeps secrets fresh.
    pub(crate) refresher: SecretRefresher,
    /// Of the listeners, for a successor.
    pub(crate) sockets: Arc<Sockets>,
    /// Whether no process before this one serves clients by what it knows.
    pub(crate) alone: Alone,
}

/// Knows when no process before this one serves clients any more.
pub(crate) struct Alone(Option<watch::Receiver<bool>>);

impl Alone {
    /// Without anybody to say so it is at once.
    pub(crate) fn new(alone: Option<watch::Receiver<bool>>) -> Self {
        Self(alone)
    }

    fn is_so(&self) -> bool {
        let Some(alone) = &self.0 else {
            return true;
        };
        // Who could have said it has gone: nobody is waited for.
        *alone.borrow() || alone.has_changed().is_err()
    }

    async fn becomes_so(&mut self) {
        if let Some(alone) = &mut self.0 {
            alone
                .wait_for(|alone| *alone)
                .await
                .ignored("nobody can say it any more");
        }
    }
}

/// Parts of a configuration that are set up once.
#[derive(Debug, PartialEq)]
pub(crate) struct Fixed {
    admin: Option<SocketAddr>,
    analytics: Option<AnalyticsConfig>,
    /// Where spans go, and in whose name.
    tracing: Option<(Endpoint, String)>,
}

impl Fixed {
    pub(crate) fn of(config: &GatewayConfig) -> Self {
        Self {
            admin: config.admin.as_ref().map(|admin| admin.address),
            analytics: config.analytics.clone(),
            tracing: (config.tracing.as_ref()).map(|t| (t.endpoint.clone(), t.service.clone())),
        }
    }

    /// Changes that are allowed all the same: the passwords of sinks.
    fn renew_passwords(&self, next: &GatewayConfig) {
        if let (Some(own), Some(next)) = (&self.analytics, &next.analytics) {
            own.renew_passwords(next);
        }
    }
}

impl Reloader {
    /// Reloads whenever `hangups` changes or somebody asks, until `stop`. While another process serves clients, who asks is refused, and
    /// what `hangups` says is done when that has ended.
    pub(crate) async fn run(
        mut self,
        mut hangups: watch::Receiver<u64>,
        mut asked: mpsc::Receiver<Asked>,
        mut stop: watch::Receiver<bool>,
    ) {
        let mut is_put_off = false;
        loop {
            let asker = tokio::select! {
                _ = stop.wait_for(|stop| *stop) => return,
                () = self.shards[0].closed() => return,
                () = self.alone.becomes_so(), if is_put_off => None,
                Ok(()) = hangups.changed(), if !is_put_off => None,
                Some(asker) = asked.recv() => Some(asker),
            };
            if asker.is_none() && !self.alone.is_so() {
                is_put_off = true;
                (self.log)(
                    "the process before this one still drains: the configuration is reloaded when it has ended",
                );
                continue;
            }
            is_put_off &= asker.is_some();
            let result = match (self.alone.is_so(), self.sockets.have_a_taker()) {
                (true, false) => self.reload().await,
                (_, true) => Err(Refusal::Handing),
                (false, _) => Err(Refusal::NotAlone),
            };
            // Also of those that were opened for a configuration which was refused then.
            self.sockets.keep(&self.listeners);
            self.tell(&result);
            if let Some(asker) = asker {
                asker
                    .send(result)
                    .ignored("the client has gone; the log has it");
            }
        }
    }

    fn tell(&self, result: &Result<Loaded, Refusal>) {
        let log = &self.log;
        match result {
            Ok(loaded) => {
                let number = loaded.generation;
                log(&format!(
                    "the configuration was reloaded: generation {number}"
                ));
                for (name, address) in &loaded.opened {
                    log(&format!("listening on {address} ({name})"));
                }
            }
            Err(refusal) => log(&format!(
                "the configuration was not loaded, and the old one stays:\n{refusal}"
            )),
        }
    }

    async fn reload(&mut self) -> Result<Loaded, Refusal> {
        let config = (self.source)().map_err(Refusal::Invalid)?;
        self.refuse_what_is_fixed(&config)?;
        let before = Arc::clone(&self.current.borrow());
        self.refuse_unsafe_moves(&config)?;
        self.refuse_early_moves(&config).await?;
        let addresses = resolve(&config).map_err(Refusal::Impossible)?;
        if let Some(keeping) = &config.keeping {
            let asked = self.refresher.take(keeping).map_err(impossible)?;
            tokio::select! {
                heard = asked.heard() => heard.map_err(Refusal::Invalid)?,
                () = self.shards[0].closed() => return Err(Refusal::Stopping),
            }
        }
        let listeners = self.listeners(&config).map_err(Refusal::Impossible)?;
        let shards = self.shards.len();
        let room = room_for_clients(&config, shards, &self.log);
        let next = Blueprint::new(
            &config,
            addresses.clone(),
            &self.origin,
            shards,
            room,
            Some(&before),
        );
        let next = Arc::new(next);
        let opened = addresses_of(&listeners)?;
        let for_shards = (self.shards.iter())
            .map(|_| listeners.iter().map(for_one_more).collect())
            .collect::<Result<Vec<Vec<ListenerSpec>>, GatewayError>>();
        let for_shards = for_shards.map_err(Refusal::Impossible)?;
        // Nothing is refused any more.
        tell_of_insecure(&config, &self.log);
        tell_of_nameless(&config, &addresses, &self.log);
        config.notes.iter().for_each(|note| (self.log)(note));
        self.fixed.renew_passwords(&config);
        if let Some(control) = &config.control {
            control.put_in_force();
        }
        let keeping = config.keeping.as_ref();
        self.refresher.adopt(keeping).map_err(impossible)?;
        self.hand_out(&next, for_shards).await?;
        self.listeners = listeners
            .into_iter()
            .map(|listener_id| listener_id.id)
            .collect();
        let generation = next.number;
        if next.service.map_version() != before.service.map_version() {
            self.map_since = generation;
        }
        if let Some(sharding) = &next.service.sharding {
            self.last_sharding = Some(sharding.clone());
        }
        self.current.send_replace(next);
        Ok(Loaded { generation, opened })
    }

    /// Refuses a shard map that may not follow the one that was served by last, and other names for those who are in it.
    fn refuse_unsafe_moves(&self, config: &GatewayConfig) -> Result<(), Refusal> {
        let (Some(before), Some(next)) = (&self.last_sharding, &config.sharding) else {
            return Ok(());
        };
        let mut problems = moves::problems(&before.map, &next.map, &next.file);
        if before.order != next.order {
            let mut problem = config.places.identity_order.clone();
            "clients would go by other names, and at once to whichever shards the map has for those, while their data may change: leave it as it was, or restart the gateway when all data is where it is looked for then"
                .clone_into(&mut problem.message);
            problems.push(problem);
        }
        Problems::from_iter(problems)
            .or_ok(())
            .map_err(Refusal::Invalid)
    }

    /// Refuses to have anybody's data in another shard while requests are under way that began when it was elsewhere. By the map that is
    /// served by now there are none: whoever moves is frozen by it, or not in it.
    async fn refuse_early_moves(&self, config: &GatewayConfig) -> Result<(), Refusal> {
        let Some(next) = &config.sharding else {
            return Ok(());
        };
        // By version, of which each is one map's.
        let mut known: HashMap<u64, bool> = HashMap::new();
        let mut unfinished = 0;
        for shard in &self.shards {
            let (reply, answer) = oneshot::channel();
            let question = Message::Ask(self.map_since, reply);
            shard.send(question).await.map_err(|_| Refusal::Stopping)?;
            for Unfinished { map, count } in answer.await.map_err(|_| Refusal::Stopping)? {
                let moves = known.entry(map.version);
                if *moves.or_insert_with(|| moves::moves_any(&map, &next.map)) {
                    unfinished += count;
                }
            }
        }
        match unfinished {
            0 => Ok(()),
            count => Err(Refusal::Unfinished(count)),
        }
    }

    fn refuse_what_is_fixed(&self, config: &GatewayConfig) -> Result<(), Refusal> {
        let new = Fixed::of(config);
        let mut problems = Vec::new();
        if new.admin != self.fixed.admin {
            problems.push(config.places.admin.clone());
        }
        if new.analytics != self.fixed.analytics {
            problems.push(config.places.analytics.clone());
        }
        if new.tracing != self.fixed.tracing {
            problems.push(config.places.tracing.clone());
        }
        let problems = problems.into_iter().map(|mut problem| {
            "this cannot change while the gateway runs: restart it, or leave it as it was"
                .clone_into(&mut problem.message);
            problem
        });
        Problems::from_iter(problems)
            .or_ok(())
            .map_err(Refusal::Invalid)
    }

    /// The listeners of a configuration: those that are open already, and new ones bound.
    fn listeners(&self, config: &GatewayConfig) -> Result<Vec<ListenerSpec>, GatewayError> {
        let listeners = config.listeners.iter();
        listeners
            .map(|listener| {
                let id = listener.listener_id();
                let listener = match self.listeners.contains(&id) {
                    true => None,
                    false => Some(open(&self.sockets, &id)?),
                };
                Ok(ListenerSpec { id, listener })
            })
            .collect()
    }

    /// Gives every shard its part, and waits until all of them serve by it.
    async fn hand_out(
        &self,
        next: &Arc<Blueprint>,
        listeners: Vec<Vec<ListenerSpec>>,
    ) -> Result<(), Refusal> {
        let mut acknowledged = Vec::new();
        for (shard, listeners) in self.shards.iter().zip(listeners) {
            let (done, taken) = oneshot::channel();
            let change = Change {
                blueprint: Arc::clone(next),
                listeners,
                done,
            };
            let change = Message::Change(change);
            shard.send(change).await.map_err(|_| Refusal::Stopping)?;
            acknowledged.push(taken);
        }
        for taken in acknowledged {
            taken.await.map_err(|_| Refusal::Stopping)?;
        }
        Ok(())
    }
}

fn impossible(error: std::io::Error) -> Refusal {
    Refusal::Impossible(error.into())
}

/// A listener_id for one more shard, so that no shard lacks a descriptor for what has been acknowledged.
fn for_one_more(listener_id: &ListenerSpec) -> Result<ListenerSpec, GatewayError> {
    listener_id
        .try_clone()
        .map_err(|source| GatewayError::Listen {
            name: listener_id.id.name.clone(),
            address: listener_id.id.address,
            source,
        })
}

/// Where the listeners listen that were bound just now.
fn addresses_of(listeners: &[ListenerSpec]) -> Result<Vec<(String, SocketAddr)>, Refusal> {
    let new = listeners.iter().filter_map(|listener_id| {
        let address = listener_id.listener.as_ref()?.local_addr();
        Some(address.map(|address| (listener_id.id.name.clone(), address)))
    });
    new.collect::<Result<_, _>>()
        .map_err(|error| Refusal::Impossible(error.into()))
}
