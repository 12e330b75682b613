//! `/metrics`: every counter, in Prometheus' text format (version 0.0.4), added up over the shards.

use super::Sources;
use crate::listening::handshake::Reason;
use crate::metrics::{
    Buckets, CLASSES, Counter, EndMetrics, Outcome, RouteMetrics, ShardMetrics, Tally, TlsFailures,
    TooMany, UpstreamMetrics,
};
use crate::reloading::generation::Blueprint;
use plimsoll_http::exposition::{CONTENT_TYPE, Exposition};
use plimsoll_http::pages::Page;
use plimsoll_records::Phase;
use plimsoll_secrets::Figures;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Every metric's name begins with this.
const PREFIX: &str = "plimsoll_gateway";

pub(super) fn page(sources: &Sources) -> Page {
    let mut text = Exposition::new(PREFIX);
    let generation = Arc::clone(&sources.generation.borrow());
    routes(&mut text, &generation);
    upstreams(&mut text, &generation);
    let help = "Which reading of the configuration is served by, from 1.";
    text.head("generation", "gauge", help);
    text.sample("generation", &[], generation.number);
    if let Some(sharding) = &generation.service.sharding {
        let help = "Version of the shard map that is served by.";
        text.head("shard_map_version", "gauge", help);
        text.sample("shard_map_version", &[], sharding.map.version);
        let help = "Requests that wait for their client's data to be moved.";
        text.head("requests_held", "gauge", help);
        text.sample("requests_held", &[], sum(sources, |shard| &shard.held));
        mirrored(&mut text, sources, &generation);
    }
    clients(&mut text, sources);
    analytics(&mut text, sources);
    if let Some(keys) = &sources.keys {
        text.head("keys", "gauge", "Keys that are held.");
        text.sample("keys", &[], keys.len());
        let help = "Keys of other gateways for which there was no room.";
        text.head("keys_turned_away_total", "counter", help);
        text.sample("keys_turned_away_total", &[], keys.turned_away());
    }
    secrets(&mut text, &sources.secrets);
    let help = "Time that the gateway itself took for a forwarded exchange.";
    histogram(&mut text, sources, ("gateway_seconds", help), |shard| {
        &shard.gateway_time
    });
    let help = "Time that a forwarded exchange waited for its upstream.";
    histogram(&mut text, sources, ("upstream_seconds", help), |shard| {
        &shard.upstream_time
    });
    phases(&mut text, sources, &generation);
    Page::new(200, CONTENT_TYPE, text.finish())
}

/// Nothing, where no secret is kept.
fn secrets(text: &mut Exposition, figures: &Figures) {
    if figures.kept.get() == 0 {
        return;
    }
    type Column = (
        &'static str,
        &'static str,
        &'static str,
        fn(&Figures) -> &Counter,
    );
    let columns: [Column; 6] = [
        ("secrets", "gauge", "Secrets that are kept fresh.", |f| {
            &f.kept
        }),
        (
            "secrets_stale",
            "gauge",
            "Secrets that are used beyond their time to live, for want of a newer value.",
            |f| &f.stale,
        ),
        (
            "secrets_withheld",
            "gauge",
            "Secrets withheld because they have not been confirmed for too long.",
            |f| &f.withheld,
        ),
        (
            "secret_refreshes_total",
            "counter",
            "Calls that brought a secret's value.",
            |f| &f.refreshed,
        ),
        (
            "secret_refresh_failures_total",
            "counter",
            "Calls that did not bring a secret's value.",
            |f| &f.failed,
        ),
        (
            "secret_rotations_total",
            "counter",
            "Values that were another than before.",
            |f| &f.rotated,
        ),
    ];
    for (name, kind, help, counter) in columns {
        text.head(name, kind, help);
        text.sample(name, &[], counter(figures).get());
    }
}

fn sum<'a>(sources: &'a Sources, counter: impl Fn(&'a ShardMetrics) -> &'a Counter) -> u64 {
    sources
        .shards
        .iter()
        .map(|shard| counter(shard).get())
        .sum()
}

/// The sum over the shards of what they count by routes and upstreams.
fn tallied<'a>(generation: &'a Blueprint, counter: impl Fn(&'a Tally) -> &'a Counter) -> u64 {
    let tallies = generation.tallies.iter();
    tallies.map(|tally| counter(tally).get()).sum()
}

fn routes(text: &mut Exposition, generation: &Blueprint) {
    let names = || {
        generation
            .names
            .routes
            .iter()
            .map(String::as_str)
            .chain(["none"])
            .enumerate()
    };
    let help =
        "Answers by route and status class; route `none` is for requests that no route covers.";
    text.head("requests_total", "counter", help);
    for (route, name) in names() {
        for (class, word) in CLASSES.iter().enumerate().skip(1) {
            let value = tallied(generation, |tally| &tally.routes[route].answers[class]);
            text.sample("requests_total", &[("route", name), ("class", word)], value);
        }
    }
    type Column = (&'static str, &'static str, fn(&RouteMetrics) -> &Counter);
    let columns: [Column; 3] = [
        (
            "upgrades_total",
            "Client connections that switched to another protocol.",
            |r| &r.upgraded,
        ),
        (
            "aborted_total",
            "Exchanges that broke off before their end.",
            |r| &r.aborted,
        ),
        (
            "rate_limited_total",
            "Requests refused by a rate limit.",
            |r| &r.rate_limited,
        ),
    ];
    for (column, help, counter) in columns {
        text.head(column, "counter", help);
        for (route, name) in names() {
            let value = tallied(generation, |tally| counter(&tally.routes[route]));
            text.sample(column, &[("route", name)], value);
        }
    }
    let help = "Connections that speak another protocol now.";
    text.head("upgraded_connections", "gauge", help);
    for (route, name) in names() {
        // Read before, so that one which ends in between is not counted below nothing.
        let ended = tallied(generation, |tally| &tally.routes[route].upgraded_ended);
        let begun = tallied(generation, |tally| &tally.routes[route].upgraded);
        text.sample("upgraded_connections", &[("route", name)], begun - ended);
    }
}

fn upstreams(text: &mut Exposition, generation: &Blueprint) {
    type Column = (&'static str, fn(&UpstreamMetrics) -> &Counter);
    let kinds: [Column; 6] = [
        ("connect", |u| &u.connect_failed),
        ("tls", |u| &u.tls_failed),
        ("timeout", |u| &u.timed_out),
        ("closed", |u| &u.closed),
        ("malformed", |u| &u.malformed),
        ("unavailable", |u| &u.unavailable),
    ];
    text.head(
        "upstream_errors_total",
        "counter",
        "Failures of an upstream, by kind.",
    );
    for (upstream, name) in generation.upstream_names.iter().enumerate() {
        for (kind, counter) in kinds {
            let value = tallied(generation, |tally| counter(&tally.upstreams[upstream]));
            text.sample(
                "upstream_errors_total",
                &[("upstream", name), ("kind", kind)],
                value,
            );
        }
    }
    tls_failures(text, generation);
    let columns: [Single; 5] = [
        (
            "retries_total",
            "counter",
            "Requests sent again on a new connection.",
            |u| &u.retries,
        ),
        (
            "retries_refused_total",
            "counter",
            "Requests not sent again because the retry budget was used up.",
            |u| &u.retries_refused,
        ),
        (
            "upstream_connections_new_total",
            "counter",
            "Connections made.",
            |u| &u.connections_new,
        ),
        (
            "upstream_connections_reused_total",
            "counter",
            "Exchanges on an idle connection.",
            |u| &u.connections_reused,
        ),
        (
            "upstream_connections_idle",
            "gauge",
            "Connections that are idle.",
            |u| &u.connections_idle,
        ),
    ];
    singles(text, generation, &columns);
    endpoints(text, generation);
}

fn mirrored(text: &mut Exposition, sources: &Sources, generation: &Blueprint) {
    let help = "Copies of requests that were begun and are not done, for the shard that their client's data moves to.";
    text.head("mirrored_requests_waiting", "gauge", help);
    let waiting = sum(sources, |shard| &shard.mirroring);
    text.sample("mirrored_requests_waiting", &[], waiting);
    let help = "Requests that were to be copied for the shard that their client's data moves to, by its upstream and by what came of it.";
    text.head("mirrored_requests_total", "counter", help);
    for (upstream, name) in generation.upstream_names.iter().enumerate() {
        for (outcome, word) in Outcome::ALL {
            let value = tallied(generation, |tally| {
                tally.upstreams[upstream].mirrored.of(outcome)
            });
            let labels = [("upstream", &**name), ("result", word)];
            text.sample("mirrored_requests_total", &labels, value);
        }
    }
}

/// Only what has happened: there are many reasons, and most upstreams are spoken to in plaintext.
fn tls_failures(text: &mut Exposition, generation: &Blueprint) {
    let names = generation.upstream_names.iter().enumerate();
    let counts = names.flat_map(|(upstream, name)| {
        TlsFailures::reasons().map(move |reason| {
            let count = tallied(generation, |tally| {
                tally.upstreams[upstream].tls_failures.get(reason)
            });
            (name, reason, count)
        })
    });
    let mut counts = counts.filter(|(_, _, count)| *count > 0).peekable();
    if counts.peek().is_some() {
        let help = "Failures of TLS to an upstream, by why.";
        text.head("upstream_tls_failures_total", "counter", help);
    }
    for (name, reason, count) in counts {
        let labels = [("upstream", &**name), ("reason", reason.name())];
        text.sample("upstream_tls_failures_total", &labels, count);
    }
}

fn endpoints(text: &mut Exposition, generation: &Blueprint) {
    let columns: [Single; 4] = [
        (
            "upstream_ejections_total",
            "counter",
            "Endpoints put out of use because they failed again and again.",
            |u| &u.ejections,
        ),
        (
            "upstream_failed_checks_total",
            "counter",
            "Health checks that failed.",
            |u| &u.failed_checks,
        ),
        (
            "upstream_endpoints_ejected",
            "gauge",
            "Endpoints that are ejected.",
            |u| &u.ejected,
        ),
        (
            "upstream_endpoints_down",
            "gauge",
            "Endpoints that fail their health checks.",
            |u| &u.down,
        ),
    ];
    singles(text, generation, &columns);
}

/// Name, kind, help and place of a number that every upstream has.
type Single = (
    &'static str,
    &'static str,
    &'static str,
    fn(&UpstreamMetrics) -> &Counter,
);

fn singles(text: &mut Exposition, generation: &Blueprint, columns: &[Single]) {
    for (column, kind, help, counter) in columns {
        text.head(column, kind, help);
        for (upstream, name) in generation.upstream_names.iter().enumerate() {
            let value = tallied(generation, |tally| counter(&tally.upstreams[upstream]));
            text.sample(column, &[("upstream", name)], value);
        }
    }
}

fn clients(text: &mut Exposition, sources: &Sources) {
    text.head(
        "client_connections",
        "gauge",
        "Client connections that are open.",
    );
    text.sample(
        "client_connections",
        &[],
        sum(sources, |shard| &shard.connections),
    );
    refused(text, sources);
    let help = "Streams of HTTP/2 refused because their connection had too many exchanges.";
    text.head("http2_streams_refused_total", "counter", help);
    let refused = sum(sources, |shard| &shard.streams_refused);
    text.sample("http2_streams_refused_total", &[], refused);
    ended(text, sources);
    handshakes(text, sources);
    let help = "Times that a client had to wait to be accepted because no descriptor was left.";
    text.head("descriptors_exhausted_total", "counter", help);
    let exhausted = sum(sources, |shard| &shard.exhausted);
    text.sample("descriptors_exhausted_total", &[], exhausted);
    let help = "Client connections that ended by a defect of the gateway.";
    text.head("client_connections_panicked_total", "counter", help);
    let panicked = sum(sources, |shard| &shard.panicked);
    text.sample("client_connections_panicked_total", &[], panicked);
}

fn refused(text: &mut Exposition, sources: &Sources) {
    let help = "Client connections turned away because there were too many, by of what.";
    text.head("client_connections_refused_total", "counter", help);
    for (word, why) in [
        ("total", TooMany::All),
        ("address", TooMany::OfAddress),
        ("identity", TooMany::OfIdentity),
    ] {
        let refused = sum(sources, |shard| shard.refused.of(why));
        text.sample(
            "client_connections_refused_total",
            &[("reason", word)],
            refused,
        );
    }
}

fn ended(text: &mut Exposition, sources: &Sources) {
    type Column = (&'static str, fn(&EndMetrics) -> &Counter);
    let reasons: [Column; 11] = [
        ("idle", |e| &e.idle),
        ("slow_head", |e| &e.slow_head),
        ("broken_head", |e| &e.broken_head),
        ("malformed", |e| &e.malformed),
        ("slow_body", |e| &e.slow_body),
        ("unread", |e| &e.unread),
        ("revoked", |e| &e.revoked),
        ("distrusted", |e| &e.distrusted),
        ("expired", |e| &e.expired),
        ("upgraded_idle", |e| &e.upgraded_idle),
        ("flood", |e| &e.flood),
    ];
    let help = "Client connections that were ended or broken off, by why.";
    text.head("client_connections_ended_total", "counter", help);
    for (reason, counter) in reasons {
        let value = sum(sources, |shard| counter(&shard.ended));
        text.sample(
            "client_connections_ended_total",
            &[("reason", reason)],
            value,
        );
    }
}

/// Only what has happened: most gateways have no handshakes.
fn handshakes(text: &mut Exposition, sources: &Sources) {
    let failed = Reason::ALL
        .map(|(reason, word)| (word, sum(sources, |shard| shard.handshakes.get(reason))));
    if failed.iter().all(|(_, count)| *count == 0) {
        return;
    }
    let help = "TLS handshakes that failed, by why.";
    text.head("handshakes_failed_total", "counter", help);
    for (word, count) in failed {
        text.sample("handshakes_failed_total", &[("reason", word)], count);
    }
}

fn analytics(text: &mut Exposition, sources: &Sources) {
    if sources.analytics.is_empty() {
        return;
    }
    let help = "Records that a sink has taken.";
    text.head("analytics_written_total", "counter", help);
    for (sink, counts) in &sources.analytics {
        let written = counts.written.load(Ordering::Relaxed);
        text.sample("analytics_written_total", &[("sink", sink)], written);
    }
    let help = "Records lost on their way to a sink, by why: it refused them, they came too fast, or there was no room while it was away.";
    text.head("analytics_lost_total", "counter", help);
    for (sink, counts) in &sources.analytics {
        for (why, lost) in counts.lost() {
            let labels = [("sink", *sink), ("why", why)];
            text.sample("analytics_lost_total", &labels, lost);
        }
    }
    let help = "Records that wait for a sink, in memory and on disk.";
    text.head("analytics_waiting", "gauge", help);
    for (sink, counts) in &sources.analytics {
        let waiting = counts.waiting.load(Ordering::Relaxed);
        text.sample("analytics_waiting", &[("sink", sink)], waiting);
    }
}

fn phases(text: &mut Exposition, sources: &Sources, generation: &Blueprint) {
    if !generation.service.timings.metrics {
        return;
    }
    let help =
        "Time that requests spent in each phase; the phases of a request add up to the whole.";
    text.head("phase_seconds", "histogram", help);
    for phase in Phase::ALL {
        let shards = sources.shards.iter();
        let buckets = shards.map(|shard| &shard.phases[phase as usize]);
        text.histogram("phase_seconds", &[("phase", phase.name())], buckets);
    }
}

fn histogram(
    text: &mut Exposition,
    sources: &Sources,
    (name, help): (&str, &str),
    buckets: impl Fn(&ShardMetrics) -> &Buckets,
) {
    text.head(name, "histogram", help);
    let shards = sources.shards.iter();
    text.histogram(name, &[], shards.map(|shard| buckets(shard)));
}
