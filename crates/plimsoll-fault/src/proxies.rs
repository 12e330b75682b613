//! All proxies, and what the API may do with them.

mod listen;
mod proxy;

pub use listen::BY_CONNECT;
pub use proxy::{Proxy, Shards};

use crate::error::ApiError;
use crate::shard::{Adopted, Command, ProxyId};
use crate::toxic::{Toxic, Toxics};
use plimsoll_base::ignored::Ignored as _;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A proxy as it is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Its name.
    pub name: String,
    /// Where it is to listen.
    pub listen: String,
    /// The server.
    pub upstream: String,
    /// Whether it is to accept clients at once.
    pub enabled: bool,
}

/// The most toxics of one proxy.
const MOST_TOXICS: usize = 64;
/// The most proxies.
const MOST_PROXIES: usize = 1024;

/// All proxies, by name.
#[derive(Debug)]
pub struct Proxies {
    proxies: BTreeMap<String, Proxy>,
    shards: Shards,
    openings: ProxyId,
    /// Which shard takes the next client that asks for its server by name.
    adoptions: usize,
}

impl Proxies {
    /// None yet.
    pub fn new(shards: Shards) -> Self {
        Self {
            proxies: BTreeMap::new(),
            shards,
            openings: 0,
            adoptions: 0,
        }
    }

    /// All, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Proxy> {
        self.proxies.values()
    }

    /// The proxy of this name.
    pub fn get(&self, name: &str) -> Result<&Proxy, ApiError> {
        self.proxies.get(name).ok_or_else(ApiError::no_proxy)
    }

    /// Adds a proxy.
    ///
    /// # Errors
    /// There is one of this name, or it cannot listen.
    pub async fn create(&mut self, wanted: Wanted) -> Result<&Proxy, ApiError> {
        if self.proxies.contains_key(&wanted.name) {
            return Err(ApiError::proxy_exists());
        }
        self.add(wanted).await
    }

    async fn add(&mut self, wanted: Wanted) -> Result<&Proxy, ApiError> {
        if self.proxies.len() >= MOST_PROXIES && !self.proxies.contains_key(&wanted.name) {
            let message = format!("there are {MOST_PROXIES} proxies already, which is the limit");
            return Err(ApiError::unsupported(message));
        }
        let count = self.shards.commands.len();
        let mut proxy = Proxy::new(&wanted.name, wanted.listen, wanted.upstream, count);
        proxy.enabled = wanted.enabled;
        let id = self.next_opening();
        settle(&mut proxy, &self.shards, id).await?;
        Ok(self
            .proxies
            .entry(wanted.name)
            .insert_entry(proxy)
            .into_mut())
    }

    /// Makes a proxy like this: one that listens there and leads there already stays as it is, with its toxics; any other is replaced.
    ///
    /// # Errors
    /// It cannot listen; the one before is closed then.
    pub async fn put(&mut self, wanted: Wanted) -> Result<&Proxy, ApiError> {
        if let Some(proxy) = self.proxies.get_mut(&wanted.name) {
            let place = listen::place(&wanted.listen).await?;
            if proxy.listen == place.text() && proxy.upstream == wanted.upstream {
                return self.get(&wanted.name);
            }
            proxy.enabled = false;
            proxy.close(&self.shards, false).await;
        }
        self.add(wanted).await
    }

    /// Changes where a proxy listens, where it leads to, and whether it is enabled. Its connections end if one of the first two changes.
    ///
    /// # Errors
    /// There is no such proxy, or it cannot listen; it is disabled then.
    pub async fn update(&mut self, name: &str, wanted: Wanted) -> Result<&Proxy, ApiError> {
        let id = self.next_opening();
        let proxy = self.proxies.get_mut(name);
        let proxy = proxy.ok_or_else(ApiError::no_proxy)?;
        let place = listen::place(&wanted.listen).await?;
        if proxy.listen != place.text() || proxy.upstream != wanted.upstream {
            proxy.close(&self.shards, false).await;
            proxy.listen = wanted.listen;
            proxy.upstream = wanted.upstream;
        }
        proxy.enabled = wanted.enabled;
        settle(proxy, &self.shards, id).await?;
        Ok(proxy)
    }

    /// Removes a proxy.
    ///
    /// # Errors
    /// There is no such proxy.
    pub async fn remove(&mut self, name: &str) -> Result<(), ApiError> {
        let proxy = self.proxies.remove(name);
        let mut proxy = proxy.ok_or_else(ApiError::no_proxy)?;
        proxy.close(&self.shards, false).await;
        Ok(())
    }

    /// Enables all proxies and removes all toxics.
    ///
    /// # Errors
    /// One cannot listen; those before it are reset.
    pub async fn reset(&mut self) -> Result<(), ApiError> {
        for proxy in self.proxies.values_mut() {
            self.openings += 1;
            proxy.enabled = true;
            proxy.change(&self.shards, Toxics::default()).await;
            settle(proxy, &self.shards, self.openings).await?;
        }
        Ok(())
    }

    /// Adds a toxic to a proxy.
    ///
    /// # Errors
    /// There is no such proxy, or it has a toxic of this name.
    pub async fn add_toxic(
        &mut self,
        proxy: &str,
        mut toxic: Toxic,
    ) -> Result<Arc<Toxic>, ApiError> {
        let id = self.next_opening();
        let proxy = self.proxies.get_mut(proxy);
        let proxy = proxy.ok_or_else(ApiError::no_proxy)?;
        if proxy.toxic(&toxic.name).is_ok() {
            return Err(ApiError::toxic_exists());
        }
        if proxy.toxics.iter().count() >= MOST_TOXICS {
            let message = format!("there are {MOST_TOXICS} toxics already, which is the limit");
            return Err(ApiError::unsupported(message));
        }
        toxic.turn = proxy.next_turn();
        let toxic = Arc::new(toxic);
        let mut toxics = copy(&proxy.toxics);
        toxics.chains[toxic.direction as usize].push(Arc::clone(&toxic));
        change(proxy, &self.shards, id, toxics).await?;
        Ok(toxic)
    }

    /// Replaces a toxic of a proxy by one of its name.
    ///
    /// # Errors
    /// There is no such proxy or toxic.
    pub async fn update_toxic(
        &mut self,
        proxy: &str,
        toxic: Toxic,
    ) -> Result<Arc<Toxic>, ApiError> {
        let id = self.next_opening();
        let proxy = self.proxies.get_mut(proxy);
        let proxy = proxy.ok_or_else(ApiError::no_proxy)?;
        let mut toxics = copy(&proxy.toxics);
        let chain = &mut toxics.chains[toxic.direction as usize];
        let place = chain.iter_mut().find(|known| known.name == toxic.name);
        let place = place.ok_or_else(ApiError::no_toxic)?;
        let toxic = Arc::new(toxic);
        *place = Arc::clone(&toxic);
        change(proxy, &self.shards, id, toxics).await?;
        Ok(toxic)
    }

    /// Removes a toxic from a proxy.
    ///
    /// # Errors
    /// There is no such proxy or toxic; or the proxy is to listen again, and cannot.
    pub async fn remove_toxic(&mut self, proxy: &str, toxic: &str) -> Result<(), ApiError> {
        let id = self.next_opening();
        let proxy = self.proxies.get_mut(proxy);
        let proxy = proxy.ok_or_else(ApiError::no_proxy)?;
        proxy.toxic(toxic)?;
        let mut toxics = copy(&proxy.toxics);
        for chain in &mut toxics.chains {
            chain.retain(|known| known.name != toxic);
        }
        change(proxy, &self.shards, id, toxics).await
    }

    /// The proxy whose clients ask for this server by name; of several, one that is open.
    pub fn by_connect(&self, upstream: &str) -> Option<&Proxy> {
        let leads_there = |proxy: &&Proxy| {
            proxy.listen == BY_CONNECT && proxy.upstream.eq_ignore_ascii_case(upstream)
        };
        let found = self.proxies.values().filter(leads_there);
        found.max_by_key(|proxy| proxy.id().is_some())
    }

    /// Gives a client to an open proxy.
    pub async fn adopt(&mut self, id: ProxyId, client: Adopted) {
        let shard = self.adoptions % self.shards.commands.len();
        self.adoptions += 1;
        let command = Command::Adopt { id, client };
        let sent = self.shards.commands[shard].send(command).await;
        sent.map_err(drop)
            .ignored("a shard that has ended serves nobody");
    }

    /// Ends all connections of all proxies.
    pub async fn close(&mut self) {
        for proxy in self.proxies.values_mut() {
            proxy.close(&self.shards, false).await;
        }
    }

    fn next_opening(&mut self) -> ProxyId {
        self.openings += 1;
        self.openings
    }
}

fn copy(toxics: &Toxics) -> Toxics {
    Toxics {
        chains: toxics.chains.clone(),
    }
}

/// Changes the toxics of a proxy, which may be that it listens no more, or again.
async fn change(
    proxy: &mut Proxy,
    shards: &Shards,
    id: ProxyId,
    toxics: Toxics,
) -> Result<(), ApiError> {
    proxy.change(shards, toxics).await;
    settle(proxy, shards, id).await
}

/// Has a proxy listen, or not, as it is enabled and its toxics let it.
async fn settle(proxy: &mut Proxy, shards: &Shards, id: ProxyId) -> Result<(), ApiError> {
    let refuses = proxy.toxics.refuse();
    match (proxy.enabled && !refuses, proxy.id().is_some()) {
        (true, false) => {
            let place = listen::place(&proxy.listen).await;
            let opened = match place {
                Ok(place) => proxy.open(shards, id, place).await,
                Err(error) => Err(error),
            };
            proxy.enabled = opened.is_ok();
            opened
        }
        (false, true) => {
            proxy.close(shards, refuses).await;
            Ok(())
        }
        (true, true) | (false, false) => Ok(()),
    }
}

impl Default for Wanted {
    /// Without name and server, which it needs, and enabled.
    fn default() -> Self {
        Self {
            name: String::new(),
            listen: String::new(),
            upstream: String::new(),
            enabled: true,
        }
    }
}

impl Wanted {
    /// The proxy that is known, to be changed in parts.
    pub fn like(proxy: &Proxy) -> Self {
        Self {
            name: proxy.name.to_string(),
            listen: proxy.listen.clone(),
            upstream: proxy.upstream.clone(),
            enabled: proxy.enabled,
        }
    }
}
