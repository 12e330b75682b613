//! Our fault proxy as a program of its own, told by its API what to do.

use crate::announcement;
use crate::bench::{Bench, Error};
use crate::child::Child;
use plimsoll_testbed::http::Request;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::process::Stdio;
use std::time::Duration;

/// How long an answer of its API may take.
const ANSWER: Duration = Duration::from_secs(10);

/// A running fault proxy.
pub struct FaultProxy {
    api: SocketAddr,
    child: Child,
}

impl FaultProxy {
    /// Starts it with one thread for connections.
    pub fn start(bench: &Bench, seed: u64, connect_timeout: &str) -> Result<Self, Error> {
        let mut command = bench.plimsoll_under::<&str>(&[]);
        command
            .args(["fault", "--announce", "--port=0", "--shards=1"])
            .arg(format!("--seed={seed}"))
            .arg(format!("--connect-timeout={connect_timeout}"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = Child::spawn(&mut command)?;
        let api = announcement::address_of(&mut child, "api")?;
        Ok(Self { api, child })
    }

    /// Asks the API; the document that it answers, if it is one.
    pub fn ask(&self, method: &str, path: &str, body: &Value) -> Result<Value, Error> {
        let text = match body {
            Value::Null => String::new(),
            body => body.to_string(),
        };
        let request = Request {
            method,
            path,
            body: &text,
            ..Request::get(path)
        };
        let answer = request.ask(self.api, ANSWER);
        let answer = answer.map_err(|error| Error::io("asking the fault proxy", error))?;
        if !(200..300).contains(&answer.status) {
            let said = answer.body;
            return Err(Error::Measured(format!("{method} {path}: {said}")));
        }
        Ok(serde_json::from_str(&answer.body).unwrap_or(Value::Null))
    }

    /// Makes a proxy to a server; where it listens.
    pub fn proxy(&self, name: &str, server: SocketAddr) -> Result<SocketAddr, Error> {
        let wanted =
            json!({ "name": name, "listen": "127.0.0.1:0", "upstream": server.to_string() });
        let proxy = self.ask("POST", "/proxies", &wanted)?;
        let listen = proxy["listen"].as_str().and_then(|text| text.parse().ok());
        listen.ok_or_else(|| Error::Measured(format!("it listens nowhere: {proxy}")))
    }

    /// Adds a toxic.
    pub fn add(&self, proxy: &str, toxic: &Value) -> Result<(), Error> {
        self.ask("POST", &format!("/proxies/{proxy}/toxics"), toxic)
            .map(drop)
    }

    /// Ends it.
    pub fn stop(self) -> Result<(), Error> {
        self.child.terminate()
    }
}
