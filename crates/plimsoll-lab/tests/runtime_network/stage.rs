//! Stage of the tests of networks: a network of three hosts, and programs on them.

use plimsoll_experiment::Network as Description;
use plimsoll_lab::network::{Layout, Network, NetworkPlaces};
use plimsoll_lab::shim::{Command, Report, Spec, Stdout};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, ExitCode, Stdio};

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
    pub fn on(&self, host: &str, script: &str) -> Program {
        Program::start(&Spec {
            host: Some(self.network.holder(host).unwrap()),
            ..sh(script)
        })
    }

    /// A server on a host, which sends back what it gets.
    pub fn server(&self, host: &str) -> (Program, SocketAddr) {
        let address = SocketAddr::from((self.address(host), PORT));
        let mut server = Program::start(&Spec {
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

pub fn executable() -> PathBuf {
    std::env::current_exe().unwrap()
}

/// A program under a shim of this executable.
pub struct Program {
    shim: Child,
    /// Closing it ends the program.
    commands: ChildStdin,
    reports: BufReader<ChildStderr>,
    stdout: BufReader<ChildStdout>,
}

impl Program {
    pub fn start(spec: &Spec) -> Self {
        let mut shim = std::process::Command::new(executable())
            .arg("shim")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut commands = shim.stdin.take().unwrap();
        writeln!(commands, "{}", serde_json::to_string(spec).unwrap()).unwrap();
        Self {
            commands,
            reports: BufReader::new(shim.stderr.take().unwrap()),
            stdout: BufReader::new(shim.stdout.take().unwrap()),
            shim,
        }
    }

    /// Its process.
    pub fn pid(&mut self) -> u32 {
        let mut line = String::new();
        self.reports.read_line(&mut line).unwrap();
        match serde_json::from_str(&line).unwrap() {
            Report::Started { pid } => pid,
            Report::Failed(failure) => panic!("{failure}"),
        }
    }

    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Writes a line to its standard input.
    pub fn say(&mut self, line: &str) {
        let command = Command::Line(line.to_owned());
        writeln!(
            self.commands,
            "{}",
            serde_json::to_string(&command).unwrap()
        )
        .unwrap();
    }

    /// All that it says until it ends.
    pub fn output(mut self) -> String {
        let mut output = String::new();
        self.stdout.read_to_string(&mut output).unwrap();
        self.shim.wait().unwrap();
        output
    }

    /// Ends it by closing the pipe to its shim.
    pub fn end(self) {
        let Self {
            mut shim, commands, ..
        } = self;
        drop(commands);
        shim.wait().unwrap();
    }
}

pub fn sh(script: &str) -> Spec {
    Spec {
        program: "/bin/sh".into(),
        arguments: vec!["-c".into(), script.into()],
        environment: [("PATH".into(), "/usr/sbin:/usr/bin:/sbin:/bin".into())].into(),
        dir: None,
        cpus: Vec::new(),
        cgroups: Vec::new(),
        host: None,
        disk: None,
        scratch: None,
        stdin_line: None,
        stdout: Stdout::Inherit,
        stderr: "/dev/null".into(),
        secrets: Vec::new(),
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
