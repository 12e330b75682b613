//! A gateway's last steps before it takes clients: it takes its predecessor's place, and says where it is.

use super::predecessor::Predecessor;
use crate::environment::variable;
use crate::out;
use plimsoll_base::ignored::Ignored as _;
use plimsoll_gateway::Serving;
use std::ffi::OsString;
use std::io;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::JoinHandle;
use tokio::sync::watch;

/// The variable by which systemd says where it wants to be told.
const NOTIFY: &str = "NOTIFY_SOCKET";

/// Where a process leaves its traces.
#[derive(Debug, Default)]
pub struct Traces {
    /// Holds its id.
    pub pid_file: Option<PathBuf>,
    /// Holds its counters.
    pub counters: Option<PathBuf>,
}

/// A gateway that is being set up.
pub struct Arrival {
    /// To be called when it is.
    pub prepared: Serving,
    /// Becomes true when it may take clients.
    pub go: watch::Receiver<bool>,
    /// Becomes true when its predecessor has ended, or if it has none.
    pub alone: watch::Receiver<bool>,
    /// Ends when the predecessor has, or nobody waits for that any more.
    pub thread: JoinHandle<()>,
}

impl Traces {
    /// Where counters are kept until the predecessor's place is taken: its own file is its own until then.
    pub fn counters_at_first(&self, predecessor: Option<&Predecessor>) -> Option<PathBuf> {
        let counters = self.counters.as_ref()?;
        Some(match predecessor {
            None => counters.clone(),
            Some(_) => beside(counters, ".new"),
        })
    }

    /// Does on a thread of its own what is to be done once the gateway is set up; then waits for the predecessor's end until `leaving`.
    ///
    /// # Errors
    /// When the thread cannot be made.
    pub fn arrive(
        self,
        predecessor: Option<Predecessor>,
        leaving: watch::Receiver<bool>,
    ) -> io::Result<Arrival> {
        let (prepared, is_prepared) = mpsc::channel();
        let (may_go, go) = watch::channel(false);
        let (is_alone, alone) = watch::channel(predecessor.is_none());
        let thread = std::thread::Builder::new()
            .name("arrival".to_owned())
            .spawn(move || {
                if is_prepared.recv().is_err() {
                    return; // It has failed, which is told elsewhere.
                }
                if let Some(predecessor) = &predecessor {
                    predecessor.take_over();
                    self.take_over_counters();
                }
                may_go.send_replace(true);
                self.tell();
                if let Some(predecessor) = predecessor {
                    predecessor.release(&leaving);
                }
                is_alone.send_replace(true);
            })?;
        Ok(Arrival {
            prepared: Box::new(move || {
                prepared
                    .send(())
                    .ignored("the thread has panicked, and told");
            }),
            go,
            alone,
            thread,
        })
    }

    /// The predecessor's counters stay beside this process' own, which get their name.
    fn take_over_counters(&self) {
        let Some(counters) = &self.counters else {
            return;
        };
        let before = beside(counters, ".before");
        let moved = std::fs::rename(counters, &before);
        let moved = moved.and_then(|()| std::fs::rename(beside(counters, ".new"), counters));
        note("the counters file", counters, moved);
    }

    /// Says where this process is.
    fn tell(&self) {
        if let Some(file) = &self.pid_file {
            note("the pid file", file, write_pid(file));
        }
        if let Some(place) = variable(NOTIFY) {
            note("systemd's socket", Path::new(&place), notify(&place));
        }
    }
}

/// Removes the pid file, unless it is another process' by now.
pub fn remove_pid(file: &Path) {
    let own = format!("{}\n", std::process::id());
    if std::fs::read_to_string(file).is_ok_and(|text| text == own) {
        note("the pid file", file, std::fs::remove_file(file));
    }
}

/// Written as a whole, so that nobody reads half of it.
fn write_pid(file: &Path) -> io::Result<()> {
    let new = beside(file, ".new");
    std::fs::write(&new, format!("{}\n", std::process::id()))?;
    std::fs::rename(new, file)
}

/// Tells systemd (sd_notify(3)) that the service is ready, and that this is its main process.
fn notify(place: &str) -> io::Result<()> {
    let address = match place.strip_prefix('@') {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(place)?,
    };
    let text = format!("READY=1\nMAINPID={}\n", std::process::id());
    let socket = UnixDatagram::unbound()?;
    socket.send_to_addr(text.as_bytes(), &address)?;
    Ok(())
}

fn beside(file: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(file);
    name.push(ending);
    name.into()
}

fn note(what: &str, file: &Path, result: io::Result<()>) {
    if let Err(error) = result {
        out::note(&format!("gateway: {what} {}: {error}", file.display()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systemd_is_told_which_process_it_is() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("notify");
        let check = |address: &SocketAddr, place: &str| {
            let systemd = UnixDatagram::bind_addr(address).unwrap();
            notify(place).unwrap();
            let mut heard = [0; 100];
            let length = systemd.recv(&mut heard).unwrap();
            let expected = format!("READY=1\nMAINPID={}\n", std::process::id());
            assert_eq!(String::from_utf8_lossy(&heard[..length]), expected);
        };
        check(
            &SocketAddr::from_pathname(&path).unwrap(),
            path.to_str().unwrap(),
        );
        let name = format!("plimsoll-test-{}", std::process::id());
        check(
            &SocketAddr::from_abstract_name(&name).unwrap(),
            &format!("@{name}"),
        );
    }

    #[test]
    fn a_pid_file_is_removed_by_whose_it_is() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("pid");
        write_pid(&file).unwrap();
        let own = format!("{}\n", std::process::id());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), own);
        remove_pid(&file);
        assert!(!file.exists());
        std::fs::write(&file, "1\n").unwrap();
        remove_pid(&file);
        assert!(file.exists());
    }
}
