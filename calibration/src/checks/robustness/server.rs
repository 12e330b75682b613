//! The server that is attacked: our mock, our gateway in front of one, or nginx in the place of either.

use crate::Wait;
use crate::announcement;
use crate::bench::{Bench, Error};
use crate::child::Child;
use crate::memory_of::{self, Memory};
use crate::mock::Mock;
use crate::nginx::{Nginx, Site};
use plimsoll_base::counters::Totals;
use rustix::process::Pid;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Which server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `plimsoll mock`.
    Mock,
    /// `plimsoll gateway`, with a mock behind it.
    Gateway,
    /// nginx, to compare with the mock: it serves the same paths.
    Nginx,
    /// nginx, to compare with the gateway: it has a mock behind it, too.
    NginxProxy,
}

impl Kind {
    /// Its name in the table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mock => "mock",
            Self::Gateway => "gateway",
            Self::Nginx => "nginx",
            Self::NginxProxy => "nginx `proxy_pass`",
        }
    }
}

/// How long it waits for its clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// A head may take 2 s, a body or an answer 3 s of waiting: their ends are seen.
    Short,
    /// Longer than any attack lasts.
    Long,
}

/// How long it may take until the clients of an attack that ended are gone.
const SETTLING: Wait = Wait::up_to(Duration::from_secs(15));
/// Descriptors that a server may have more than at its start, for pooled connections.
const POOLED: usize = 200;

/// A running server.
pub struct Server {
    /// Where it listens.
    pub address: SocketAddr,
    pid: Pid,
    process: Process,
    /// Where a proxy leads; it ends after it.
    behind: Option<Mock>,
    descriptors: usize,
}

/// The process of a server.
enum Process {
    Ours { child: Child, counters: PathBuf },
    Nginx(Nginx),
}

impl Server {
    /// Starts it.
    pub fn start(bench: &Bench, kind: Kind, patience: Patience) -> Result<Self, Error> {
        let behind = match kind {
            Kind::Gateway | Kind::NginxProxy => Some(Mock::start(bench, &[])?),
            Kind::Mock | Kind::Nginx => None,
        };
        let (address, pid, process) = match kind {
            Kind::Mock | Kind::Gateway => ours(bench, patience, behind.as_ref())?,
            Kind::Nginx | Kind::NginxProxy => nginx(patience, behind.as_ref())?,
        };
        Ok(Self {
            address,
            pid,
            process,
            behind,
            descriptors: open_descriptors(pid)?,
        })
    }

    /// Its process.
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// Its counters so far; nginx has none of ours.
    pub fn totals(&self) -> Result<Option<Totals>, Error> {
        let Process::Ours { counters, .. } = &self.process else {
            return Ok(None);
        };
        let bytes = std::fs::read(counters).map_err(Error::when("reading the counters"))?;
        let totals = Totals::read(&bytes);
        let totals = totals.map_err(|e| Error::Measured(format!("a server's counters: {e}")))?;
        Ok(Some(totals))
    }

    /// The largest resident memory that it ever had, in MiB.
    pub fn peak_mib(&self) -> Result<f64, Error> {
        peak_mib(self.pid())
    }

    /// One request on a connection of its own.
    pub fn answers(&self) -> Result<(), Error> {
        match ask(self.address, Duration::from_secs(5)) {
            Ok(text) if text.starts_with("HTTP/1.1 200") => Ok(()),
            Ok(text) => Err(Error::Measured(format!(
                "the server answered `{}`",
                text.lines().next().unwrap_or_default()
            ))),
            Err(error) => Err(Error::at_server("asking the server", error)),
        }
    }

    /// Waits until what an attack left behind is gone.
    pub fn settles(&self) -> Result<(), Error> {
        SETTLING.until("the clients of the attack are gone", || {
            Ok(open_descriptors(self.pid)? <= self.descriptors + POOLED)
        })
    }

    /// Ends it cleanly, and what is behind it.
    pub fn stop(self) -> Result<(), Error> {
        match self.process {
            Process::Ours { child, .. } => child.terminate()?,
            Process::Nginx(nginx) => drop(nginx.quit()?),
        }
        self.behind.map_or(Ok(()), |mock| mock.stop().map(|_| ()))
    }
}

fn open_descriptors(pid: Pid) -> Result<usize, Error> {
    let path = format!("/proc/{}/fd", pid.as_raw_nonzero());
    let entries = std::fs::read_dir(path)
        .map_err(|e| Error::at_process("counting a server's descriptors", e))?;
    Ok(entries.count())
}

/// Our mock, or our gateway before the one behind it.
fn ours(
    bench: &Bench,
    patience: Patience,
    behind: Option<&Mock>,
) -> Result<(SocketAddr, Pid, Process), Error> {
    let directory = bench.directory()?;
    let counters = directory.join("counters");
    let mut command = Command::new(&bench.plimsoll);
    match behind {
        None => command.args(mock_arguments(patience)),
        Some(mock) => {
            let file = directory.join("gateway.yaml");
            std::fs::write(&file, gateway_config(mock, patience))
                .map_err(Error::when("writing a configuration"))?;
            command.arg("gateway").arg("--config").arg(file)
        }
    };
    command
        .arg("--announce")
        .arg("--counters")
        .arg(&counters)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = Child::spawn(&mut command)?;
    let address = announcement::address(&mut child)?;
    let pid = child.pid();
    Ok((address, pid, Process::Ours { child, counters }))
}

/// A journal fills up to its limit under any load; what is looked for is growth by the attack.
fn mock_arguments(patience: Patience) -> [&'static str; 5] {
    let [head, other] = match patience {
        Patience::Short => ["--head-timeout=2s", "--body-timeout=3s"],
        Patience::Long => ["--head-timeout=60s", "--idle-timeout=60s"],
    };
    ["mock", "--port=0", "--no-request-journal", head, other]
}

fn gateway_config(mock: &Mock, patience: Patience) -> String {
    let timeouts = match patience {
        Patience::Short => "request_head: 2s, idle: 3s",
        Patience::Long => "request_head: 60s, idle: 60s",
    };
    format!(
        "version: 1\nlisteners: {{ main: {{ address: \"127.0.0.1:0\" }} }}\n\
         upstreams: {{ mock: {{ endpoints: [\"http://{}\"] }} }}\nroutes: [{{ path: /, upstream: mock }}]\n\
         timeouts: {{ {timeouts} }}\nlimits: {{ connections: 12000 }}\n",
        mock.address
    )
}

/// nginx, with the same patience. By itself it has the large answer as a file, and a short one for everything else.
fn nginx(patience: Patience, behind: Option<&Mock>) -> Result<(SocketAddr, Pid, Process), Error> {
    let (head, body) = match patience {
        Patience::Short => ("2s", "3s"),
        Patience::Long => ("60s", "60s"),
    };
    let (paths, large) = match behind {
        // Clients that have closed their side are to be answered, as the gateway does.
        Some(_) => (
            "location / { proxy_pass http://behind; proxy_http_version 1.1; proxy_set_header Connection \"\"; proxy_ignore_client_abort on; }",
            String::new(),
        ),
        None => (
            "location = /size/16M { alias @directory@/large; }\n    location / { return 200 '{}'; }",
            "0".repeat(16 << 20),
        ),
    };
    let server = format!(
        "    access_log off;\n    client_header_timeout {head};\n    client_body_timeout {body};\n    send_timeout {body};\n    \
         keepalive_timeout 60s;\n    {paths}\n"
    );
    let nginx = Nginx::start(&Site {
        server: &server,
        files: &[("large", &large)],
        behind: behind.map(|mock| mock.address),
        ..Site::default()
    })?;
    Ok((nginx.address(), nginx.worker()?, Process::Nginx(nginx)))
}

/// One request on a connection of its own, and whatever comes within `patience`. By hand, for a server without descriptors may answer before
/// it is asked.
pub fn ask(address: SocketAddr, patience: Duration) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(patience))?;
    stream
        .write_all(b"GET /json/valid HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// The largest resident memory that a process ever had, in MiB.
pub fn peak_mib(process: Pid) -> Result<f64, Error> {
    memory_of::kib(process, Memory::LargestResident)
        .map(|kib| kib / 1024.0)
        .ok_or_else(|| Error::Measured("a process without memory".to_owned()))
}
