//! nginx for tests: one worker below its master, on a free port, with a log of every request that it answered. What it serves, and by
//! which protocol, is its caller's `server` block; the benchmarks measure it with configurations of their own.

use crate::child::{Child, send};
use crate::{Error, Wait, port, process};
use rustix::process::{Pid, Signal};
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// How long nginx may take for anything.
const PATIENCE: Wait = Wait {
    limit: Duration::from_secs(20),
    look: Duration::from_millis(2),
};
/// How often another port is tried.
const TRIES: usize = 5;
/// The separator of the fields of its log.
const SEPARATOR: char = '|';

/// A running nginx. Dropped, it ends with all below it.
pub struct Nginx {
    /// Before the directory, so that it ends first.
    master: Child,
    directory: TempDir,
    address: SocketAddr,
}

/// A server of nginx.
#[derive(Debug, Clone, Copy, Default)]
pub struct Site<'a> {
    /// Words behind the address at which it listens, such as `ssl http2`.
    pub listen: &'a str,
    /// The rest of its `server` block, in which `@directory@` stands for nginx's directory.
    pub server: &'a str,
    /// Files that are written into that directory beforehand.
    pub files: &'a [(&'a str, &'a str)],
    /// `proxy_pass http://behind` leads there, over connections that are kept where `server` asks for HTTP/1.1 without `Connection`.
    pub behind: Option<SocketAddr>,
}

/// A request, as nginx logged it once it was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logged {
    /// `$ssl_protocol`: `TLSv1.2`, `TLSv1.3`, or empty.
    pub tls: String,
    /// `$ssl_session_reused`: whether the session was resumed.
    pub resumed: bool,
    /// `$ssl_client_s_dn`: the subject of the client's certificate, or empty.
    pub client: String,
    /// `$server_protocol`: `HTTP/1.1` or `HTTP/2.0`.
    pub protocol: String,
    /// `$connection`: the connection's number.
    pub connection: String,
    /// `$status`
    pub status: u16,
}

impl Nginx {
    /// Starts it with one server.
    ///
    /// # Errors
    /// [`Error`]: there is no nginx, or it does not take the configuration.
    pub fn start(site: &Site<'_>) -> Result<Self, Error> {
        let mut said = String::new();
        for _ in 0..TRIES {
            let directory = TempDir::new().map_err(Error::when("making a directory for nginx"))?;
            let address = port::free()?;
            for (name, text) in site.files {
                write(directory.path(), name, text)?;
            }
            let config = config(directory.path(), address, site);
            write(directory.path(), "nginx.conf", &config)?;
            let mut master = spawn(directory.path())?;
            if is_ready(&mut master, directory.path())? {
                return Ok(Self {
                    master,
                    directory,
                    address,
                });
            }
            said = read(&directory.path().join("error.log"));
        }
        Err(Error::Measured(format!("nginx does not start: {said}")))
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its worker, which is begun after it listens.
    ///
    /// # Errors
    /// [`Error::Measured`]: it begins none in time; [`Error::Interrupted`].
    pub fn worker(&self) -> Result<Pid, Error> {
        let master = self.master.pid();
        let worker = || process::tree(master).into_iter().find(|pid| *pid != master);
        PATIENCE.until("nginx has begun its worker", || Ok(worker().is_some()))?;
        worker().ok_or_else(|| Error::Measured("nginx has no worker".to_owned()))
    }

    /// Every request that it has answered so far, in that order.
    pub fn log(&self) -> Vec<Logged> {
        let text = read(&self.directory.path().join("access.log"));
        // A line that is being written has no end yet.
        let complete = text.rfind('\n').map_or("", |end| &text[..end]);
        complete.lines().filter_map(Logged::parse).collect()
    }

    /// Waits until it has answered so many requests.
    ///
    /// # Errors
    /// [`Error::Measured`]: they do not come.
    pub fn wait_until_answered(&self, requests: usize) -> Result<(), Error> {
        PATIENCE.until(&format!("{requests} requests answered by nginx"), || {
            Ok(self.log().len() >= requests)
        })
    }

    /// Sends a signal to master and worker.
    ///
    /// # Errors
    /// [`Error`]: one of them is gone.
    pub fn signal(&self, signal: Signal) -> Result<(), Error> {
        let all = process::tree(self.master.pid());
        all.into_iter().try_for_each(|pid| send(pid, signal))
    }

    /// Has it read its configuration again: a new worker takes over, the old one ends when its connections have.
    ///
    /// # Errors
    /// [`Error`]: it is gone.
    pub fn reload(&self) -> Result<(), Error> {
        self.master.signal(Signal::HUP)
    }

    /// Lets it answer what it has received, and gives its whole log once it has ended.
    ///
    /// # Errors
    /// [`Error`]: it does not end.
    pub fn quit(mut self) -> Result<Vec<Logged>, Error> {
        self.master.signal(Signal::QUIT)?;
        self.master.wait(PATIENCE.limit)?;
        Ok(self.log())
    }
}

impl Logged {
    const FORMAT: &str =
        "$ssl_protocol|$ssl_session_reused|$ssl_client_s_dn|$server_protocol|$connection|$status";

    fn parse(line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.split(SEPARATOR).collect();
        let &[tls, resumed, client, protocol, connection, status] = fields.as_slice() else {
            return None;
        };
        Some(Self {
            tls: tls.to_owned(),
            resumed: resumed == "r",
            client: client.to_owned(),
            protocol: protocol.to_owned(),
            connection: connection.to_owned(),
            status: status.parse().ok()?,
        })
    }
}

/// Started by root, its worker stays root's, so that a check of the same user may limit its descriptors; of others nginx ignores that line.
fn config(directory: &Path, address: SocketAddr, site: &Site<'_>) -> String {
    let dir = directory.display();
    let server = site.server.replace("@directory@", &dir.to_string());
    let behind = site.behind.map_or_else(String::new, |behind| {
        format!(
            "upstream behind {{ server {behind}; keepalive 1000; keepalive_requests 1000000000; }}"
        )
    });
    let listen = site.listen;
    let format = Logged::FORMAT;
    format!(
        "user root;\ndaemon off;\nworker_processes 1;\npid {dir}/pid;\nerror_log {dir}/error.log;\n\
         events {{ worker_connections 12000; }}\n\
         http {{\n  log_format fields '{format}';\n  access_log {dir}/access.log fields;\n  \
         client_body_temp_path {dir};\n  proxy_temp_path {dir};\n  fastcgi_temp_path {dir};\n  uwsgi_temp_path {dir};\n  scgi_temp_path {dir};\n  \
         {behind}\n  server {{\n    listen {address} {listen};\n{server}\n  }}\n}}\n"
    )
}

fn spawn(directory: &Path) -> Result<Child, Error> {
    let mut command = Command::new(executable());
    command
        .arg("-e")
        .arg(directory.join("error.log"))
        .arg("-c")
        .arg(directory.join("nginx.conf"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    Child::spawn(&mut command)
}

/// Debian keeps it where a user's `PATH` does not lead.
fn executable() -> PathBuf {
    let system = PathBuf::from("/usr/sbin/nginx");
    if system.exists() {
        system
    } else {
        PathBuf::from("nginx")
    }
}

/// Waits until nginx has bound its port, which it does before it writes down its process id; `false` if it has ended instead.
fn is_ready(master: &mut Child, directory: &Path) -> Result<bool, Error> {
    let mut has_ended = false;
    PATIENCE.until("nginx listens", || {
        has_ended = !matches!(master.has_ended(), Ok(false));
        Ok(has_ended || !read(&directory.join("pid")).is_empty())
    })?;
    Ok(!has_ended)
}

fn write(directory: &Path, name: &str, text: &str) -> Result<(), Error> {
    fs::write(directory.join(name), text).map_err(Error::when(format!("writing {name}")))
}

/// A file's text; nothing where there is none yet.
fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_six_fields() {
        let line = "TLSv1.3|r|CN=ann|HTTP/2.0|7|200";
        let logged = Logged::parse(line).expect("six fields");
        assert!(logged.resumed);
        assert_eq!((logged.client.as_str(), logged.status), ("CN=ann", 200));
        assert_eq!(Logged::parse("TLSv1.3|r|CN=a"), None);
    }
}
