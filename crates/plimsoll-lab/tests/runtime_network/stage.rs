//! Stage of the tests of networks: a network of three hosts, and programs on them.

pub use crate::shim::{Shim, executable, sh};
use plimsoll_experiment::Network as Description;
use plimsoll_lab::network::{Layout, Network, NetworkPlaces};
use plimsoll_lab::shim::{Command, Report, Spec};
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The port of servers on hosts, which have a network of their own each.
pub const PORT: u16 = 4000;

/// Runs a test in a runtime of its own.
pub fn block_on(test: impl Future<Output = ()>) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build().unwrap().block_on(test);
}

/// A network and the directory of its files.
pub struct Stage {
    pub network: Network,
    pub scratch: tempfile::TempDir,
}

impl Stage {
    /// `app-a` and `db-a` in one zone, `db-b` in another, and the moving address `vip`.
    pub async fn set() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let log = scratch.path().join("network.log");
        let network = start(scratch.path(), log).await;
        Self { network, scratch }
    }

    pub fn address(&self, host: &str) -> Ipv4Addr {
        self.network.layout().address(host).unwrap()
    }

    /// A program on a host.
    pub fn on(&self, host: &str, script: &str) -> Shim {
        Shim::start(&Spec {
            host: Some(self.network.holder(host).unwrap()),
            ..sh(script)
        })
    }

    /// A server on a host, which sends back what it gets.
    pub fn server(&self, host: &str) -> (Shim, SocketAddr) {
        let address = SocketAddr::from((self.address(host), PORT));
        let mut server = Shim::start(&Spec {
            host: Some(self.network.holder(host).unwrap()),
            program: executable(),
            arguments: vec!["serve".to_owned(), address.to_string()],
            ..sh("")
        });
        assert_eq!(server.line(), "listens");
        (server, address)
    }
}

pub async fn start(scratch: &Path, log: PathBuf) -> Network {
    let hosts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let description = Description {
        zones: [
            ("a".to_owned(), hosts(&["app-a", "db-a"])),
            ("b".to_owned(), hosts(&["db-b"])),
        ]
        .into(),
        moving: [("vip".to_owned(), hosts(&["db-a", "db-b"]))].into(),
    };
    let places = NetworkPlaces {
        executable: executable(),
        scratch: scratch.to_owned(),
        log,
    };
    Network::start(Layout::new(&description), places)
        .await
        .unwrap()
}

impl Shim {
    /// The process that it runs.
    pub fn pid(&mut self) -> u32 {
        match self.report() {
            Report::Started { pid } => pid,
            Report::Failed(failure) => panic!("{failure}"),
        }
    }

    /// Writes a line to its standard input.
    pub fn say(&mut self, line: &str) {
        self.command(&Command::Line(line.to_owned()));
    }

    /// All that it says until it ends.
    pub fn output(mut self) -> String {
        let mut output = String::new();
        let mut stdout = self.stdout.take().unwrap();
        stdout.read_to_string(&mut output).unwrap();
        self.process.wait().unwrap();
        output
    }

    /// Ends it by closing the pipe to it.
    pub fn end(self) {
        let Self {
            mut process,
            commands,
            ..
        } = self;
        drop(commands);
        process.wait().unwrap();
    }
}

/// Sends back what comes, connection after connection.
pub fn serve(arguments: &[String]) -> ExitCode {
    let address: SocketAddr = arguments[1].parse().unwrap();
    let listener = TcpListener::bind(address).unwrap();
    println!("listens");
    for connection in listener.incoming() {
        let mut connection = connection.unwrap();
        let mut buffer = [0; 64];
        while let Ok(count @ 1..) = connection.read(&mut buffer) {
            if connection.write_all(&buffer[..count]).is_err() {
                break;
            }
        }
    }
    ExitCode::SUCCESS
}
