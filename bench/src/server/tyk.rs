//! Our gateway with Tyk's files, and keys that its control API makes.

use super::{KEY, PATH, Site, announced};
use crate::bench::Bench;
use crate::program::Program;
use crate::{Error, interrupt};
use rustix::process::Pid;
use serde_json::json;
use std::cell::Cell;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// Calls that are sent before their answers are read.
const BATCH: u32 = 100;
/// The longest that the answers of a batch may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// A running gateway.
pub struct TykGateway {
    address: SocketAddr,
    program: Program,
    _directory: TempDir,
}

impl TykGateway {
    /// Starts one before an upstream, with one API and no key.
    pub fn start(bench: &Bench, upstream: SocketAddr) -> Result<Self, Error> {
        let directory = bench.directory()?;
        let site = Site {
            bench,
            cpu: bench.placement.server,
            directory: directory.path(),
            upstream: Some(upstream),
            admin: Cell::new(None),
        };
        site.render("tyk.conf", include_str!("../../config/tyk.conf.in"), 0)?;
        let api = include_str!("../../config/tyk-api.json.in");
        site.render("apps/bench.json", api, 0)?;
        let mut command = Command::new(&bench.plimsoll);
        command
            .args(["gateway", "--announce", "--tyk"])
            .arg(directory.path().join("tyk.conf"));
        let (program, address) = announced::start(&site, &command)?;
        Ok(Self {
            address,
            program,
            _directory: directory,
        })
    }

    /// Its first process.
    pub fn pid(&self) -> Pid {
        self.program.pid()
    }

    /// Makes so many keys by the control API, each with a rate and a quota of its own.
    pub fn make_keys(&self, count: u32) -> Result<(), Error> {
        let session = json!({
            "rate": 1000, "per": 1, "quota_max": 1_000_000, "quota_renewal_rate": 3600,
            "access_rights": { "bench": { "api_name": "Bench", "api_id": "bench", "versions": ["Default"] } },
        });
        let body = session.to_string();
        let length = body.len();
        self.each(count, |number| {
            let key = key(number);
            format!(
                "POST /tyk/keys/{key} HTTP/1.1\r\nHost: a\r\nX-Tyk-Authorization: {KEY}\r\nContent-Length: {length}\r\n\r\n{body}"
            )
        })
    }

    /// Sends one request with each of them.
    pub fn use_keys(&self, count: u32) -> Result<(), Error> {
        self.each(count, |number| {
            let key = key(number);
            format!("GET {PATH} HTTP/1.1\r\nHost: a\r\nAuthorization: {key}\r\n\r\n")
        })
    }

    /// Sends requests one batch after the other, all of which must be answered with 200. By hand, for no library sends a batch before it
    /// reads an answer.
    fn each(&self, count: u32, request: impl Fn(u32) -> String) -> Result<(), Error> {
        let failed = || Error::when("calling the gateway");
        let stream = TcpStream::connect(self.address).map_err(failed())?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(failed())?;
        let mut answers = BufReader::new(stream);
        let mut at = 0;
        while at < count {
            interrupt::check()?;
            let end = count.min(at + BATCH);
            let batch: String = (at..end).map(&request).collect();
            answers
                .get_mut()
                .write_all(batch.as_bytes())
                .map_err(failed())?;
            for number in at..end {
                let line = answer(&mut answers).map_err(failed())?;
                if !line.starts_with("HTTP/1.1 200") {
                    let line = line.trim_end();
                    return Err(Error::Measured(format!("call {number}: `{line}`")));
                }
            }
            at = end;
        }
        Ok(())
    }
}

/// A name as long as those that Tyk makes.
fn key(number: u32) -> String {
    format!("default{number:032x}")
}

/// Reads an answer; gives its first line.
fn answer(answers: &mut BufReader<TcpStream>) -> std::io::Result<String> {
    let mut first = String::new();
    answers.read_line(&mut first)?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        if answers.read_line(&mut line)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        if line.trim_end().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().map_err(std::io::Error::other)?;
        }
    }
    let mut body = vec![0; length];
    answers.read_exact(&mut body)?;
    Ok(first)
}
