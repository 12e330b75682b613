//! A gateway from one reading of the configuration: routes and rules for all shards, upstreams and counters for each.
//!
//! A reload ([`crate::reloading::reload`]) makes the next generation and hands it to every shard; an exchange keeps the one that it began with.
//! Unchanged parts are taken over: an upstream's connections, counters, how far limits are used up.

mod names;

use crate::config::{GatewayConfig, UpstreamConfig};
use crate::metrics::Tally;
use crate::origin::Origin;
use crate::routing::service::Service;
use crate::upstream::health::Health;
use crate::upstream::{Placement, Upstream};
use plimsoll_records::Names;
use std::cell::Cell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use tokio::time::Instant;

/// Plan from which every shard makes its own part of a generation.
#[derive(Debug)]
pub(crate) struct Blueprint {
    /// Which generation it is, from 1.
    pub(crate) number: u64,
    pub(crate) service: Arc<Service>,
    upstreams: Vec<Behind>,
    /// Names of the upstreams, in their order.
    pub(crate) upstream_names: Vec<String>,
    /// Names of routes and keys in analytics.
    pub(crate) names: Arc<Names>,
    /// By shard.
    pub(crate) tallies: Box<[Arc<Tally>]>,
}

/// An upstream and where its endpoints were found.
#[derive(Debug)]
struct Behind {
    config: UpstreamConfig,
    addresses: Vec<Option<SocketAddr>>,
    /// Health of the endpoints, over all shards.
    health: Option<Arc<Health>>,
}

impl Behind {
    /// Whether it is the same upstream.
    fn is(&self, other: &Self) -> bool {
        (&self.config, &self.addresses) == (&other.config, &other.addresses)
    }
}

impl Blueprint {
    /// A plan by `config` for so many shards, its endpoints at `addresses`, for as many clients as there is `room` for; it takes over
    /// what it can from `before`.
    pub(crate) fn new(
        config: &GatewayConfig,
        addresses: Vec<Vec<Option<SocketAddr>>>,
        origin: &Origin,
        shards: usize,
        room: u32,
        before: Option<&Self>,
    ) -> Self {
        let service = Service::new(config, origin, before.map(|b| &*b.service));
        let names = names::names(config, origin);
        let upstream_names: Vec<String> = config.upstreams.iter().map(|u| u.name.clone()).collect();
        let tallies = (0..shards).map(|shard| {
            let before = before.map(|before| {
                let tally = &*before.tallies[shard];
                (tally, &*before.names.routes, &*before.upstream_names)
            });
            Arc::new(Tally::following(&names.routes, &upstream_names, before))
        });
        Self {
            number: before.map_or(1, |before| before.number + 1),
            service: Arc::new(service.within(room)),
            tallies: tallies.collect(),
            upstreams: (config.upstreams.iter().cloned().zip(addresses))
                .map(|(config, addresses)| Behind {
                    health: Upstream::health_of(&config, Instant::now()),
                    config,
                    addresses,
                })
                .collect(),
            upstream_names,
            names: Arc::new(names),
        }
    }
}

/// One shard's part of a generation. Only its own thread touches it.
#[derive(Debug)]
pub(crate) struct Generation {
    pub(crate) number: u64,
    pub(crate) blueprint: Arc<Blueprint>,
    pub(crate) service: Arc<Service>,
    pub(crate) upstreams: Box<[Rc<Upstream>]>,
    pub(crate) tally: Arc<Tally>,
    /// Exchanges under way that may change the data of a shard.
    changing: Cell<u32>,
}

/// An exchange that may change data, until it is dropped.
#[derive(Debug)]
pub(crate) struct Changing<'a>(&'a Cell<u32>);

impl Drop for Changing<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

/// Keeps a generation for work that goes on when its exchange is over.
#[derive(Debug)]
pub(crate) struct Unfinished(Rc<Generation>);

impl Drop for Unfinished {
    fn drop(&mut self) {
        let changing = &self.0.changing;
        changing.set(changing.get() - 1);
    }
}

impl Generation {
    /// Counts a copy of a request that may change data.
    pub(crate) fn unfinished(self: &Rc<Self>) -> Unfinished {
        self.changing.set(self.changing.get() + 1);
        Unfinished(Rc::clone(self))
    }

    /// Counts an exchange that may change data.
    pub(crate) fn begin_change(&self) -> Changing<'_> {
        self.changing.set(self.changing.get() + 1);
        Changing(&self.changing)
    }

    /// How many of those are under way.
    pub(crate) fn changing(&self) -> u32 {
        self.changing.get()
    }

    /// The part of a shard. An upstream that is as it was in `before` is the same, with its connections.
    pub(crate) fn new(
        blueprint: Arc<Blueprint>,
        placement: &Placement,
        before: Option<&Self>,
    ) -> Self {
        let limits = blueprint.service.limits.response;
        let kept = |behind: &Behind| {
            let before = before.filter(|b| b.service.limits.response == limits)?;
            let at = (before.blueprint.upstreams.iter()).position(|known| known.is(behind))?;
            Some(Rc::clone(&before.upstreams[at]))
        };
        let upstreams = blueprint.upstreams.iter().map(|behind| {
            kept(behind).unwrap_or_else(|| {
                let Behind {
                    config,
                    addresses,
                    health,
                } = behind;
                let (health, now) = (health.clone(), Instant::now());
                Rc::new(Upstream::new(
                    config, addresses, health, limits, placement, now,
                ))
            })
        });
        Self {
            number: blueprint.number,
            upstreams: upstreams.collect(),
            service: Arc::clone(&blueprint.service),
            tally: Arc::clone(&blueprint.tallies[placement.shard]),
            blueprint,
            changing: Cell::new(0),
        }
    }
}
