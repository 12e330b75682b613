//! Counters of the gateway. Each shard writes its own; they are added up when somebody reads them.
//!
//! How they are printed is [`crate::server::admin`]'s.

mod mirrored;
mod tls_failures;

pub(crate) use mirrored::{MirrorMetrics, Outcome};
pub(crate) use plimsoll_http::meters::{Buckets, Counter};
pub(crate) use tls_failures::TlsFailures;

use crate::clients::trust::Withdrawn;
use crate::listening::handshake::HandshakeMetrics;
use plimsoll_base::reason::Reason;
use plimsoll_records::Phase;
use std::sync::Arc;

/// Status classes, 1xx to 5xx, and the place of a status among them.
pub(crate) const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

/// Counters of one route.
#[derive(Debug, Default)]
pub(crate) struct RouteMetrics {
    /// Answers by status class.
    pub(crate) answers: [Counter; CLASSES.len()],
    /// Exchanges that were cut off after their answer had begun, or whose client left.
    pub(crate) aborted: Counter,
    /// Requests refused by the rate limit.
    pub(crate) rate_limited: Counter,
    /// Connections that switched to another protocol, and how many of them have ended.
    pub(crate) upgraded: Counter,
    pub(crate) upgraded_ended: Counter,
}

impl RouteMetrics {
    /// Counts an answer.
    pub(crate) fn answered(&self, status: u16) {
        let class = usize::from(status / 100).clamp(1, CLASSES.len()) - 1;
        self.answers[class].add(1);
    }
}

/// Counters of one upstream.
#[derive(Debug, Default)]
pub(crate) struct UpstreamMetrics {
    /// No connection could be made.
    pub(crate) connect_failed: Counter,
    /// One could be made, and not be secured.
    pub(crate) tls_failed: Counter,
    pub(crate) tls_failures: TlsFailures,
    /// A time limit passed while the upstream was waited for.
    pub(crate) timed_out: Counter,
    /// The connection ended or failed inside an exchange.
    pub(crate) closed: Counter,
    /// Bytes came that were not HTTP.
    pub(crate) malformed: Counter,
    /// No endpoint was below its limit.
    pub(crate) unavailable: Counter,
    /// Requests that were sent a second time, on a new connection.
    pub(crate) retries: Counter,
    /// Connections made.
    pub(crate) connections_new: Counter,
    /// Exchanges that used an idle connection.
    pub(crate) connections_reused: Counter,
    /// Connections idle now.
    pub(crate) connections_idle: Counter,
    /// Requests that were not sent a second time because the budget was used up.
    pub(crate) retries_refused: Counter,
    /// Ejections so far and checks that failed, and endpoints out of use now. Every shard knows them, one notes them.
    pub(crate) ejections: Counter,
    pub(crate) failed_checks: Counter,
    pub(crate) ejected: Counter,
    pub(crate) down: Counter,
    /// Copies of other upstreams' requests.
    pub(crate) mirrored: MirrorMetrics,
}

impl UpstreamMetrics {
    /// Counts a failure of TLS.
    pub(crate) fn tls_failed(&self, reason: Reason) {
        self.tls_failed.add(1);
        self.tls_failures.failed(reason);
    }
}

/// Client connections that did not end as their clients wished, by why.
#[derive(Debug, Default)]
pub(crate) struct EndMetrics {
    /// Nothing came for too long between two requests.
    pub(crate) idle: Counter,
    /// A head took too long.
    pub(crate) slow_head: Counter,
    /// The client closed or failed inside a head.
    pub(crate) broken_head: Counter,
    /// Bytes came that were no request.
    pub(crate) malformed: Counter,
    /// A request's body took too long.
    pub(crate) slow_body: Counter,
    /// An answer was not taken in time.
    pub(crate) unread: Counter,
    /// An upgraded connection was silent for too long.
    pub(crate) upgraded_idle: Counter,
    /// The client's certificate was revoked.
    pub(crate) revoked: Counter,
    /// No authority stands for it any more.
    pub(crate) distrusted: Counter,
    /// It expired.
    pub(crate) expired: Counter,
    /// It cut off more streams than it may, or sent heads without end.
    pub(crate) flood: Counter,
}

impl EndMetrics {
    /// The counter of connections whose certificate holds no more.
    pub(crate) fn withdrawn(&self, why: Withdrawn) -> &Counter {
        match why {
            Withdrawn::Revoked => &self.revoked,
            Withdrawn::Distrusted => &self.distrusted,
            Withdrawn::Expired => &self.expired,
        }
    }
}

/// Why there was no room for a client connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TooMany {
    All,
    OfAddress,
    OfIdentity,
}

impl TooMany {
    /// Message for a client.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::All => "too many connections",
            Self::OfAddress => "too many connections from your address",
            Self::OfIdentity => "too many connections with your identity",
        }
    }
}

/// Client connections that were refused, by why.
#[derive(Debug, Default)]
pub(crate) struct RefusalMetrics {
    pub(crate) all: Counter,
    pub(crate) of_address: Counter,
    pub(crate) of_identity: Counter,
}

impl RefusalMetrics {
    /// The counter of one reason.
    pub(crate) fn of(&self, why: TooMany) -> &Counter {
        match why {
            TooMany::All => &self.all,
            TooMany::OfAddress => &self.of_address,
            TooMany::OfIdentity => &self.of_identity,
        }
    }
}

/// Counters of one shard by route and by upstream of a generation. Counters outlive a generation: the next one that has a route of
/// the same path, or an upstream of the same name, goes on with them.
#[derive(Debug)]
pub(crate) struct Tally {
    /// By route; the last is for requests that no route covers.
    pub(crate) routes: Box<[Arc<RouteMetrics>]>,
    pub(crate) upstreams: Box<[Arc<UpstreamMetrics>]>,
}

impl Tally {
    /// Counters for `routes` and `upstreams`: those of `before` for what it has of them, new ones for the rest.
    pub(crate) fn following(
        routes: &[String],
        upstreams: &[String],
        before: Option<(&Self, &[String], &[String])>,
    ) -> Self {
        let known = |names: &[String], name: &String| names.iter().position(|known| known == name);
        let route = |path: &String| {
            before.and_then(|(tally, routes, _)| {
                Some(Arc::clone(&tally.routes[known(routes, path)?]))
            })
        };
        let upstream = |name: &String| {
            before.and_then(|(tally, _, upstreams)| {
                Some(Arc::clone(&tally.upstreams[known(upstreams, name)?]))
            })
        };
        let unrouted = before.and_then(|(tally, ..)| tally.routes.last().map(Arc::clone));
        Self {
            routes: routes
                .iter()
                .map(|path| route(path).unwrap_or_default())
                .chain([unrouted.unwrap_or_default()])
                .collect(),
            upstreams: upstreams
                .iter()
                .map(|name| upstream(name).unwrap_or_default())
                .collect(),
        }
    }

    /// The counters of a route, or of requests that none covers.
    pub(crate) fn route(&self, route: Option<usize>) -> &RouteMetrics {
        route.map_or_else(|| self.unrouted(), |index| &self.routes[index])
    }

    /// The counters of requests that no route covers.
    pub(crate) fn unrouted(&self) -> &RouteMetrics {
        self.routes
            .last()
            .expect("invariant: there is one more than there are routes")
    }
}

/// Counters of one shard whatever its configuration.
#[derive(Debug, Default)]
pub(crate) struct ShardMetrics {
    /// Client connections open now.
    pub(crate) connections: Counter,
    /// Client connections refused because there were too many.
    pub(crate) refused: RefusalMetrics,
    /// Streams of HTTP/2 that were refused because there were too many exchanges.
    pub(crate) streams_refused: Counter,
    /// Client connections that were ended, or broken off.
    pub(crate) ended: EndMetrics,
    /// Requests that wait for their client's data to be moved.
    pub(crate) held: Counter,
    /// Copies of requests that were begun and are not done.
    pub(crate) mirroring: Counter,
    /// TLS handshakes that failed.
    pub(crate) handshakes: HandshakeMetrics,
    /// How often a client had to wait to be accepted because no descriptor was left.
    pub(crate) exhausted: Arc<Counter>,
    /// Connections that ended by a defect of the gateway.
    pub(crate) panicked: Counter,
    /// Time spent in the gateway itself, per forwarded exchange.
    pub(crate) gateway_time: Buckets,
    /// Time spent waiting for an upstream, per forwarded exchange.
    pub(crate) upstream_time: Buckets,
    /// Time spent in each phase, where that is measured.
    pub(crate) phases: [Buckets; Phase::ALL.len()],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_follow_their_names_into_the_next_generation() {
        let names = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
        let (routes, upstreams) = (names(&["/", "/a"]), names(&["x"]));
        let first = Tally::following(&routes, &upstreams, None);
        for (count, route) in (1..).zip(&first.routes) {
            route.aborted.add(count);
        }
        first.upstreams[0].retries.add(7);
        let (later, behind) = (names(&["/b", "/a"]), names(&["y", "x"]));
        let second = Tally::following(&later, &behind, Some((&first, &routes, &upstreams)));
        let aborted: Vec<u64> = second.routes.iter().map(|r| r.aborted.get()).collect();
        assert_eq!(aborted, [0, 2, 3]);
        let retries: Vec<u64> = second.upstreams.iter().map(|u| u.retries.get()).collect();
        assert_eq!(retries, [0, 7]);
    }
}
