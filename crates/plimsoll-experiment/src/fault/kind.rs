//! Kinds of faults, with all that each needs.

use super::certificate::Certificate;
use super::link::Effect;
use super::network::{Answer, Packets};
use super::run::Run;
use crate::topology::Link;

/// Kind of a fault, with all that it needs.
#[derive(Debug, Clone)]
pub enum FaultKind {
    /// A component is killed, and started anew.
    Kill(String),
    /// A component stands still.
    Freeze(String),
    /// A component may use only so much processor time.
    Cpu {
        /// The component.
        component: String,
        /// In processors.
        cores: f64,
    },
    /// A component may use only so much memory.
    Memory {
        /// The component.
        component: String,
        /// In bytes.
        bytes: u64,
    },
    /// A link is slow, broken or silent.
    Link {
        /// The link.
        link: Link,
        /// Effect on what passes.
        effect: Effect,
    },
    /// A component shows a certificate that clients must not accept.
    Certificate(Certificate),
    /// A component's clock is wrong.
    Clock {
        /// The component.
        component: String,
        /// How far it is ahead in seconds; negative: behind.
        by_s: f64,
    },
    /// Packets between hosts are lost or refused.
    Packets(Packets),
    /// A host is told lies about a name.
    Dns {
        /// The host.
        host: String,
        /// The name.
        name: String,
        /// The lie.
        answer: Answer,
    },
    /// A host loses its power.
    PowerOff(String),
    /// The disk of a component is full.
    DiskFull(String),
    /// Commands of the user's.
    Run(Run),
    /// Nothing.
    Nothing,
}

impl FaultKind {
    /// The word for it in files and reports.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Kill(_) => "kill",
            Self::Freeze(_) => "freeze",
            Self::Cpu { .. } => "cpu",
            Self::Memory { .. } => "memory",
            Self::Link { .. } => "link",
            Self::Certificate(_) => "certificate",
            Self::Clock { .. } => "clock",
            Self::Packets(packets) => packets.effect.word(),
            Self::Dns { .. } => "dns",
            Self::PowerOff(_) => "power_off",
            Self::DiskFull(_) => "disk_full",
            Self::Run(_) => "run",
            Self::Nothing => "nothing",
        }
    }

    /// The same on another component; `None` of kinds that are not of a component alone.
    #[must_use]
    pub fn on(&self, component: &str) -> Option<Self> {
        let component = component.to_owned();
        Some(match self {
            Self::Kill(_) => Self::Kill(component),
            Self::Freeze(_) => Self::Freeze(component),
            Self::Cpu { cores, .. } => Self::Cpu {
                component,
                cores: *cores,
            },
            Self::Memory { bytes, .. } => Self::Memory {
                component,
                bytes: *bytes,
            },
            _ => return None,
        })
    }

    /// Whether a component has to be started anew to heal it, or may have to be.
    #[must_use]
    pub fn restarts(&self) -> bool {
        matches!(self, Self::Kill(_) | Self::Memory { .. })
    }

    /// The component that it breaks, if it is one.
    #[must_use]
    pub fn component(&self) -> Option<&str> {
        match self {
            Self::Kill(component)
            | Self::Freeze(component)
            | Self::Cpu { component, .. }
            | Self::Memory { component, .. }
            | Self::DiskFull(component)
            | Self::Clock { component, .. } => Some(component),
            Self::Certificate(certificate) => Some(&certificate.component),
            Self::Link { .. }
            | Self::Packets(_)
            | Self::Dns { .. }
            | Self::PowerOff(_)
            | Self::Run(_)
            | Self::Nothing => None,
        }
    }

    /// The link that it breaks, if it is one.
    #[must_use]
    pub fn link(&self) -> Option<&Link> {
        match self {
            Self::Link { link, .. } => Some(link),
            _ => None,
        }
    }

    /// The component, link or hosts that it breaks, in words.
    #[must_use]
    pub fn target(&self) -> Option<String> {
        match self {
            Self::Packets(packets) => Some(packets.text()),
            Self::Dns { host, name, .. } => Some(format!("{host}: {name}")),
            Self::PowerOff(host) => Some(host.clone()),
            _ => {
                let component = self.component().map(str::to_owned);
                component.or_else(|| self.link().map(Link::text))
            }
        }
    }
}
