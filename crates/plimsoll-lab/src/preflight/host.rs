//! Limits of this host on a load: ports, descriptors, and the ceiling that was measured.

use crate::kernel_file;
use crate::{ceiling, host};
use rustix::process::{Resource, getrlimit};

/// Limits of a host on a load.
#[derive(Debug, Clone, Default)]
pub struct HostFacts {
    /// Local ports for outgoing connections; `None`: the kernel does not say.
    pub ports: Option<u32>,
    /// Whether a port is taken again before its time: `net.ipv4.tcp_tw_reuse`.
    pub reuse: Reuse,
    /// Descriptors that a process may hold when it takes all that it may; `None`: as many as wanted.
    pub descriptors: Option<u64>,
    /// The stored ceiling, if it is this host's.
    pub calibrated: Option<Box<ceiling::Ceiling>>,
}

/// Between which ends a port is taken again a second after its connection, instead of a minute.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Reuse {
    /// None.
    #[default]
    Never,
    /// On one host: Linux' default since 4.19.
    Loopback,
    /// All.
    Always,
}

impl HostFacts {
    /// This host's.
    #[must_use]
    pub fn read(calibrated: Option<Box<ceiling::Ceiling>>) -> Self {
        let reuse = kernel_file::read("/proc/sys/net/ipv4/tcp_tw_reuse");
        Self {
            ports: host::port_count(),
            reuse: match reuse.as_deref().map(str::trim) {
                Ok("1") => Reuse::Always,
                Ok("2") => Reuse::Loopback,
                _ => Reuse::Never,
            },
            descriptors: getrlimit(Resource::Nofile).maximum,
            calibrated,
        }
    }
}
