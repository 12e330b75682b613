//! Whom processes are connected with, from `/proc/<pid>/fd` and the tables of proc_net_tcp(5).

use super::process_tree::ProcessTree;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;

/// Lines of a table that are looked at: a host with more connections is not looked through.
const MOST_LINES: usize = 50_000;
/// The state of a connection that is open both ways.
const ESTABLISHED: &str = "01";

/// A connection of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Connected {
    /// Its port at this end.
    pub port: u16,
    /// The other end.
    pub peer: SocketAddr,
}

/// The open connections of every process below `root`; those of processes that may not be looked at are missing.
pub fn below(root: u32) -> BTreeSet<Connected> {
    let processes = ProcessTree::read().descendants(root);
    let mut sockets = BTreeSet::new();
    // A table is of a network namespace, of which there may be several below one root.
    let mut namespaces: BTreeMap<PathBuf, u32> = BTreeMap::new();
    for process in &processes {
        sockets.extend(sockets_of(process.pid));
        if let Ok(namespace) = fs::read_link(format!("/proc/{}/ns/net", process.pid)) {
            namespaces.insert(namespace, process.pid);
        }
    }
    let tables = namespaces.into_values().flat_map(|pid| {
        let tables = ["tcp", "tcp6"].into_iter();
        tables.flat_map(move |table| lines(pid, table))
    });
    tables
        .filter_map(|line| connection(&line))
        .filter(|(inode, _)| sockets.contains(inode))
        .map(|(_, connected)| connected)
        .collect()
}

/// The inodes of a process's sockets.
fn sockets_of(pid: u32) -> Vec<u64> {
    let entries = fs::read_dir(format!("/proc/{pid}/fd")).into_iter();
    let links = entries
        .flatten()
        .flatten()
        .filter_map(|entry| fs::read_link(entry.path()).ok());
    links
        .filter_map(|link| {
            let inode = link.to_str()?.strip_prefix("socket:[")?;
            inode.strip_suffix(']')?.parse().ok()
        })
        .collect()
}

fn lines(pid: u32, table: &str) -> impl Iterator<Item = String> {
    let file = File::open(format!("/proc/{pid}/net/{table}")).into_iter();
    let lines = file.flat_map(|file| BufReader::new(file).lines().map_while(Result::ok));
    lines.skip(1).take(MOST_LINES)
}

/// Inode and ends of a line for a connection that is open; `None` for any other.
fn connection(line: &str) -> Option<(u64, Connected)> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let [_, local, remote, state, ..] = fields[..] else {
        return None;
    };
    if state != ESTABLISHED {
        return None;
    }
    let connected = Connected {
        port: end(local)?.port(),
        peer: end(remote)?,
    };
    Some((fields.get(9)?.parse().ok()?, connected))
}

/// One end: words of an address in the order of this machine, in hexadecimal, and a port.
fn end(text: &str) -> Option<SocketAddr> {
    let (address, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let word = |at: usize| u32::from_str_radix(address.get(at..at + 8)?, 16).ok();
    let address: IpAddr = match address.len() {
        8 => Ipv4Addr::from(word(0)?.to_ne_bytes()).into(),
        32 => {
            let mut bytes = [0; 16];
            for (index, part) in bytes.chunks_exact_mut(4).enumerate() {
                part.copy_from_slice(&word(8 * index)?.to_ne_bytes());
            }
            Ipv6Addr::from(bytes).to_canonical()
        }
        _ => return None,
    };
    Some(SocketAddr::new(address, port))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[cfg(target_endian = "little")]
    #[test]
    fn captured_lines() {
        let open = "   2: 0100007F:A96B 0100007F:DC18 01 000000B2:00000000 01:00000014 00000000     0        0 4429428 3 0 20 4 1 18 -1";
        let (inode, connected) = connection(open).unwrap();
        assert_eq!(inode, 4_429_428);
        assert_eq!(connected.port, 0xA96B);
        assert_eq!(connected.peer.to_string(), "127.0.0.1:56344");
        let mapped = open.replace("0100007F:DC18", "0000000000000000FFFF00000100007F:DC18");
        let (_, connected) = connection(&mapped).unwrap();
        assert_eq!(connected.peer.to_string(), "127.0.0.1:56344");
        assert_eq!(connection(&open.replace(" 01 ", " 06 ")), None);
    }

    #[test]
    fn a_connection_of_a_child_is_found_with_its_ends() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let client = TcpStream::connect(address).unwrap();
        // A shell with a child, so that nothing else is below the root that is looked at; the child ends with the listener.
        let mut shell = std::process::Command::new("sh")
            .args(["-c", "exec 3<&0; cat <&3 & wait"])
            .stdin(std::os::fd::OwnedFd::from(client.try_clone().unwrap()))
            .spawn()
            .unwrap();
        let found = loop {
            let found = below(shell.id());
            if !found.is_empty() {
                break found;
            }
            assert!(shell.try_wait().unwrap().is_none(), "the shell has ended");
        };
        shell.kill().unwrap();
        shell.wait().unwrap();
        let expected = Connected {
            port: client.local_addr().unwrap().port(),
            peer: address,
        };
        assert!(found.contains(&expected), "{found:?}");
    }
}
