//! Faults: what breaks during a load, how, when and for how long.
//!
//! One file per kind under `fault/`. How a fault is injected, proved and healed is the lab's.

mod certificate;
mod clock;
mod conversion;
mod limits;
mod link;
mod network;
mod run;
mod toxiproxy;

pub use certificate::{Certificate, Flaw, Reload};
pub(super) use conversion::convert_all;
pub use limits::CORES_APART;
pub use link::Effect;
pub use network::{Answer, LEAST_LOSS, PacketEffect, Packets};
pub use run::Run;
pub use toxiproxy::ForeignProxy;

use plimsoll_base::document::Path as Pointer;
use std::time::Duration;

use super::arm::Arm;
use super::component::{Command, Component, ComponentKind};
use super::loader::Loader;
use super::method::Method;
use super::template::Template;
use super::topology::{Link, Network};

/// A fault.
#[derive(Debug, Clone)]
pub struct Fault {
    /// Its name.
    pub name: String,
    /// When it begins, in the measured time; under `availability` each trial has its own moment.
    pub at: Duration,
    /// How long it lasts, until it is healed.
    pub lasts: Duration,
    /// Arms in whose loads it happens; empty: all.
    pub arms: Vec<String>,
    /// Kind of the fault.
    pub kind: FaultKind,
}

impl Fault {
    /// Whether it happens in the loads of an arm.
    #[must_use]
    pub fn is_of(&self, arm: &str) -> bool {
        self.arms.is_empty() || self.arms.iter().any(|name| name == arm)
    }
}

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
    /// A proxy of a running Toxiproxy is slow, broken or silent.
    Toxiproxy(ForeignProxy),
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
            Self::Toxiproxy(_) => "toxiproxy",
            Self::Nothing => "nothing",
        }
    }

    /// This kind of fault on another component; `None` of kinds that are not of a component alone.
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
            | Self::Toxiproxy(_)
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
            Self::Toxiproxy(proxy) => Some(proxy.text()),
            _ => {
                let component = self.component().map(str::to_owned);
                component.or_else(|| self.link().map(Link::text))
            }
        }
    }

    /// Whether two faults break one thing: a host that has no power is in no network, and what was wrong with it there is gone with it.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Packets(one), Self::Packets(other)) => one.overlap(other),
            (Self::Packets(packets), Self::PowerOff(host))
            | (Self::PowerOff(host), Self::Packets(packets)) => packets.is_of(host),
            (Self::Dns { host: one, .. }, Self::PowerOff(other))
            | (Self::PowerOff(other), Self::Dns { host: one, .. }) => one == other,
            _ => self.target().is_some() && self.target() == other.target(),
        }
    }
}

/// Refuses secrets in a text that the record of the run holds, so that the fault can be healed later.
fn refuse_secrets(loader: &mut Loader<'_>, text: &Template, at: &Pointer) {
    if text.references().iter().any(|one| one.is_secret()) {
        loader.refuse(
            at,
            "holds a secret, and the record of the run holds this, so that it can be healed later: let the program read it",
        );
    }
}

/// Facts of the file that faults depend on.
pub(super) struct Scope<'a> {
    pub components: &'a [Component],
    pub arms: &'a [Arm],
    /// The names of all arms of the file.
    pub arm_names: &'a [String],
    pub method: &'a Method,
    pub network: Option<&'a Network>,
}

impl Scope<'_> {
    fn component(&self, name: &str) -> Option<&Component> {
        self.components.iter().find(|one| one.name == name)
    }

    /// The component of that name, if it is a foreign program.
    fn command(&self, name: &str) -> Option<&Command> {
        match self.component(name).map(|one| &one.kind) {
            Some(ComponentKind::Command(command)) => Some(command),
            _ => None,
        }
    }

    /// Whether a component has a disk of its own, which it alone sees.
    fn has_disk(&self, name: &str) -> bool {
        self.command(name)
            .is_some_and(|command| command.disk.is_some())
    }
}

#[cfg(test)]
mod tests;
