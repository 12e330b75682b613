//! Whether the spans of a load arrived: a gateway's own counters before it and after it. What sends none would add nothing to a request.

use crate::server::{Kind, Server};
use crate::{Error, clock, http};
use std::net::SocketAddr;
use std::time::Duration;

/// Between two looks at a gateway that has spans to send; longer than it waits for more of them to send at once.
const LOOK: Duration = Duration::from_millis(1500);
/// How long it may take to send what waits.
const PATIENCE: Duration = Duration::from_secs(60);
/// The prefix of the names of its metrics.
const PREFIX: &str = "plimsoll_gateway_";
/// So many standard deviations the number of sampled requests may be off: once in 1.7 million (normal law).
const DEVIATIONS: f64 = 5.0;

/// An account of the spans of one load, opened before it with the gateway's counters at that moment.
#[derive(Debug)]
pub struct Account {
    admin: SocketAddr,
    share: f64,
    before: Counts,
}

/// The counters of a gateway since its start.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Counts {
    /// Requests that were answered.
    requests: f64,
    /// Spans that the collector took.
    written: f64,
    /// Spans that it did not get, for whatever reason.
    lost: f64,
    /// Spans that wait.
    waiting: f64,
}

impl Account {
    /// Waits until a gateway has sent what earlier loads left, and reads its counters; `None` of whoever makes no spans.
    pub fn open(kind: Kind, server: &Server) -> Result<Option<Self>, Error> {
        let Kind::GatewayTraced(share) = kind else {
            return Ok(None);
        };
        let percent: Option<f64> = share.strip_suffix('%').and_then(|text| text.parse().ok());
        let percent = percent.ok_or_else(|| Error::Measured(format!("a share of `{share}`")))?;
        let none = || Error::Measured("the gateway has no listener `admin`".to_owned());
        let admin = server.admin.ok_or_else(none)?;
        Ok(Some(Self {
            admin,
            share: percent / 100.0,
            before: settled(admin)?,
        }))
    }

    /// Waits again, and holds what came against the requests since.
    pub fn close(self) -> Result<(), Error> {
        judge(self.share, self.before, settled(self.admin)?)
    }
}

/// The counters of a gateway that has nothing left to send.
fn settled(admin: SocketAddr) -> Result<Counts, Error> {
    let deadline = clock::now() + PATIENCE;
    let mut last = look(admin)?;
    loop {
        clock::pause(LOOK);
        let now = look(admin)?;
        if now == last && now.waiting == 0.0 {
            return Ok(now);
        }
        if clock::now() > deadline {
            return Err(Error::Measured(format!(
                "{} spans still wait after {} s",
                now.waiting,
                PATIENCE.as_secs()
            )));
        }
        last = now;
    }
}

fn look(admin: SocketAddr) -> Result<Counts, Error> {
    let (_, page) = http::get(admin, "/metrics", &[])?;
    Counts::of(&page).ok_or_else(|| Error::Measured("its metrics say nothing of spans".to_owned()))
}

impl Counts {
    /// Reads a page in Prometheus' text format; `None` where it has no counters of spans.
    fn of(page: &str) -> Option<Self> {
        let sum = |name: &str, label: &str| {
            let of_name = page.lines().filter(|line| {
                let rest = line
                    .strip_prefix(PREFIX)
                    .and_then(|rest| rest.strip_prefix(name));
                rest.is_some_and(|rest| rest.starts_with('{') && rest.contains(label))
            });
            let values = of_name.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok());
            values.fold(None, |sum, value| Some(sum.unwrap_or(0.0) + value))
        };
        let of_spans = |name: &str| sum(name, "sink=\"spans\"");
        Some(Self {
            requests: sum("requests_total", "route=")?,
            written: of_spans("analytics_written_total")?,
            lost: of_spans("analytics_lost_total")?,
            waiting: of_spans("analytics_waiting")?,
        })
    }
}

/// Nothing is lost, and of each request there is a span with the probability `share`: their number is binomial.
fn judge(share: f64, before: Counts, after: Counts) -> Result<(), Error> {
    let requests = after.requests - before.requests;
    let written = after.written - before.written;
    let lost = after.lost - before.lost;
    let expected = share * requests;
    let bound = DEVIATIONS * (expected * (1.0 - share)).sqrt();
    if requests > 0.0 && lost == 0.0 && (written - expected).abs() <= bound {
        return Ok(());
    }
    Err(Error::Measured(format!(
        "of {requests} requests {written} spans arrived and {lost} were lost, where {expected:.0} ± {bound:.0} are expected"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(requests: f64, written: f64, lost: f64) -> Counts {
        Counts {
            requests,
            written,
            lost,
            waiting: 0.0,
        }
    }

    #[test]
    fn counters_are_read_from_the_page() {
        let page = "# TYPE requests_total counter\n\
            plimsoll_gateway_requests_total{route=\"/\",class=\"2xx\"} 40\nplimsoll_gateway_requests_total{route=\"none\",class=\"4xx\"} 2\n\
            plimsoll_gateway_analytics_written_total{sink=\"file\"} 9\nplimsoll_gateway_analytics_written_total{sink=\"spans\"} 30\n\
            plimsoll_gateway_analytics_lost_total{sink=\"spans\",why=\"refused\"} 1\nplimsoll_gateway_analytics_lost_total{sink=\"spans\",why=\"no_room\"} 4\n\
            plimsoll_gateway_analytics_waiting{sink=\"spans\"} 7\n";
        let expected = Counts {
            waiting: 7.0,
            ..counts(42.0, 30.0, 5.0)
        };
        assert_eq!(Counts::of(page), Some(expected));
        assert_eq!(
            Counts::of("plimsoll_gateway_requests_total{route=\"/\"} 1\n"),
            None
        );
    }

    #[test]
    fn what_did_not_arrive_fails_the_reading() {
        let before = counts(100.0, 90.0, 10.0);
        let check = |share, requests, written, lost, arrived| {
            let after = counts(100.0 + requests, 90.0 + written, 10.0 + lost);
            assert_eq!(judge(share, before, after).is_ok(), arrived, "{after:?}");
        };
        check(1.0, 1_000.0, 1_000.0, 0.0, true);
        check(1.0, 1_000.0, 999.0, 0.0, false);
        check(1.0, 1_000.0, 999.0, 1.0, false);
        check(1.0, 1_000.0, 1_001.0, 0.0, false);
        check(1.0, 0.0, 0.0, 0.0, false);
        // 100 of 10,000, give or take fifty.
        check(0.01, 10_000.0, 140.0, 0.0, true);
        check(0.01, 10_000.0, 60.0, 0.0, true);
        check(0.01, 10_000.0, 151.0, 0.0, false);
        check(0.01, 10_000.0, 0.0, 0.0, false);
        check(0.01, 10_000.0, 100.0, 1.0, false);
    }
}
