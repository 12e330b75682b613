//! A limit by the name that it has in `gateway.yaml`, for configurations that come from elsewhere and know no such limit.
//!
//! These are the ones that keep strangers from taking what others need; which values are sensible is said where they are checked for
//! `gateway.yaml`, too.

use super::GatewayConfig;
use plimsoll_base::units::{parse_bytes, parse_duration};
use std::str::FromStr;
use std::time::Duration;

/// A limit and its value, `connections_per_address=100`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    what: What,
    /// As written.
    value: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Connections(u32),
    ConnectionsPerAddress(u32),
    MaxPending(u32),
    Head(usize),
    Fields(usize),
    Target(usize),
    BodyRate(u64),
    RequestHead(Duration),
    Idle(Duration),
    Total(Duration),
}

/// Names, in the order in which messages say them.
const NAMES: &str = "connections, connections_per_address, max_pending, head, fields, target, body_rate, request_head, idle, total";

impl FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((name, value)) = text.split_once('=') else {
            return Err(format!("write `NAME=VALUE`; names are {NAMES}"));
        };
        let what = match name {
            "connections" => What::Connections(count(value)?),
            "connections_per_address" => What::ConnectionsPerAddress(count(value)?),
            "max_pending" => What::MaxPending(count(value)?),
            "head" => What::Head(size(value)?),
            "fields" => What::Fields(count(value)? as usize),
            "target" => What::Target(size(value)?),
            "body_rate" => What::BodyRate(parse_bytes(value).map_err(|e| e.to_string())?),
            "request_head" => What::RequestHead(time(value)?),
            "idle" => What::Idle(time(value)?),
            "total" => What::Total(time(value)?),
            _ => return Err(format!("`{name}` is no limit; names are {NAMES}")),
        };
        Ok(Self {
            what,
            value: value.to_owned(),
        })
    }
}

fn count(value: &str) -> Result<u32, String> {
    let count = value.parse().ok().filter(|count| *count > 0);
    count.ok_or_else(|| format!("`{value}` is not a number from 1 on"))
}

fn size(value: &str) -> Result<usize, String> {
    let bytes = parse_bytes(value).map_err(|error| error.to_string())?;
    let usable = (256..=1024 * 1024).contains(&bytes);
    let bytes = usize::try_from(bytes).ok().filter(|_| usable);
    bytes.ok_or_else(|| "this limit lies between 256 bytes and 1MiB".to_owned())
}

fn time(value: &str) -> Result<Duration, String> {
    let time = parse_duration(value).map_err(|error| error.to_string())?;
    let time = Some(time).filter(|time| !time.is_zero());
    time.ok_or_else(|| "0 would end every exchange: write for instance `10s`".to_owned())
}

impl Limit {
    /// How `gateway.yaml` says it.
    #[must_use]
    pub fn in_yaml(&self) -> String {
        let (block, name) = match self.what {
            What::Connections(_) => ("limits", "connections"),
            What::ConnectionsPerAddress(_) => ("limits", "connections_per_address"),
            What::MaxPending(_) => {
                return format!("`max_pending: {}` at each upstream", self.value);
            }
            What::Head(_) => ("limits", "head"),
            What::Fields(_) => ("limits", "fields"),
            What::Target(_) => ("limits", "target"),
            What::BodyRate(_) => ("limits", "body_rate"),
            What::RequestHead(_) => ("timeouts", "request_head"),
            What::Idle(_) => ("timeouts", "idle"),
            What::Total(_) => ("timeouts", "total"),
        };
        format!("`{block}: {{ {name}: {} }}`", self.value)
    }
}

impl GatewayConfig {
    /// Sets a limit, whatever it was.
    pub fn limit(&mut self, limit: &Limit) {
        let (limits, timeouts) = (&mut self.limits, &mut self.timeouts);
        match limit.what {
            What::Connections(most) => limits.connections = most,
            What::ConnectionsPerAddress(most) => limits.per_address = Some(most),
            What::MaxPending(most) => {
                let upstreams = self.upstreams.iter_mut();
                upstreams.for_each(|upstream| upstream.max_pending = most);
            }
            What::Head(bytes) => {
                (limits.request.head_bytes, limits.response.head_bytes) = (bytes, bytes);
            }
            What::Fields(most) => (limits.request.fields, limits.response.fields) = (most, most),
            What::Target(bytes) => {
                (limits.request.target_bytes, limits.response.target_bytes) = (bytes, bytes);
            }
            What::BodyRate(bytes) => timeouts.body_rate = bytes,
            What::RequestHead(time) => timeouts.request_head = time,
            What::Idle(time) => timeouts.idle = time,
            What::Total(time) => timeouts.total = time,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_what_gateway_yaml_would_say() {
        let base = "version: 1\nlisteners: { main: { address: ':0' } }\nupstreams: { up: { endpoints: ['http://127.0.0.1:1'] } }\nroutes: [{ path: /, upstream: up }]\n";
        let check = |text: &str| {
            let limit: Limit = text.parse().unwrap();
            let mut config = GatewayConfig::parse("gateway.yaml", base).unwrap();
            config.limit(&limit);
            let said = match limit.what {
                What::MaxPending(_) => {
                    base.replace("] } }", &format!("], max_pending: {} }} }}", limit.value))
                }
                _ => format!("{base}{}\n", limit.in_yaml().trim_matches('`')),
            };
            let said = GatewayConfig::parse("gateway.yaml", &said).unwrap();
            let shown = |config: &GatewayConfig| {
                format!(
                    "{:?} {:?} {:?}",
                    config.limits, config.timeouts, config.upstreams
                )
            };
            assert_eq!(shown(&config), shown(&said), "{text}");
        };
        check("connections=5");
        check("connections_per_address=100");
        check("max_pending=7");
        check("head=1KiB");
        check("fields=9");
        check("target=512");
        check("body_rate=0");
        check("request_head=1s");
        check("idle=250ms");
        check("total=1m");
        for text in [
            "",
            "idle",
            "idle=",
            "idle=0",
            "connections=0",
            "head=1",
            "drain=1s",
            "fields=-1",
        ] {
            assert!(text.parse::<Limit>().is_err(), "{text}");
        }
    }
}
