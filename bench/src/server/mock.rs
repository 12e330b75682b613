//! Our mock: as shipped with one stub, with its journal, with many stubs, and with one that works for its answers.

use super::{Site, announced};
use crate::Error;
use crate::program::Program;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::process::Command;

/// The stub of every setting, which answers what all servers answer.
const STUB: &str = include_str!("../../config/stub.json");

/// A setting of the mock: its stubs and its journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting {
    /// One stub, and no journal.
    Plain,
    /// One stub, and the journal that it has by default.
    Journal,
    /// One stub, and so many before it that do not match.
    Among(u32),
    /// One stub, and so many before it that do not match, each in a file of its own.
    Files(u32),
    /// An answer from a template with three helpers.
    Template,
    /// A body of 2 kB is to be equal to a document.
    EqualToJson,
    /// A body of 2 kB is searched by a JSONPath with a filter.
    JsonPath,
    /// A collector of spans beside the stub of all.
    Collector,
    /// The plain one with so many shards, whatever processors it has.
    Threads(u32),
}

impl Setting {
    /// The name in the table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plimsoll mock",
            Self::Journal => "plimsoll mock, journal",
            Self::Among(_) | Self::Files(_) => "plimsoll mock, many stubs",
            Self::Template => "plimsoll mock, template",
            Self::EqualToJson => "plimsoll mock, equalToJson",
            Self::JsonPath => "plimsoll mock, matchesJsonPath",
            Self::Collector => "plimsoll mock, collector",
            Self::Threads(_) => "plimsoll mock, several shards",
        }
    }

    /// The stub beside the one that all have.
    fn extra(self) -> Option<&'static str> {
        match self {
            Self::Plain | Self::Journal | Self::Among(_) | Self::Files(_) | Self::Threads(_) => {
                None
            }
            Self::Template => Some(include_str!("../../config/stub-template.json")),
            Self::EqualToJson => Some(include_str!("../../config/stub-equal-to-json.json")),
            Self::JsonPath => Some(include_str!("../../config/stub-json-path.json")),
            Self::Collector => Some(include_str!("../../config/stub-collector.json")),
        }
    }

    fn is_kept_in_journal(self) -> bool {
        self == Self::Journal
    }
}

/// Starts it.
pub fn start(site: &Site<'_>, setting: Setting) -> Result<(Program, SocketAddr), Error> {
    prepare(site, setting)?;
    launch(site, setting)
}

/// Writes its stubs. The one that is requested is loaded first, so that it is the last one that a search comes to.
pub fn prepare(site: &Site<'_>, setting: Setting) -> Result<(), Error> {
    site.render("mappings/0-stub.json", STUB, 0)?;
    if let Some(stub) = setting.extra() {
        let document = super::DOCUMENT.trim_end();
        site.render(
            "mappings/1-extra.json",
            &stub.replace("@document@", document),
            0,
        )?;
    }
    match setting {
        Setting::Among(count) => {
            let stubs: Vec<Value> = (0..count).map(other).collect();
            let text = json!({ "mappings": stubs }).to_string();
            site.render("mappings/1-others.json", &text, 0)
        }
        Setting::Files(count) => (0..count).try_for_each(|index| {
            let name = format!("mappings/1-{index:05}.json");
            site.render(&name, &other(index).to_string(), 0)
        }),
        _ => Ok(()),
    }
}

/// Starts it on stubs that are there.
pub fn launch(site: &Site<'_>, setting: Setting) -> Result<(Program, SocketAddr), Error> {
    let mut command = Command::new(&site.bench.plimsoll);
    // As shipped, where an experiment would have something else.
    command.args([
        "mock",
        "--announce",
        "--port=0",
        "--differences-per-second=10",
    ]);
    if setting.is_kept_in_journal() {
        command.arg("--max-request-journal-entries=10000");
    } else {
        command.arg("--no-request-journal");
    }
    if let Setting::Threads(count) = setting {
        command.arg(format!("--shards={count}"));
    }
    command.arg("--root-dir").arg(site.directory);
    announced::start(site, &command)
}

/// Requests that it has received, by its metrics.
pub(super) fn requests(metrics: &str) -> Option<f64> {
    let name = "plimsoll_mock_requests_received_total ";
    let line = metrics.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().parse().ok()
}

/// A stub that matches none of the requests; each kind of URL is a fifth of them.
fn other(index: u32) -> Value {
    let url = match index % 5 {
        0 => json!({ "url": format!("/items/{index}?full=true") }),
        1 => json!({ "urlPath": format!("/orders/{index}") }),
        2 => json!({ "urlPattern": format!("/users/[0-9]+/posts/{index}(\\?.*)?") }),
        3 => json!({ "urlPathPattern": format!("/shops/[a-z]+/{index}") }),
        _ => json!({ "urlPathTemplate": format!("/teams/{{team}}/members/{index}") }),
    };
    let mut stub = json!({ "request": url, "response": { "status": 200, "body": "other" } });
    stub["request"]["method"] = "GET".into();
    stub
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_read() {
        let text = "# HELP plimsoll_mock_requests_received_total Requests\nplimsoll_mock_requests_received_total 17\n";
        assert_eq!(requests(text), Some(17.0));
        assert_eq!(requests(""), None);
    }
}
