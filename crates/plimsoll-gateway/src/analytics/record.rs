//! One request as analytics sees it, and batches of such records.

use crate::config::{GatewayConfig, RouteConfig};
use crate::exchange::phases::Phases;
use crate::policy::key::{Accepted, KeyIndex};
use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

/// The numbers of one exchange. Times are microseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Record {
    /// When the request's head had arrived, since the gateway started.
    pub(crate) start_micros: u64,
    /// The route, if one covers the path.
    pub(crate) route: Option<usize>,
    /// The key that was accepted.
    pub(crate) key: Option<KeyIndex>,
    /// The status that was sent; 0 if the client left before.
    pub(crate) status: u16,
    /// Whether the exchange was cut off before its end.
    pub(crate) aborted: bool,
    /// Bytes of the request's body.
    pub(crate) bytes_in: u64,
    /// Bytes of the response's body.
    pub(crate) bytes_out: u64,
    /// From the request's head to the last byte of the response: the sum of the three below.
    pub(crate) total_micros: u64,
    /// The gateway's own share.
    pub(crate) gateway_micros: u64,
    /// Waiting for the upstream: connecting, its response head, its body.
    pub(crate) upstream_micros: u64,
    /// Waiting for the client: sending its body, taking the response.
    pub(crate) client_micros: u64,
}

/// The words of one exchange.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text<'a> {
    pub(crate) method: &'a str,
    /// Normalised; as it came if it could not be.
    pub(crate) path: &'a str,
}

/// Records with their texts, in two allocations that are used again and again.
#[derive(Debug)]
pub(super) struct Batch {
    /// Where it goes back to when it has been written.
    pub(super) shard: usize,
    /// What its records refer to: all of them were begun under one configuration.
    pub(super) names: Arc<Names>,
    records: Vec<(Record, usize, usize)>,
    /// One for each record, or none at all.
    phases: Vec<Phases>,
    text: String,
}

impl Batch {
    pub(super) fn new(shard: usize, names: Arc<Names>) -> Self {
        Self {
            shard,
            names,
            records: Vec::with_capacity(super::BATCH_RECORDS),
            phases: Vec::new(),
            text: String::new(),
        }
    }

    pub(super) fn push(&mut self, record: Record, phases: Option<Phases>, text: Text<'_>) {
        // A reload may change whether they are shown; those who have none then show nothing but zeros.
        if phases.is_some() || !self.phases.is_empty() {
            self.phases.resize(self.records.len(), Phases::default());
            self.phases.push(phases.unwrap_or_default());
        }
        self.records
            .push((record, text.method.len(), text.path.len()));
        self.text.push_str(text.method);
        self.text.push_str(text.path);
    }

    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    pub(super) fn text_bytes(&self) -> usize {
        self.text.len()
    }

    pub(super) fn clear(&mut self) {
        self.records.clear();
        self.phases.clear();
        self.text.clear();
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Record, Option<&Phases>, Text<'_>)> {
        let mut rest = self.text.as_str();
        let mut phases = self.phases.iter();
        self.records.iter().map(move |(record, method, path)| {
            let (method, after) = rest.split_at(*method);
            let (path, after) = after.split_at(*path);
            rest = after;
            (record, phases.next(), Text { method, path })
        })
    }
}

/// The names that records refer to by index.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// When the gateway started, microseconds since 1970.
    pub(crate) start_micros: u64,
    /// Path of each route.
    pub(crate) routes: Vec<String>,
    /// Hexadecimal SHA-256 of each key of each route, or of where it is kept.
    pub(crate) keys: Vec<Vec<String>>,
}

impl Names {
    /// The names of a gateway's configuration that started at this time of day.
    pub(crate) fn of(config: &GatewayConfig, since_epoch: Duration) -> Self {
        let keys = |route: &RouteConfig| {
            let keys = route.key.iter().flat_map(|key| &key.keys);
            keys.map(Accepted::name).collect()
        };
        let routes = config.routes.iter();
        Self {
            start_micros: u64::try_from(since_epoch.as_micros()).unwrap_or(0),
            routes: routes.clone().map(|route| route.path.clone()).collect(),
            keys: routes.map(keys).collect(),
        }
    }
}

/// Appends `record` to `out` as one line of JSON. `time` is RFC 3339 in UTC with microseconds.
pub(super) fn write_line(
    out: &mut Vec<u8>,
    names: &Names,
    record: &Record,
    phases: Option<&Phases>,
    text: Text<'_>,
) {
    let micros = i64::try_from(names.start_micros + record.start_micros).unwrap_or(i64::MAX);
    let time = jiff::Timestamp::from_microsecond(micros).unwrap_or(jiff::Timestamp::MAX);
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let route = record.route.map(|route| quoted(&names.routes[route]));
    let key = record
        .route
        .zip(record.key)
        .map(|(route, KeyIndex(key))| format!("\"{}\"", names.keys[route][key as usize]));
    let null = || "null".to_owned();
    let written = write!(
        out,
        "{{\"time\":\"{time:.6}\",\"route\":{},\"key_sha256\":{},\"method\":{},\"path\":{},\"status\":{},\"aborted\":{},\
         \"bytes_in\":{},\"bytes_out\":{},\"gateway_us\":{},\"upstream_us\":{},\"client_us\":{},\"total_us\":{}",
        route.unwrap_or_else(null),
        key.unwrap_or_else(null),
        quoted(text.method),
        quoted(text.path),
        record.status,
        record.aborted,
        record.bytes_in,
        record.bytes_out,
        record.gateway_micros,
        record.upstream_micros,
        record.client_micros,
        record.total_micros,
    );
    written.expect("invariant: writing to memory does not fail");
    if let Some(phases) = phases {
        write_phases(out, phases);
    }
    out.extend_from_slice(b"}\n");
}

/// The phases and their sum, which is the time from the client's first byte on, or from its being accepted.
fn write_phases(out: &mut Vec<u8>, phases: &Phases) {
    let total = phases.total_micros();
    let shown = phases
        .micros()
        .map(|(phase, micros)| format!(",\"{}\":{micros}", phase.name()));
    let shown: String = shown.collect();
    let text = format!(",\"phases_us\":{{\"total\":{total}{shown}}}");
    out.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_one_line_of_json() {
        let names = Names {
            start_micros: 1_700_000_000_000_000,
            routes: vec!["/".to_owned(), "/api".to_owned()],
            keys: vec![vec![], vec!["aa".to_owned(), "bb".to_owned()]],
        };
        let mut batch = Batch::new(0, Arc::default());
        batch.push(
            Record::default(),
            None,
            Text {
                method: "GET",
                path: "/\"x",
            },
        );
        batch.push(
            Record {
                start_micros: 1_500_000,
                route: Some(1),
                key: Some(KeyIndex(1)),
                status: 200,
                bytes_in: 5,
                bytes_out: 7,
                total_micros: 60,
                gateway_micros: 10,
                upstream_micros: 40,
                client_micros: 10,
                aborted: false,
            },
            None,
            Text {
                method: "POST",
                path: "/api/é",
            },
        );
        let mut out = Vec::new();
        for (record, phases, text) in batch.iter() {
            write_line(&mut out, &names, record, phases, text);
        }
        insta::assert_snapshot!(String::from_utf8(out).unwrap(), @r#"
        {"time":"2023-11-14T22:13:20.000000Z","route":null,"key_sha256":null,"method":"GET","path":"/\"x","status":0,"aborted":false,"bytes_in":0,"bytes_out":0,"gateway_us":0,"upstream_us":0,"client_us":0,"total_us":0}
        {"time":"2023-11-14T22:13:21.500000Z","route":"/api","key_sha256":"bb","method":"POST","path":"/api/é","status":200,"aborted":false,"bytes_in":5,"bytes_out":7,"gateway_us":10,"upstream_us":40,"client_us":10,"total_us":60}
        "#);
    }
}
