//! Whether this host permits a network of hosts: each part is made once in a namespace that ends with the try.

use super::layout;
use super::program::Program;
use crate::topology::namespace;
use std::fmt;
use std::io;
use std::net::Ipv4Addr;
use std::path::Path;
use std::thread;

/// Something that this host lacks, and how to change that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// Its name, with the system's reason.
    pub what: String,
    /// How to get it.
    pub remedy: &'static str,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.remedy)
    }
}

/// The remedy for whatever needs rights.
const ROOT: &str = "run it as root";

/// A part of a network.
struct Part {
    /// Its failure, in words.
    failure: &'static str,
    /// The remedy where it is not permitted.
    remedy: &'static str,
    attempt: fn() -> io::Result<()>,
}

/// The parts, in the order in which they are tried: each stands on those before.
const PARTS: [Part; 5] = [
    Part {
        failure: "a network namespace cannot be made",
        remedy: ROOT,
        attempt: namespace::own_network,
    },
    Part {
        failure: "mounts of one's own cannot be made",
        remedy: ROOT,
        attempt: namespace::own_mounts,
    },
    Part {
        failure: "a file system in memory cannot be mounted",
        remedy: "run it as root, on a kernel with tmpfs",
        attempt: memory,
    },
    Part {
        failure: "`ip` cannot make a bridge and links",
        remedy: "install iproute2, on a kernel with bridge and veth",
        attempt: links,
    },
    Part {
        failure: "`nft` cannot filter what a bridge forwards",
        remedy: "install nftables, on a kernel with nf_tables for bridges",
        attempt: filter,
    },
];

/// Everything that this host lacks for a network of hosts, its faults, and disks of components; empty where nothing is.
#[must_use]
pub fn check() -> Vec<Missing> {
    // What is tried changes the thread, and ends with it.
    let tries = thread::Builder::new().name("tries".to_owned());
    let tried = tries.spawn(try_all).map(thread::JoinHandle::join);
    match tried {
        Ok(Ok(missing)) => missing,
        _ => vec![Missing {
            what: "no thread could be started".to_owned(),
            remedy: "let it have more processes (ulimit -u)",
        }],
    }
}

fn try_all() -> Vec<Missing> {
    let mut missing = Vec::new();
    for part in PARTS {
        let Err(error) = (part.attempt)() else {
            continue;
        };
        missing.push(Missing {
            what: format!("{} ({error})", part.failure),
            remedy: part.remedy,
        });
        // Without a namespace, the rest would be tried outside.
        if part.remedy == ROOT {
            break;
        }
    }
    missing
}

fn links() -> io::Result<()> {
    let own = rustix::process::getpid().as_raw_pid().unsigned_abs();
    let port = layout::port("try", Ipv4Addr::new(10, 77, 1, 1), own);
    let stays = port.replace(&format!(" netns {own}"), "");
    Program::Ip.run(&(layout::bridge() + &stays)).map(drop)
}

fn filter() -> io::Result<()> {
    let rules = "table bridge try {\nchain forward {\ntype filter hook forward priority 0;\niifname \"try\" ether type ip numgen random mod 2 < 1 counter drop\n}\n}\ntable netdev try {\nchain try {\ntype filter hook ingress device \"try\" priority 0;\nip protocol tcp counter reject with tcp reset\n}\n}\n";
    Program::Nft.run(rules).map(drop)
}

fn memory() -> io::Result<()> {
    namespace::mount_memory(Path::new("/tmp"), 4096)
}
