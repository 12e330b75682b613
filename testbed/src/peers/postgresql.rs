//! PostgreSQL for tests: a cluster of its own in a directory that goes with it, on a free port of loopback, with a superuser who needs a
//! password.

use crate::child::Child;
use crate::{Error, Wait, port};
use rustix::process::{Signal, geteuid};
use std::fs;
use std::net::SocketAddr;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// Where Debian keeps the programs of each version, which `PATH` does not lead to.
const VERSIONS: &str = "/usr/lib/postgresql";
/// How long it may take to start.
const PATIENCE: Wait = Wait {
    limit: Duration::from_secs(60),
    look: Duration::from_millis(2),
};
/// How often another port is tried.
const TRIES: usize = 5;

/// The superuser.
pub const USER: &str = "plimsoll";
/// The superuser's password; connections over TCP need it.
pub const PASSWORD: &str = "between two tides";
/// The database that there is.
pub const DATABASE: &str = "postgres";

/// A running PostgreSQL. Dropped, it ends with all below it.
pub struct Postgresql {
    /// Before the directory, so that it ends first.
    server: Child,
    directory: TempDir,
    address: SocketAddr,
}

/// Who runs it: PostgreSQL does not run as root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Account {
    uid: u32,
    gid: u32,
}

impl Postgresql {
    /// Starts it with these settings, each a name and a value, such as `("max_connections", "8")`. Nothing is synced to disk.
    ///
    /// # Errors
    /// [`Error`]: there is no PostgreSQL, or it does not take the settings.
    pub fn start(settings: &[(&str, &str)]) -> Result<Self, Error> {
        let programs = programs()?;
        let account = account()?;
        let directory = TempDir::new().map_err(Error::when("making a directory for PostgreSQL"))?;
        if let Some(Account { uid, gid }) = account {
            std::os::unix::fs::chown(directory.path(), Some(uid), Some(gid))
                .map_err(Error::when("giving PostgreSQL its directory"))?;
        }
        let within = Within {
            programs,
            account,
            directory: directory.path(),
        };
        within.make_cluster()?;
        for _ in 0..TRIES {
            let address = port::free()?;
            let mut server = within.spawn(address, settings)?;
            if within.is_ready(&mut server)? {
                return Ok(Self {
                    server,
                    directory,
                    address,
                });
            }
        }
        let said = read(&directory.path().join("messages"));
        Err(Error::Measured(format!(
            "PostgreSQL does not start: {said}"
        )))
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The directory of its unix socket.
    #[must_use]
    pub fn socket_directory(&self) -> &Path {
        self.directory.path()
    }

    /// `postgresql://…`, with user, password and database.
    #[must_use]
    pub fn url(&self) -> String {
        let password = PASSWORD.replace(' ', "%20");
        format!("postgresql://{USER}:{password}@{}/{DATABASE}", self.address)
    }

    /// The result of a statement, as `psql` prints it without a frame: a row a line, columns parted by `|`.
    ///
    /// # Errors
    /// [`Error::Measured`]: PostgreSQL refuses it, with what it said.
    pub fn ask(&self, statement: &str) -> Result<String, Error> {
        let asked = Command::new(programs()?.join("psql"))
            .args(["-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-c"])
            .arg(statement)
            .arg(self.url())
            .stdin(Stdio::null())
            .output();
        let output = asked.map_err(Error::when("starting psql"))?;
        succeeded("psql", &output)?;
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(text.trim_end().to_owned())
    }

    /// Stops it where it stands, or has it go on.
    ///
    /// # Errors
    /// [`Error`]: it is gone.
    pub fn signal(&self, signal: Signal) -> Result<(), Error> {
        // The postmaster first: one that stands makes no further processes, and those that it reaps when it goes on are gone.
        self.server.signal(signal)?;
        let below = crate::process::tree(self.server.pid()).into_iter().skip(1);
        for pid in below {
            if crate::child::send(pid, signal).is_err() {
                // It has ended meanwhile.
            }
        }
        Ok(())
    }
}

impl Drop for Postgresql {
    fn drop(&mut self) {
        // At once: asked by SIGTERM alone, it would wait for its clients.
        if self.server.signal(Signal::QUIT).is_err() {
            // It has ended.
        }
    }
}

/// The makings of a cluster.
struct Within<'a> {
    programs: PathBuf,
    account: Option<Account>,
    directory: &'a Path,
}

impl Within<'_> {
    fn data(&self) -> PathBuf {
        self.directory.join("data")
    }

    fn make_cluster(&self) -> Result<(), Error> {
        let secret = self.directory.join("password");
        fs::write(&secret, PASSWORD).map_err(Error::when("writing PostgreSQL's password"))?;
        let mut command = self.program("initdb");
        command
            .args(["--no-sync", "--no-locale", "--encoding=UTF8"])
            .args([
                "--auth-host=scram-sha-256",
                "--auth-local=trust",
                "--username",
            ])
            .arg(USER)
            .arg("--pwfile")
            .arg(secret)
            .arg("--pgdata")
            .arg(self.data());
        let output = command.output().map_err(Error::when("starting initdb"))?;
        succeeded("initdb", &output)
    }

    fn spawn(&self, address: SocketAddr, settings: &[(&str, &str)]) -> Result<Child, Error> {
        let messages = self.directory.join("messages");
        let file = fs::File::create(messages).map_err(Error::when("creating a log"))?;
        let mut command = self.program("postgres");
        command.arg("-D").arg(self.data());
        let own = [
            ("listen_addresses", address.ip().to_string()),
            ("port", address.port().to_string()),
            (
                "unix_socket_directories",
                self.directory.display().to_string(),
            ),
            ("fsync", "off".to_owned()),
        ];
        let given = settings.iter().map(|(name, value)| (*name, *value));
        let own = own.iter().map(|(name, value)| (*name, value.as_str()));
        for (name, value) in own.chain(given) {
            command.arg("-c").arg(format!("{name}={value}"));
        }
        command.stdout(Stdio::null()).stderr(file);
        Child::spawn(&mut command)
    }

    fn program(&self, name: &str) -> Command {
        let mut command = Command::new(self.programs.join(name));
        command.current_dir(self.directory).stdin(Stdio::null());
        if let Some(Account { uid, gid }) = self.account {
            command.uid(uid).gid(gid);
        }
        command
    }

    /// Waits until it takes connections, which the eighth line of its lock file says; `false` if it has ended instead.
    fn is_ready(&self, server: &mut Child) -> Result<bool, Error> {
        let file = self.data().join("postmaster.pid");
        let mut has_ended = false;
        PATIENCE.until("PostgreSQL is ready", || {
            has_ended = server.has_ended()?;
            Ok(has_ended || says_ready(&read(&file)))
        })?;
        Ok(!has_ended)
    }
}

/// Whether a lock file says that the server is ready, which `pg_ctl` looks for too: `PM_STATUS_READY` of `utils/pidfile.h`.
fn says_ready(lock_file: &str) -> bool {
    lock_file.lines().nth(7).map(str::trim) == Some("ready")
}

/// Where its programs are: of several versions the newest.
fn programs() -> Result<PathBuf, Error> {
    let versions = fs::read_dir(VERSIONS).into_iter().flatten().flatten();
    let newest = versions
        .filter_map(|entry| {
            let version: u32 = entry.file_name().to_str()?.parse().ok()?;
            let programs = entry.path().join("bin");
            (programs.join("initdb").exists()).then_some((version, programs))
        })
        .max();
    let (_, programs) = newest.ok_or_else(|| {
        Error::Missing(format!("no PostgreSQL below {VERSIONS}: run scripts/test"))
    })?;
    Ok(programs)
}

/// Whom root runs it as: `postgres`, which its package makes, or `nobody`. Anybody else runs it as himself.
fn account() -> Result<Option<Account>, Error> {
    if !geteuid().is_root() {
        return Ok(None);
    }
    let users = fs::read_to_string("/etc/passwd").map_err(Error::when("reading /etc/passwd"))?;
    let found = ["postgres", "nobody"]
        .into_iter()
        .find_map(|name| account_of(&users, name));
    found.map(Some).ok_or_else(|| {
        Error::Missing(
            "there is no user `postgres` or `nobody`, and PostgreSQL does not run as root"
                .to_owned(),
        )
    })
}

fn account_of(users: &str, name: &str) -> Option<Account> {
    let mut lines = users.lines().map(|line| line.split(':'));
    lines.find_map(|mut fields| {
        (fields.next()? == name).then_some(())?;
        let uid = fields.nth(1)?.parse().ok()?;
        let gid = fields.next()?.parse().ok()?;
        Some(Account { uid, gid })
    })
}

fn succeeded(name: &str, output: &Output) -> Result<(), Error> {
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Error::Measured(format!("{name}: {}", said.trim())))
}

/// A file's text; nothing where there is none yet.
fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_are_read_by_name() {
        let users = "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65533:n:/:/bin/false\n";
        let nobody = Account {
            uid: 65534,
            gid: 65533,
        };
        assert_eq!(account_of(users, "nobody"), Some(nobody));
        assert_eq!(account_of(users, "postgres"), None);
    }

    #[test]
    fn it_is_ready_by_its_eighth_line() {
        let starting = "7\n/d\n1\n5432\n/s\n127.0.0.1\n 1 2\nstarting\n";
        assert!(!says_ready(starting) && !says_ready(""));
        assert!(says_ready(&starting.replace("starting", "ready   ")));
    }

    #[test]
    #[ignore = "needs PostgreSQL: run scripts/test"]
    fn it_starts_answers_and_goes() {
        let server = Postgresql::start(&[("max_connections", "7")]).unwrap();
        assert_eq!(server.ask("SHOW max_connections").unwrap(), "7");
        let refused = server.ask("SELECT nonsense").unwrap_err().to_string();
        assert!(refused.contains("nonsense"), "{refused}");
        let (pid, directory) = (server.server.pid(), server.directory.path().to_owned());
        drop(server);
        assert!(!directory.exists());
        assert!(crate::child::send(pid, Signal::CONT).is_err());
    }

    #[test]
    #[ignore = "needs PostgreSQL: run scripts/test"]
    fn a_setting_that_it_does_not_take_is_told() {
        let started = Postgresql::start(&[("max_connections", "many")]);
        let told = started.err().unwrap().to_string();
        assert!(told.contains("max_connections"), "{told}");
    }
}
