//! The surroundings of a gateway of Tyk's files: its Redis, a mock behind it, and whoever asks it or its control API.
//!
//! Redis writes what it has taken to a file before it says so. So one that is killed comes back with it, and a record that is missing
//! then was lost by the gateway.

use crate::Wait;
use crate::bench::{Bench, Error};
use crate::gateway::Gateway;
use crate::mock::Mock;
use crate::redis::Redis;
use plimsoll_base::counters::Counter;
use plimsoll_testbed::http::{Answer, Request};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// The key of the load, whose limits are out of its reach.
pub const KEY: &str = "key-of-the-load";
/// The path of the load.
pub const PATH: &str = "/json/valid";

/// Of the control API.
const SECRET: &str = "sesame-of-the-operator";
/// Where Tyk's gateway puts its records, and tyk-pump takes them from.
const LIST: &str = "analytics-tyk-system-analytics";
/// Flags by which Redis keeps everything on disk, without rewriting its file during a load.
const KEPT: [&str; 6] = [
    "--appendonly",
    "yes",
    "--appendfsync",
    "no",
    "--auto-aof-rewrite-percentage",
    "0",
];
/// How long an answer may take.
const ANSWER: Duration = Duration::from_secs(10);
/// How long the gateway may take to see that Redis is away: a turn, and the second that it waits for an answer, several times over.
const NOTICING: Wait = Wait::up_to(Duration::from_secs(5));
/// How long it may take until everything that waited has been handed on.
const SETTLING: Wait = Wait::up_to(Duration::from_secs(60));
/// How long the load may take to begin.
const BEGINNING: Duration = Duration::from_secs(15);

/// In which way Redis is away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// Connections are made, and nothing is answered.
    Hangs,
    /// Connections break off, and are refused.
    Killed,
}

impl Manner {
    /// Its name in the table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hangs => "Redis hangs (SIGSTOP)",
            Self::Killed => "Redis is killed",
        }
    }
}

/// The state of Redis by `/hello`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    Pass,
    Fail,
}

/// All of it.
pub struct Setting {
    /// Where the gateway listens.
    pub address: SocketAddr,
    gateway: Gateway,
    redis: Redis,
    mock: Mock,
    manner: Manner,
    is_away: bool,
    /// Requests that the gateway refused: the mock knows nothing of them, but there are records.
    refused: u64,
    /// Records that were taken off the list.
    taken: u64,
}

/// Records in Redis, and requests that were answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Records {
    pub found: u64,
    pub answered: u64,
}

impl Setting {
    /// Starts everything, and waits until the gateway has found its Redis.
    pub fn start(bench: &Bench, manner: Manner) -> Result<Self, Error> {
        let redis = Redis::start(&KEPT)?;
        let mock = Mock::start_with(bench, &[], &["--no-request-journal"])?;
        let files = [
            ("tyk.conf", conf(redis.address())),
            ("apps/api.json", api(mock.address)),
            ("keys.json", json!({ KEY: generous() }).to_string()),
        ];
        let gateway = Gateway::start_tyk(bench, &files, &["--keys", "keys.json"])?;
        let setting = Self {
            address: gateway.main()?,
            gateway,
            redis,
            mock,
            manner,
            is_away: false,
            refused: 0,
            taken: 0,
        };
        setting.waits_for(Said::Pass)?;
        Ok(setting)
    }

    /// Takes Redis away.
    pub fn leave(&mut self) -> Result<(), Error> {
        self.is_away = true;
        match self.manner {
            Manner::Hangs => self.redis.signal(Signal::STOP),
            Manner::Killed => self.redis.kill(),
        }
    }

    /// Brings it back, if it is away.
    pub fn back(&mut self) -> Result<(), Error> {
        if !std::mem::take(&mut self.is_away) {
            return Ok(());
        }
        match self.manner {
            Manner::Hangs => self.redis.signal(Signal::CONT),
            Manner::Killed => self.redis.start_again(),
        }
    }

    /// Waits until `/hello` says this of Redis.
    pub fn waits_for(&self, expected: Said) -> Result<(), Error> {
        let what = format!("`/hello` says {expected:?} of Redis");
        NOTICING.until(&what, || Ok(self.hello()? == expected))
    }

    /// That `/hello` says this of Redis now.
    ///
    /// # Errors
    /// [`Error::Measured`]: it does not.
    pub fn expect(&self, expected: Said) -> Result<(), Error> {
        match self.hello()? {
            said if said == expected => Ok(()),
            said => Err(Error::Measured(format!("`/hello` says {said:?}"))),
        }
    }

    /// Waits until the gateway has found Redis and handed on what waited for it. Then the list is emptied, for it grows with the load.
    pub fn settles(&mut self) -> Result<(), Error> {
        self.waits_for(Said::Pass)?;
        SETTLING.until("a record of every request", || {
            let Records { found, answered } = self.records()?;
            Ok(found >= answered)
        })?;
        let length = self.length()?;
        self.redis
            .ask(&["LTRIM", LIST, &length.to_string(), "-1"])?;
        self.taken += length;
        self.redis.ask(&["BGREWRITEAOF"]).map(|_| ())
    }

    /// Makes a key that opens the API, with these limits; what the gateway calls it in Redis.
    pub fn make(&self, key: &str, limits: &Value) -> Result<String, Error> {
        let mut session = generous();
        for (name, value) in limits.as_object().into_iter().flatten() {
            session[name] = value.clone();
        }
        let made = self.call("POST", &format!("/tyk/keys/{key}"), &session.to_string())?;
        let hash = made["key_hash"]
            .as_str()
            .map(|hash| format!("apikey-{hash}"));
        hash.ok_or_else(|| Error::Measured(format!("a key was made without a hash: {made}")))
    }

    /// Withdraws a key.
    pub fn withdraw(&self, key: &str) -> Result<(), Error> {
        let path = format!("/tyk/keys/{key}");
        self.call("DELETE", &path, "").map(|_| ())
    }

    /// Whether Redis has something of this name.
    pub fn redis_has(&self, name: &str) -> Result<bool, Error> {
        Ok(self.redis.ask(&["EXISTS", name])? == "1")
    }

    /// One request with a key: its status.
    pub fn ask(&mut self, key: &str) -> Result<u16, Error> {
        let request = Request {
            fields: &[("Authorization", key)],
            ..Request::get(PATH)
        };
        let status = self.exchange(request)?.status;
        self.refused += u64::from(status != 200);
        Ok(status)
    }

    /// Waits until one request more has reached the mock than these, and says when.
    pub fn begins(&self, received: u64) -> Result<Instant, Error> {
        self.mock.next_request(received, BEGINNING)
    }

    /// Requests that the mock has received.
    pub fn received(&self) -> Result<u64, Error> {
        Ok(self.mock.totals()?.get(Counter::Received))
    }

    /// Ends everything: what became of the records, and what the gateway had to say.
    pub fn stop(mut self) -> Result<(Records, String), Error> {
        self.back()?;
        let told = self.gateway.stop()?;
        let received = self.mock.totals()?.get(Counter::Received);
        let length = length(&self.redis)?;
        let records = Records {
            found: self.taken + length,
            answered: received + self.refused,
        };
        Ok((records, told))
    }

    fn records(&self) -> Result<Records, Error> {
        Ok(Records {
            found: self.taken + self.length()?,
            answered: self.received()? + self.refused,
        })
    }

    fn length(&self) -> Result<u64, Error> {
        length(&self.redis)
    }

    fn hello(&self) -> Result<Said, Error> {
        let answer = self.exchange(Request::get("/hello"))?;
        let said: Value = serde_json::from_str(&answer.body).unwrap_or_default();
        match said["details"]["redis"]["status"].as_str() {
            Some("pass") => Ok(Said::Pass),
            Some("fail") => Ok(Said::Fail),
            _ => Err(Error::Measured(format!("`/hello` says {said}"))),
        }
    }

    /// One call of the control API, which must be granted.
    fn call(&self, method: &str, path: &str, body: &str) -> Result<Value, Error> {
        let answer = self.exchange(Request {
            method,
            path,
            fields: &[("X-Tyk-Authorization", SECRET)],
            body,
        })?;
        let said = answer.body;
        match answer.status {
            200 => Ok(serde_json::from_str(&said).unwrap_or_default()),
            status => Err(Error::Measured(format!(
                "{method} {path} was answered with {status}: {said}"
            ))),
        }
    }

    fn exchange(&self, request: Request<'_>) -> Result<Answer, Error> {
        let asked = request.ask(self.address, ANSWER);
        asked.map_err(|error| Error::at_server("asking the gateway", error))
    }
}

fn length(redis: &Redis) -> Result<u64, Error> {
    let length = redis.ask(&["LLEN", LIST])?;
    let number = length.parse();
    number.map_err(|_| Error::Measured(format!("the list has `{length}` records")))
}

fn conf(redis: SocketAddr) -> String {
    json!({
        "listen_address": "127.0.0.1",
        "listen_port": 0,
        "secret": SECRET,
        "app_path": "apps",
        "hash_keys": true,
        "policies": { "policy_source": "" },
        "storage": { "type": "redis", "host": redis.ip().to_string(), "port": redis.port() },
        "enable_analytics": true,
        "analytics_config": { "storage_expiration_time": 86_400 },
    })
    .to_string()
}

fn api(mock: SocketAddr) -> String {
    json!({
        "name": "Upstream",
        "api_id": "upstream",
        "org_id": "default",
        "active": true,
        "use_standard_auth": true,
        "auth": { "auth_header_name": "Authorization" },
        "version_data": {
            "not_versioned": true,
            "versions": { "Default": { "name": "Default", "use_extended_paths": true } },
        },
        "global_rate_limit": { "rate": 100_000, "per": 1 },
        "proxy": { "listen_path": "/", "target_url": format!("http://{mock}/"), "strip_listen_path": false },
    })
    .to_string()
}

/// A session whose limits nobody here meets.
fn generous() -> Value {
    json!({
        "rate": 100_000,
        "per": 1,
        "quota_max": 100_000_000,
        "quota_renewal_rate": 86_400,
        "access_rights": { "upstream": { "api_name": "Upstream", "api_id": "upstream", "versions": ["Default"] } },
    })
}
