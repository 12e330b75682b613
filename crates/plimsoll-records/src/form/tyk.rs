//! Tyk's analytics record: as JSON with the names of `analytics.AnalyticsRecord`'s JSON tags, and as the MessagePack that Tyk's gateway
//! pushes and tyk-pump reads, whose names are those of the Go fields (`gopkg.in/vmihailenco/msgpack.v2`).
//!
//! One list of fields serves both. Beside Tyk's own fields, whose times are whole milliseconds, are ours: times in microseconds, and how the
//! exchange ended; tyk-pump skips what it does not know.

use crate::ending::Ending;
use crate::entry::Entry;
use jiff::civil::DateTime;
use jiff::{Timestamp, tz::TimeZone};
use rmp::encode as msgpack;
use serde_json::Value;

/// Seconds after which a record expires that nothing says it of: a hundred years, as Tyk has it.
const NEVER: u64 = 100 * 365 * 24 * 60 * 60;

/// Appends `entry` to `out` as one line of JSON.
pub(crate) fn write_line(out: &mut Vec<u8>, entry: &Entry<'_>) {
    out.extend_from_slice(&as_json(entry));
    out.push(b'\n');
}

/// The record as JSON.
pub(crate) fn as_json(entry: &Entry<'_>) -> Vec<u8> {
    let mut json = Json::default();
    record(entry, &mut json);
    json.0.push(b'}');
    json.0
}

/// The record as MessagePack.
pub(crate) fn as_msgpack(entry: &Entry<'_>) -> Vec<u8> {
    let mut pack = MsgPack::new();
    record(entry, &mut pack);
    pack.finish()
}

/// A field's name in JSON, and in Go.
type Name = (&'static str, &'static str);

/// Output form of a record. Fields of objects follow each other until `close`.
trait Form {
    fn text(&mut self, name: Name, text: &str);
    fn number(&mut self, name: Name, number: i64);
    fn real(&mut self, name: Name, number: f64);
    fn flag(&mut self, name: Name, flag: bool);
    /// Of microseconds since 1970.
    fn time(&mut self, name: Name, micros: u64);
    fn texts(&mut self, name: Name, texts: &[String]);
    fn nothing(&mut self, name: Name);
    fn open(&mut self, name: Name);
    fn close(&mut self);
}

/// The status that was sent; Tyk's own, nginx's 499, for a client that has gone before.
fn response_code(entry: &Entry<'_>) -> i64 {
    let is_gone = entry.status == 0 && entry.ending == Ending::ClientGone.name();
    i64::from(if is_gone { 499 } else { entry.status })
}

/// Writes every field.
fn record(entry: &Entry<'_>, form: &mut impl Form) {
    let api = entry.api.unwrap_or_default();
    let ended = moment(entry.ended()).to_zoned(TimeZone::UTC).datetime();
    form.text(("method", "Method"), entry.method);
    form.text(("host", "Host"), api.target);
    form.text(("path", "Path"), entry.forwarded_path());
    form.text(("raw_path", "RawPath"), entry.forwarded_path());
    form.number(("content_length", "ContentLength"), entry.content_length);
    form.text(("user_agent", "UserAgent"), entry.agent);
    date(form, ended);
    form.number(("response_code", "ResponseCode"), response_code(entry));
    form.text(("api_key", "APIKey"), entry.key.unwrap_or_default());
    form.time(("timestamp", "TimeStamp"), entry.ended());
    form.text(("api_version", "APIVersion"), "Non Versioned");
    form.text(("api_name", "APIName"), api.name);
    form.text(("api_id", "APIID"), api.id);
    form.text(("org_id", "OrgID"), api.organisation);
    form.text(("oauth_id", "OauthID"), "");
    form.number(("request_time", "RequestTime"), milliseconds(entry.total));
    form.text(("raw_request", "RawRequest"), entry.request);
    form.text(("raw_response", "RawResponse"), entry.response);
    form.text(("ip_address", "IPAddress"), entry.peer);
    geography(form);
    traffic_and_latency(form, entry);
    form.texts(("tags", "Tags"), &entry.tyk_tags());
    form.text(("alias", "Alias"), entry.alias);
    form.flag(("track_path", "TrackPath"), false);
    let expires_after = match api.expires_after {
        0 => NEVER,
        seconds => seconds,
    };
    let expires = entry
        .ended()
        .saturating_add(expires_after.saturating_mul(1_000_000));
    form.time(("expireAt", "ExpireAt"), expires);
    form.text(("api_schema", "ApiSchema"), "");
    form.text(("original_path", "OriginalPath"), entry.path);
    form.text(
        ("listen_path", "ListenPath"),
        entry.route.unwrap_or_default(),
    );
    our_own(form, entry);
}

fn date(form: &mut impl Form, ended: DateTime) {
    form.number(("day", "Day"), i64::from(ended.day()));
    form.number(("month", "Month"), i64::from(ended.month()));
    form.number(("year", "Year"), i64::from(ended.year()));
    form.number(("hour", "Hour"), i64::from(ended.hour()));
}

/// Nobody looks up where addresses are.
fn geography(form: &mut impl Form) {
    form.open(("geo", "Geo"));
    form.open(("country", "Country"));
    form.text(("iso_code", "ISOCode"), "");
    form.close();
    form.open(("city", "City"));
    form.number(("geoname_id", "GeoNameID"), 0);
    form.nothing(("names", "Names"));
    form.close();
    form.open(("location", "Location"));
    form.real(("latitude", "Latitude"), 0.0);
    form.real(("longitude", "Longitude"), 0.0);
    form.text(("time_zone", "TimeZone"), "");
    form.close();
    form.close();
}

fn traffic_and_latency(form: &mut impl Form, entry: &Entry<'_>) {
    form.open(("network", "Network"));
    form.number(("open_connections", "OpenConnections"), 0);
    form.number(("closed_connections", "ClosedConnection"), 0);
    form.number(("bytes_in", "BytesIn"), count(entry.bytes_in));
    form.number(("bytes_out", "BytesOut"), count(entry.bytes_out));
    form.close();
    form.open(("latency", "Latency"));
    form.number(("total", "Total"), milliseconds(entry.total));
    form.number(("upstream", "Upstream"), milliseconds(entry.upstream));
    let rest = entry.total.saturating_sub(entry.upstream);
    form.number(("gateway", "Gateway"), milliseconds(rest));
    form.close();
}

/// Fields that Tyk does not have.
fn our_own(form: &mut impl Form, entry: &Entry<'_>) {
    form.text(("id", "ID"), &entry.id());
    form.text(("ended", "Ended"), entry.ending);
    form.number(("arrived_us", "ArrivedUs"), count(entry.arrived));
    form.number(("total_us", "TotalUs"), count(entry.total));
    form.number(("upstream_us", "UpstreamUs"), count(entry.upstream));
    form.number(("gateway_us", "GatewayUs"), count(entry.gateway));
    form.number(("client_us", "ClientUs"), count(entry.client));
    if let Some(phases) = &entry.phases {
        form.open(("phases_us", "PhasesUs"));
        for (phase, micros) in phases.micros() {
            form.number((phase.name(), phase.name()), count(micros));
        }
        form.close();
    }
}

fn milliseconds(micros: u64) -> i64 {
    count(micros / 1000)
}

fn count(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn moment(micros: u64) -> Timestamp {
    Timestamp::from_microsecond(count(micros)).unwrap_or(Timestamp::MAX)
}

/// An object of JSON, up to its end.
#[derive(Default)]
struct Json(Vec<u8>);

impl Json {
    fn name(&mut self, (name, _): Name) {
        match self.0.last() {
            None => self.0.push(b'{'),
            Some(b'{') => {}
            Some(_) => self.0.push(b','),
        }
        self.0.extend_from_slice(format!("\"{name}\":").as_bytes());
    }

    fn value(&mut self, name: Name, value: impl Into<Value>) {
        self.name(name);
        let text = value.into().to_string();
        self.0.extend_from_slice(text.as_bytes());
    }
}

impl Form for Json {
    fn text(&mut self, name: Name, text: &str) {
        self.value(name, text);
    }

    fn number(&mut self, name: Name, number: i64) {
        self.value(name, number);
    }

    fn real(&mut self, name: Name, number: f64) {
        self.value(name, number);
    }

    fn flag(&mut self, name: Name, flag: bool) {
        self.value(name, flag);
    }

    fn time(&mut self, name: Name, micros: u64) {
        self.value(name, format!("{:.6}", moment(micros)));
    }

    fn texts(&mut self, name: Name, texts: &[String]) {
        self.value(name, texts.to_vec());
    }

    fn nothing(&mut self, name: Name) {
        self.value(name, Value::Null);
    }

    fn open(&mut self, name: Name) {
        self.name(name);
        self.0.push(b'{');
    }

    fn close(&mut self) {
        self.0.push(b'}');
    }
}

/// Maps that are open, the record's among them.
struct MsgPack {
    out: Vec<u8>,
    /// Where each map begins, and how many fields it has.
    open: Vec<(usize, u32)>,
}

/// The mark of a map whose length has four bytes: they are put in when it is closed.
const MAP: [u8; 5] = [0xdf, 0, 0, 0, 0];

impl MsgPack {
    fn new() -> Self {
        Self {
            out: MAP.to_vec(),
            open: vec![(0, 0)],
        }
    }

    fn name(&mut self, (_, name): Name) {
        if let Some((_, fields)) = self.open.last_mut() {
            *fields += 1;
        }
        self.write(|out| msgpack::write_str(out, name));
    }

    fn write<E: std::fmt::Debug>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) {
        write(&mut self.out).expect("invariant: writing to memory does not fail");
    }

    fn integer(&mut self, number: i64) {
        self.write(|out| msgpack::write_sint(out, number).map(|_| ()));
    }

    fn finish(mut self) -> Vec<u8> {
        self.close();
        self.out
    }
}

impl Form for MsgPack {
    fn text(&mut self, name: Name, text: &str) {
        self.name(name);
        self.write(|out| msgpack::write_str(out, text));
    }

    fn number(&mut self, name: Name, number: i64) {
        self.name(name);
        self.integer(number);
    }

    fn real(&mut self, name: Name, number: f64) {
        self.name(name);
        self.write(|out| msgpack::write_f64(out, number));
    }

    fn flag(&mut self, name: Name, flag: bool) {
        self.name(name);
        self.write(|out| msgpack::write_bool(out, flag));
    }

    /// Seconds and nanoseconds, as Go's package has it.
    fn time(&mut self, name: Name, micros: u64) {
        self.name(name);
        self.write(|out| msgpack::write_array_len(out, 2).map(|_| ()));
        self.integer(count(micros / 1_000_000));
        self.integer(count(micros % 1_000_000 * 1000));
    }

    fn texts(&mut self, name: Name, texts: &[String]) {
        self.name(name);
        let length = u32::try_from(texts.len()).unwrap_or(u32::MAX);
        self.write(|out| msgpack::write_array_len(out, length).map(|_| ()));
        for text in texts {
            self.write(|out| msgpack::write_str(out, text));
        }
    }

    fn nothing(&mut self, name: Name) {
        self.name(name);
        self.write(msgpack::write_nil);
    }

    fn open(&mut self, name: Name) {
        self.name(name);
        self.open.push((self.out.len(), 0));
        self.out.extend_from_slice(&MAP);
    }

    fn close(&mut self) {
        if let Some((start, fields)) = self.open.pop() {
            self.out[start + 1..start + MAP.len()].copy_from_slice(&fields.to_be_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::Api;

    fn entry() -> Entry<'static> {
        Entry {
            origin: "plimsoll-1",
            arrived: 1_700_000_000_123_456,
            route: Some("/shop"),
            api: Some(Api {
                id: "shop",
                name: "Shop",
                organisation: "acme",
                target: "127.0.0.1:9000",
                strips: true,
                expires_after: 60,
            }),
            key: Some("cafe"),
            method: "POST",
            path: "/shop/orders/7",
            agent: "curl/8 \"x\"",
            peer: "192.0.2.7",
            alias: "till",
            tags: "pol-gold\u{1f}",
            status: 201,
            ending: "answered",
            content_length: 5,
            bytes_in: 5,
            bytes_out: 70_000,
            total: 12_345,
            upstream: 10_001,
            gateway: 44,
            client: 2_300,
            ..Entry::default()
        }
    }

    #[test]
    fn json_has_tyks_names_and_shapes() {
        let value: Value = serde_json::from_slice(&as_json(&entry())).unwrap();
        insta::assert_snapshot!(serde_json::to_string_pretty(&value).unwrap());
    }

    #[test]
    fn message_pack_has_the_same_by_gos_names() {
        let packed = as_msgpack(&entry());
        let value: Value = rmp_serde::from_slice(&packed).unwrap();
        insta::assert_snapshot!(serde_json::to_string_pretty(&value).unwrap());
    }
}
