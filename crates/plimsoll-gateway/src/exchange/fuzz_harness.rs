//! Request of an exchange to its upstream, as one piece of bytes and without an upstream: fuzz targets read it again.

use super::admission::check_target;
use super::party::Party;
use super::progress::Progress;
use super::pump::{Coding, Flow, pump};
use crate::answering::overrides::Overrides;
use crate::config::{Serves, Timeouts, Underscores};
use crate::routing::outgoing::withheld::Withheld;
use crate::routing::outgoing::{Origin, Outgoing, Target};
use crate::routing::service::Route;
use plimsoll_http::{Bare, ConnectionOptions, Framing, Limits, RequestReader, ServerConnection};
use std::cell::Cell;
use std::time::Duration;
use tokio::io::AsyncRead;
use tokio::time::Instant;

/// The endpoint that it would go to.
pub(crate) const ENDPOINT: &str = "upstream.example:80";

/// The next request of `requests` as it goes on, by the one route of a gateway without policies; or why it does not.
pub(crate) async fn rehearse<R: AsyncRead + Bare + Unpin>(
    requests: &mut RequestReader<R>,
) -> Result<Vec<u8>, String> {
    match requests.next_head().await {
        Ok(true) => {}
        Ok(false) => return Err("no request".to_owned()),
        Err(error) => return Err(format!("{error:?}")),
    }
    let mut bytes = Vec::new();
    let limits = Limits::default();
    let mut sink = ServerConnection::new(tokio::io::empty(), &mut bytes, limits).output;
    let coding = write_head(requests, sink.buffer())?;
    let progress = Progress::new(Instant::now(), &Timeouts::of(HOUR));
    let flow = Flow {
        coding,
        source: Party::Client,
        bytes: &progress.bytes_in,
        copy: None,
        withheld: Withheld::default(),
        patience: Cell::new(progress.patience()),
        progress: &progress,
    };
    let pumped = pump(requests, &mut sink, &flow).await;
    drop(sink);
    pumped.map(|()| bytes).map_err(|error| format!("{error:?}"))
}

/// Writes the head, and says how the body goes behind it.
fn write_head<R: AsyncRead + Unpin>(
    requests: &RequestReader<R>,
    out: &mut Vec<u8>,
) -> Result<Coding, String> {
    let head = requests.head();
    let path = check_target(head, PSEUDONYM).map_err(|answer| answer.status().to_string())?;
    let options = ConnectionOptions::of(head.fields());
    if options.are_too_many() {
        return Err("too many connection options".to_owned());
    }
    let route = Route {
        path: "/".to_owned(),
        strip: false,
        prepend: String::new(),
        root: None,
        serves: Serves::Upstream(0),
        upgrades: vec!["websocket".to_owned()],
        rules: None,
        policies: Vec::new(),
        key_field: None,
        overrides: Overrides::default(),
        batches: false,
        expiry: None,
        unrecorded: true,
        detailed: false,
    };
    let target = Target {
        path: &path,
        route: &route,
        preserve_host: false,
        edits: None,
        underscores: Underscores::Pass,
    };
    let origin = Origin {
        peer: "192.0.2.7",
        trusted: false,
        secured: false,
        certificate: &[],
        pseudonym: PSEUDONYM,
        traceparent: None,
    };
    let mut outgoing = Outgoing::default();
    outgoing.write(head, target, &options, origin);
    outgoing.send(out, ENDPOINT);
    Ok(match head.framing() {
        Framing::Chunked => Coding::Chunked,
        Framing::None | Framing::Length(_) | Framing::UntilClose => Coding::Identity,
    })
}

const PSEUDONYM: &str = "plimsoll-fuzz";

/// Longer than anything takes in memory.
const HOUR: Duration = Duration::from_secs(3600);
