//! The process that holds the namespaces of a host: it makes them, stays, and is their name server.
//!
//! It runs under a shim. When that goes, so does this, and with it the kernel takes links, addresses, rules and mounts. It takes lines of JSON:
//! first a [`Held`], then [`Order`]s; each is answered with a line, which is empty or says what went wrong.

use super::resolver::{self, Lie, Names};
use crate::topology::namespace;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead, Write};
use std::net::{Ipv4Addr, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The exit code when the namespaces could not be made.
const NOT_HELD: u8 = 1;

/// The namespaces to hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Held {
    /// A network alone.
    Switch,
    /// A machine: network, mounts, and name.
    Host {
        /// The name of the machine.
        name: String,
        /// Its address.
        address: Ipv4Addr,
        /// A directory for its files.
        dir: PathBuf,
    },
}

/// An order to a holder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Order {
    /// Begin to answer questions for these names.
    Serve(BTreeMap<String, Ipv4Addr>),
    /// Lie about a name, or tell the truth again.
    Lie(String, Option<Lie>),
}

/// Makes and holds the namespaces that the first line of `orders` asks for until its end. Gives the exit code of this process, whose only
/// thread it must be called from. `answers` receives a line for each order.
pub fn run_hold(orders: impl BufRead, mut answers: impl Write) -> u8 {
    let mut lines = orders.lines();
    let held = next(&mut lines).and_then(|held| make(&held));
    let failed = held.is_err();
    if answer(&mut answers, held).is_err() || failed {
        return NOT_HELD;
    }
    let mut server = None;
    loop {
        let order = match next(&mut lines) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return 0,
            order => order,
        };
        let done = order.and_then(|order| obey(order, &mut server));
        if answer(&mut answers, done).is_err() {
            // The lab is gone.
            return 0;
        }
    }
}

/// The next line as what it says; at the end, `UnexpectedEof`.
fn next<T: for<'d> Deserialize<'d>>(
    lines: &mut impl Iterator<Item = io::Result<String>>,
) -> io::Result<T> {
    let line = lines.next().ok_or(io::ErrorKind::UnexpectedEof)??;
    serde_json::from_str(&line).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

fn answer(answers: &mut impl Write, outcome: io::Result<()>) -> io::Result<()> {
    match outcome {
        Ok(()) => writeln!(answers)?,
        Err(error) => writeln!(answers, "{}", error.to_string().replace('\n', " "))?,
    }
    answers.flush()
}

fn make(held: &Held) -> io::Result<()> {
    namespace::own_network()?;
    if let Held::Host { name, address, dir } = held {
        rustix::system::sethostname(name.as_bytes())?;
        namespace::own_mounts()?;
        own_files(name, *address, dir)?;
    }
    Ok(())
}

/// Gives the host files of its own in `/etc`: its name, and that names are asked of its own name server and nobody else.
fn own_files(name: &str, address: Ipv4Addr, dir: &Path) -> io::Result<()> {
    let switch = fs::read_to_string("/etc/nsswitch.conf").unwrap_or_default();
    let files = [
        ("hostname", format!("{name}\n")),
        (
            "hosts",
            format!("127.0.0.1 localhost\n::1 localhost\n{address} {name}\n"),
        ),
        ("resolv.conf", format!("nameserver {}\n", resolver::ADDRESS)),
        ("nsswitch.conf", with_dns(&switch)),
    ];
    for (file, text) in files {
        let target = Path::new("/etc").join(file);
        // A machine without that file goes without it here too.
        if !target.exists() {
            continue;
        }
        let own = dir.join(file);
        fs::write(&own, text)?;
        rustix::mount::mount_bind(&own, &target)?;
    }
    Ok(())
}

/// The configuration of the name service switch (nsswitch.conf(5)) in which names of hosts come from files and DNS alone.
fn with_dns(text: &str) -> String {
    let lines = text.lines().map(|line| match line.starts_with("hosts:") {
        true => "hosts: files dns\n".to_owned(),
        false => format!("{line}\n"),
    });
    lines.collect()
}

fn obey(order: Order, server: &mut Option<Arc<Mutex<Names>>>) -> io::Result<()> {
    match (order, server) {
        (Order::Serve(known), server @ None) => {
            let socket = UdpSocket::bind((resolver::ADDRESS, resolver::PORT))?;
            let names = Arc::new(Mutex::new(Names::new(known)));
            *server = Some(Arc::clone(&names));
            // It ends with the process.
            let thread = std::thread::Builder::new().name("names".to_owned());
            thread.spawn(move || resolver::serve(&socket, &names))?;
            Ok(())
        }
        (Order::Lie(name, lie), Some(names)) => {
            let mut names = names.lock().unwrap_or_else(PoisonError::into_inner);
            names.lie(name, lie);
            Ok(())
        }
        (Order::Serve(_), Some(_)) => Err(io::Error::other("it serves already")),
        (Order::Lie(..), None) => Err(io::Error::other("it does not serve yet")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_hosts_come_from_files_and_dns() {
        let text = "passwd: files\nhosts: files resolve [!UNAVAIL=return] dns\n";
        assert_eq!(with_dns(text), "passwd: files\nhosts: files dns\n");
    }

    #[test]
    fn an_order_that_is_none_is_told() {
        let mut answers = Vec::new();
        assert_eq!(run_hold("nonsense\n".as_bytes(), &mut answers), NOT_HELD);
        assert!(!String::from_utf8(answers).unwrap().trim().is_empty());
    }
}
