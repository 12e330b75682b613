//! A client and a server of WebSocket that nobody here wrote, PyPI's `websockets`, with our gateway between. It comes from
//! `bench/peers/install websockets`.
//!
//! Their steps stand in `calibration/clients/websocket.py` and `calibration/upstreams/websocket.py`. Beside, the same steps without the
//! gateway: they show, and nothing must hold of them.

use super::Check;
use super::clients::Steps;
use crate::bar::Bar;
use crate::bench::{Bench, Error};
use crate::foreign::Foreign;
use crate::gateway::Gateway;
use plimsoll_testbed::authority::Authority;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

pub const CHECK: Check = Check {
    name: "websocket",
    about: "a client and a server of WebSocket speak through the gateway",
    run,
};

/// The program between client and server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Between {
    Gateway(Transport),
    Nothing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Transport {
    Clear,
    Tls,
}

static WAYS: [Between; 3] = [
    Between::Gateway(Transport::Clear),
    Between::Gateway(Transport::Tls),
    Between::Nothing,
];

impl Between {
    fn name(self) -> &'static str {
        match self {
            Self::Gateway(Transport::Clear) => "through the gateway, in clear",
            Self::Gateway(Transport::Tls) => "through the gateway, over TLS",
            Self::Nothing => "without the gateway",
        }
    }
}

fn run(bench: &Bench) -> Result<Vec<Bar>, Error> {
    let mut bars = Vec::new();
    for way in WAYS {
        bench.progress(way.name());
        let driven = bench.witnessed(|| drive(bench, way).map(|bar| vec![bar]));
        bars.extend(Bar::part(way.name(), driven));
    }
    Ok(bars)
}

fn drive(bench: &Bench, way: Between) -> Result<Bar, Error> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let python = repository.join("target/peers/websockets/bin/python");
    if !python.exists() {
        let reason = "`bench/peers/install websockets` brings it";
        return Err(Error::Missing(reason.to_owned()));
    }
    let upstream = repository.join("calibration/upstreams/websocket.py");
    let upstream = Foreign::announced(Command::new(&python).arg(upstream), "websockets")?;
    let script = repository.join("calibration/clients/websocket.py");
    let client = |address: SocketAddr| {
        let mut command = Command::new(&python);
        command.arg(&script).arg(address.port().to_string());
        command
    };
    let Between::Gateway(transport) = way else {
        let steps = Steps::of(&mut client(upstream.address), "websockets")?;
        return Ok(Bar::shown(way.name(), "", steps.measured));
    };
    let (gateway, authority) = gateway(bench, upstream.address, transport)?;
    let steps = Steps::of(client(gateway.main()?).args(authority), "websockets")?;
    gateway.child.terminate()?;
    Ok(steps.judged(way.name()))
}

/// A gateway that lets clients switch, and the certificate of its authority.
fn gateway(
    bench: &Bench,
    upstream: SocketAddr,
    transport: Transport,
) -> Result<(Gateway, Option<PathBuf>), Error> {
    let authority = Authority::new()?;
    let issued = authority.issue(&["localhost"])?;
    let tls = match transport {
        Transport::Clear => "",
        Transport::Tls => ", tls: { certificate: server.pem, key: server.key }",
    };
    let config = format!(
        "version: 1\nlisteners: {{ main: {{ address: \"127.0.0.1:0\"{tls} }} }}\n\
         upstreams: {{ up: {{ endpoints: [\"http://{upstream}\"] }} }}\nroutes: [{{ path: /, upstream: up, upgrades: [websocket] }}]\n"
    );
    let files = [
        ("gateway.yaml", config),
        ("server.pem", issued.certificate),
        ("server.key", issued.key),
        ("ca.pem", authority.certificate().to_owned()),
    ];
    let gateway = Gateway::start(bench, &files, &[])?;
    let trusted = (transport == Transport::Tls).then(|| gateway.path("ca.pem"));
    Ok((gateway, trusted))
}
