//! What the gateway counts. Each shard writes its own counters; they are added up when somebody reads them.
//!
//! How they are printed is [`crate::admin`]'s.

pub(crate) use plimsoll_http::meters::{Buckets, Counter};

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
    /// A time limit passed while the upstream was waited for.
    pub(crate) timed_out: Counter,
    /// The connection ended or failed inside an exchange.
    pub(crate) closed: Counter,
    /// What came was not HTTP.
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
    /// What came was no request.
    pub(crate) malformed: Counter,
    /// A request's body took too long.
    pub(crate) slow_body: Counter,
    /// An answer was not taken in time.
    pub(crate) unread: Counter,
    /// An upgraded connection was silent for too long.
    pub(crate) upgraded_idle: Counter,
}

/// All counters of one shard.
#[derive(Debug)]
pub(crate) struct ShardMetrics {
    /// By route; the last is for requests that no route covers.
    pub(crate) routes: Box<[RouteMetrics]>,
    pub(crate) upstreams: Box<[UpstreamMetrics]>,
    /// Client connections open now.
    pub(crate) connections: Counter,
    /// Client connections refused because there were too many.
    pub(crate) connections_refused: Counter,
    /// Client connections that were ended, or broken off.
    pub(crate) ended: EndMetrics,
    /// How often a client had to wait to be accepted because no descriptor was left.
    pub(crate) exhausted: Counter,
    /// Connections that ended by a defect of the gateway.
    pub(crate) panicked: Counter,
    /// Records that could not be handed to the analytics writer in time.
    pub(crate) analytics_lost: Counter,
    /// Time spent in the gateway itself, per forwarded exchange.
    pub(crate) gateway_time: Buckets,
    /// Time spent waiting for an upstream, per forwarded exchange.
    pub(crate) upstream_time: Buckets,
}

impl ShardMetrics {
    /// Counters at zero.
    pub(crate) fn new(routes: usize, upstreams: usize) -> Self {
        Self {
            routes: (0..=routes).map(|_| RouteMetrics::default()).collect(),
            upstreams: (0..upstreams).map(|_| UpstreamMetrics::default()).collect(),
            connections: Counter::default(),
            connections_refused: Counter::default(),
            ended: EndMetrics::default(),
            exhausted: Counter::default(),
            panicked: Counter::default(),
            analytics_lost: Counter::default(),
            gateway_time: Buckets::default(),
            upstream_time: Buckets::default(),
        }
    }
}
