//! wrk with one thread. It also drives servers at saturation.

use super::{CONNECTIONS, Job};
use crate::Error;
use crate::bench::Bench;
use crate::peers;
use crate::server::{DOCUMENT, KEY, Listener, PATH, tyk};
use std::borrow::Cow;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// The requests that a server gets at saturation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visit {
    /// The small answer that every server has.
    Constant,
    /// An answer that a template makes.
    Rendered,
    /// A document is sent, into which the stub looks.
    Posted,
    /// Something that no stub answers.
    Unmatched,
    /// The small answer, by a request of so many header fields.
    Fields(u32),
    /// The small answer, with any of the first so many keys of `tyk::key`.
    Keys(u32),
    /// A file of so many bytes, which [`crate::server::Server::publish`] has made.
    File(u64),
}

/// A load: what is asked for, on how many connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    visit: Visit,
    connections: u32,
}

impl From<Visit> for Load {
    fn from(visit: Visit) -> Self {
        visit.on(CONNECTIONS)
    }
}

/// The fields that wrk sends in any case: `Host` and the one with the key.
const ALWAYS: u32 = 2;

impl Visit {
    /// As a load of so many connections.
    pub const fn on(self, connections: u32) -> Load {
        Load {
            visit: self,
            connections,
        }
    }

    fn path(self) -> Cow<'static, str> {
        match self {
            Self::Constant | Self::Fields(_) | Self::Keys(_) => PATH.into(),
            Self::Rendered => "/rendered/plimsoll?name=load%20line".into(),
            Self::Posted => "/posted".into(),
            Self::Unmatched => "/nowhere/17".into(),
            Self::File(bytes) => format!("/files/{bytes}").into(),
        }
    }

    /// The script that makes its requests, where that is not wrk's own GET.
    fn script(self) -> Option<String> {
        match self {
            Self::Posted => Some(POST.replace("@document@", DOCUMENT)),
            Self::Keys(count) => {
                let script = KEYS
                    .replace("@path@", PATH)
                    .replace("@first@", KEY)
                    .replace("@other@", tyk::FORMAT);
                Some(script.replace("@count@", &count.to_string()))
            }
            _ => None,
        }
    }

    /// Fields beside those that are always sent.
    fn fields(self) -> impl Iterator<Item = String> {
        let count = match self {
            Self::Fields(count) => count.saturating_sub(ALWAYS),
            _ => 0,
        };
        (0..count).map(|number| format!("X-Field-{number:02}: value of field {number:02}"))
    }
}

/// The script with which wrk sends a document instead of a GET; `@document@` stands in a long string of Lua.
const POST: &str = "\
wrk.method = 'POST'
wrk.headers['Content-Type'] = 'application/json'
wrk.body = [==[@document@]==]
";

/// The script with which wrk draws a key for each request.
const KEYS: &str = "\
local head
init = function(arguments)
  head = 'GET @path@ HTTP/1.1\\r\\nHost: ' .. wrk.host .. ':' .. wrk.port .. '\\r\\nAuthorization: '
end
request = function()
  local number = math.random(0, @count@ - 1)
  local key = number == 0 and '@first@' or string.format('@other@', number)
  return head .. key .. '\\r\\n\\r\\n'
end
";

pub(super) fn command(bench: &Bench, job: &Job<'_>) -> Result<Command, Error> {
    let mut command = program(bench, job.connections, job.length)?;
    command.arg(job.url());
    Ok(command)
}

/// The command line that drives a server. A file that it needs is written to `directory`.
pub fn visiting(
    bench: &Bench,
    listener: Listener,
    Load { visit, connections }: Load,
    length: Duration,
    directory: &Path,
) -> Result<Command, Error> {
    let mut command = program(bench, connections, length)?;
    if let Some(text) = visit.script() {
        let script = directory.join("requests.lua");
        std::fs::write(&script, text).map_err(Error::when("a script for wrk"))?;
        command.arg("-s").arg(script);
    }
    for field in visit.fields() {
        command.args(["-H", &field]);
    }
    let (scheme, address) = (listener.scheme(), listener.address);
    command.arg(format!("{scheme}://{address}{}", visit.path()));
    Ok(command)
}

fn program(bench: &Bench, connections: u32, length: Duration) -> Result<Command, Error> {
    let mut command = Command::new(peers::find(&bench.root, "wrk")?);
    command
        .args(["-t1", &format!("-c{connections}")])
        // A server that is saturated may be slow; who waits counts what is answered, and no slowness as an error.
        .args(["--timeout", "60s"])
        .arg(format!("-d{}s", super::whole_seconds(length)))
        .args(["-H", &crate::server::authorization()]);
    Ok(command)
}

/// How wrk begins to say how many answers were neither 2xx nor 3xx.
const REFUSED: &str = "Non-2xx or 3xx responses: ";

/// The report of wrk.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Said {
    /// Requests that were answered.
    pub requests: f64,
    /// In this many seconds.
    pub seconds: f64,
}

/// Reads `N requests in T, …`. No answer at all and a broken connection are errors, and so is an answer that is not 2xx or 3xx; or, where
/// nothing is to be matched, one that is.
pub fn said(output: &str, Load { visit, .. }: Load) -> Result<Said, Error> {
    let lines = || output.lines().map(str::trim);
    if let Some(line) = lines().find(|line| line.starts_with("Socket errors")) {
        return Err(Error::Measured(format!("wrk saw {line}")));
    }
    let said = lines()
        .find_map(figures)
        .ok_or_else(|| Error::Measured(format!("wrk said {output}")))?;
    let refused = lines().find_map(|line| line.strip_prefix(REFUSED)?.parse().ok());
    let expected = (visit == Visit::Unmatched).then_some(said.requests);
    if refused == expected {
        Ok(said)
    } else {
        let (saw, of) = (refused.unwrap_or(0.0), said.requests);
        let text = format!("wrk saw {REFUSED}{saw}, of {of} requests");
        Err(Error::Measured(text))
    }
}

fn figures(line: &str) -> Option<Said> {
    let (requests, rest) = line.split_once(" requests in ")?;
    let (length, _) = rest.split_once(',')?;
    Some(Said {
        requests: requests.parse().ok().filter(|n| *n > 0.0)?,
        seconds: seconds(length)?,
    })
}

/// A length as wrk writes it: `950.12ms`, `10.00s`, `1.02m`.
fn seconds(length: &str) -> Option<f64> {
    let units = [("ms", 1e3), ("us", 1e6), ("s", 1.0), ("m", 1.0 / 60.0)];
    units.iter().find_map(|(unit, per_second)| {
        let number: f64 = length.strip_suffix(unit)?.parse().ok()?;
        Some(number / per_second)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "Running 8s test @ http://127.0.0.1:1/bench\n  1 threads and 50 connections\n  130397 requests in 8.04s, 15.16MB read\nRequests/sec: 16218.53\n";

    #[test]
    fn requests_and_length_are_read() {
        let expected = Said {
            requests: 130_397.0,
            seconds: 8.04,
        };
        assert_eq!(said(OUTPUT, Visit::Constant.into()).unwrap(), expected);
        assert_eq!(seconds("950.00ms"), Some(0.95));
        assert_eq!(seconds("1.50m"), Some(90.0));
    }

    #[test]
    fn a_request_has_as_many_fields_as_it_is_asked_for() {
        assert_eq!(Visit::Fields(5).fields().count(), 3);
        assert_eq!(Visit::Constant.fields().count(), 0);
        let fields: Vec<String> = Visit::Fields(50).fields().collect();
        assert_eq!(fields.last().unwrap(), "X-Field-47: value of field 47");
    }

    #[test]
    fn keys_are_drawn_by_a_script_without_marks() {
        let script = Visit::Keys(1_000_000).script().unwrap();
        assert!(!script.contains('@'), "{script}");
        assert!(script.contains("math.random(0, 1000000 - 1)"), "{script}");
        assert!(script.contains("string.format('default%032x', number)"));
    }

    #[test]
    fn errors_are_not_overlooked() {
        let check = |visit: Visit, line: &str, expected: Result<(), &str>| {
            let said = said(&format!("{OUTPUT}{line}"), visit.into());
            let said = said.map(|_| ()).map_err(|error| error.to_string());
            assert_eq!(said, expected.map_err(str::to_owned), "{line}");
        };
        let broken = "  Socket errors: connect 0, read 3, write 0, timeout 0\n";
        let saw = "wrk saw Socket errors: connect 0, read 3, write 0, timeout 0";
        check(Visit::Constant, broken, Err(saw));
        check(Visit::Unmatched, broken, Err(saw));
        let refused = "  Non-2xx or 3xx responses: 7\n";
        let saw = "wrk saw Non-2xx or 3xx responses: 7, of 130397 requests";
        check(Visit::Constant, refused, Err(saw));
        check(Visit::Unmatched, refused, Err(saw));
        let saw = "wrk saw Non-2xx or 3xx responses: 0, of 130397 requests";
        check(Visit::Unmatched, "", Err(saw));
        let all = "  Non-2xx or 3xx responses: 130397\n";
        check(Visit::Unmatched, all, Ok(()));
    }
}
