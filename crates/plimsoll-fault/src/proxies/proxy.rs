//! One proxy as the API knows it, and how the shards are made to know it.

use super::listen::Place;
use crate::account::Account;
use crate::connection::Opening;
use crate::detour::Detour;
use crate::error::ApiError;
use crate::shard::{Command, ProxyId};
use crate::toxic::{Toxic, Toxics};
use plimsoll_base::ignored::Ignored as _;
use plimsoll_http::Listener;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// The shards, and what they share.
#[derive(Debug)]
pub struct Shards {
    /// How each is told what there is.
    pub commands: Vec<mpsc::Sender<Command>>,
    /// From which random values follow.
    pub seed: u64,
    /// How long connecting to a server may take.
    pub connect_timeout: Duration,
}

impl Shards {
    /// Has all shards do something, and waits until they have.
    async fn all(&self, command: impl Fn(oneshot::Sender<()>) -> Command) {
        for shard in &self.commands {
            let (done, is_done) = oneshot::channel();
            shard
                .send(command(done))
                .await
                .map_err(drop)
                .ignored("a shard that has ended serves nobody");
            is_done.await.ignored("so it has done this, too");
        }
    }
}

/// A proxy.
#[derive(Debug)]
pub struct Proxy {
    /// Its name.
    pub name: Arc<str>,
    /// Where it listens: as it was written, once it listens with the address that it got.
    pub listen: String,
    /// The server, as `host:port`.
    pub upstream: String,
    /// Whether it accepts clients, as far as its toxics let it.
    pub enabled: bool,
    /// Its toxics.
    pub toxics: Arc<Toxics>,
    /// Its counts, one for each shard.
    pub accounts: Vec<Arc<Account>>,
    /// A client that is led elsewhere.
    pub detour: Arc<Detour>,
    numbers: Arc<AtomicU64>,
    /// How many toxics it has had.
    turns: u64,
    /// Its opening on the shards.
    open: Option<ProxyId>,
}

impl Proxy {
    /// A proxy that is not enabled.
    pub fn new(name: &str, listen: String, upstream: String, shards: usize) -> Self {
        Self {
            name: name.into(),
            listen,
            upstream,
            enabled: false,
            toxics: Arc::default(),
            accounts: (0..shards).map(|_| Arc::default()).collect(),
            detour: Arc::default(),
            numbers: Arc::default(),
            turns: 0,
            open: None,
        }
    }

    /// Its opening on the shards, while it is open.
    pub fn id(&self) -> Option<ProxyId> {
        self.open
    }

    /// Listens at this place.
    ///
    /// # Errors
    /// The system does not let it.
    pub async fn open(
        &mut self,
        shards: &Shards,
        id: ProxyId,
        place: Place,
    ) -> Result<(), ApiError> {
        let failed = |error: io::Error| ApiError::bind(&place.text(), &error);
        let listener = match place {
            Place::At(address) => Some(Listener::bind(address).map_err(failed)?),
            Place::ByConnect => None,
        };
        let bound = listener.as_ref().map(Listener::local_addr).transpose();
        let bound = bound.map_err(failed)?;
        for (commands, account) in shards.commands.iter().zip(&self.accounts) {
            let listener = listener.as_ref().map(Listener::try_clone).transpose();
            let (done, is_done) = oneshot::channel();
            let command = Command::Open {
                id,
                opening: Opening {
                    name: Arc::clone(&self.name),
                    seed: shards.seed,
                    upstream: self.upstream.clone(),
                    connect_timeout: shards.connect_timeout,
                    account: Arc::clone(account),
                    detour: Arc::clone(&self.detour),
                    numbers: Arc::clone(&self.numbers),
                    toxics: Arc::clone(&self.toxics),
                },
                listener: listener.map_err(failed)?,
                done,
            };
            let sent = commands.send(command).await.map_err(drop);
            sent.ignored("a shard that has ended serves nobody, and says nothing");
            let ended = || io::Error::other("a shard has ended");
            let opened = is_done.await.unwrap_or_else(|_| Err(ended()));
            if let Err(error) = opened {
                shards
                    .all(|done| Command::Close {
                        id,
                        cut: false,
                        done,
                    })
                    .await;
                return Err(failed(error));
            }
        }
        self.open = Some(id);
        self.listen = bound.map_or_else(|| place.text(), |bound| bound.to_string());
        Ok(())
    }

    /// Listens no more, and ends its connections.
    pub async fn close(&mut self, shards: &Shards, cut: bool) {
        if let Some(id) = self.open.take() {
            shards.all(|done| Command::Close { id, cut, done }).await;
        }
    }

    /// Leads through other toxics from now on.
    pub async fn change(&mut self, shards: &Shards, toxics: Toxics) {
        self.toxics = Arc::new(toxics);
        if let Some(id) = self.open {
            let command = |done| Command::Change {
                id,
                toxics: Arc::clone(&self.toxics),
                done,
            };
            shards.all(command).await;
        }
    }

    /// How many toxics it has had; counts one more.
    pub fn next_turn(&mut self) -> u64 {
        self.turns += 1;
        self.turns
    }

    /// The toxic of this name.
    pub fn toxic(&self, name: &str) -> Result<&Arc<Toxic>, ApiError> {
        let mut toxics = self.toxics.iter();
        let named = toxics.find(|toxic| toxic.name == name);
        named.ok_or_else(ApiError::no_toxic)
    }
}
