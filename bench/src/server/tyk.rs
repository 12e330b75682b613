//! Our gateway with Tyk's files, and keys that its control API makes.

use super::{KEY, PATH, Site, announced};
use crate::program::Program;
use crate::{Error, interrupt};
use serde_json::json;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::Command;
use std::time::Duration;

/// Calls that are sent before their answers are read.
const BATCH: u32 = 100;
/// The longest that the answers of a batch may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// The format of the names of keys, as long as those that Tyk makes, for whoever draws them by number; the first key is [`KEY`].
pub const FORMAT: &str = "default%032x";

/// Starts one with one API and so many keys, each of which was used once.
pub(super) fn start(site: &Site<'_>, keys: u32) -> Result<(Program, SocketAddr), Error> {
    site.render("tyk.conf", include_str!("../../config/tyk.conf.in"), 0)?;
    let api = include_str!("../../config/tyk-api.json.in");
    site.render("apps/bench.json", api, 0)?;
    let mut command = Command::new(&site.bench.plimsoll);
    command
        .args(["gateway", "--announce", "--tyk"])
        .arg(site.directory.join("tyk.conf"));
    let (program, address) = announced::start(site, &command)?;
    make_keys(address, keys)?;
    use_keys(address, keys)?;
    Ok((program, address))
}

/// Makes so many keys by the control API, each with a rate and a quota of its own, which are never reached.
fn make_keys(gateway: SocketAddr, count: u32) -> Result<(), Error> {
    let session = json!({
        "rate": 1_000_000, "per": 1, "quota_max": 1_000_000_000, "quota_renewal_rate": 3600,
        "access_rights": { "bench": { "api_name": "Bench", "api_id": "bench", "versions": ["Default"] } },
    });
    let body = session.to_string();
    let length = body.len();
    each(gateway, count, |number| {
        let key = key(number);
        format!(
            "POST /tyk/keys/{key} HTTP/1.1\r\nHost: a\r\nX-Tyk-Authorization: {KEY}\r\nContent-Length: {length}\r\n\r\n{body}"
        )
    })
}

/// Sends one request with each of them.
fn use_keys(gateway: SocketAddr, count: u32) -> Result<(), Error> {
    each(gateway, count, |number| {
        let key = key(number);
        format!("GET {PATH} HTTP/1.1\r\nHost: a\r\nAuthorization: {key}\r\n\r\n")
    })
}

/// Sends requests one batch after the other, all of which must be answered with 200. By hand, for no library sends a batch before it
/// reads an answer.
fn each(gateway: SocketAddr, count: u32, request: impl Fn(u32) -> String) -> Result<(), Error> {
    let failed = || Error::when("calling the gateway");
    let stream = TcpStream::connect(gateway).map_err(failed())?;
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

/// The key of this number, by [`FORMAT`].
fn key(number: u32) -> String {
    match number {
        0 => KEY.to_owned(),
        _ => format!("default{number:032x}"),
    }
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
