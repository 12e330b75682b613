//! Facts of this host: one per file, each found in `/proc`, `/sys` or by a short try, and judged in plain words.
//!
//! Only facts that a run depends on are looked at. Printing them is left to the binary; the generator's own ceiling is measured by
//! `calibrate`.

mod backlog;
mod calibrate;
mod ceiling;
mod cgroup;
mod clock;
mod descriptors;
mod directories;
mod faketime;
mod hosts;
mod namespaces;
mod packet_filter;
mod ports;
mod pressure;
mod processors;
mod search;
mod steal;
mod timer;
mod tries;

pub use crate::ceiling::{Ceiling, ClosedThroughput, Identity, OpenCeiling, Stored};
pub use calibrate::{Calibration, Calibrator, Trial};
pub use tries::NoneHeld;

use serde::Serialize;

/// One thing about this host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// Its subject, in a word or two.
    pub name: &'static str,
    /// The finding.
    pub finding: String,
    /// Its judgement.
    #[serde(flatten)]
    pub judgement: Judgement,
}

/// Meaning of a fact for measurements on this host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "judgement", rename_all = "snake_case")]
pub enum Judgement {
    /// Nothing to do.
    Ok,
    /// Something is limited.
    Limits {
        /// The measurements that are limited.
        what: String,
        /// How to change that.
        remedy: String,
    },
    /// This host does not say.
    Unknown,
}

impl Fact {
    fn ok(name: &'static str, finding: impl Into<String>) -> Self {
        Self {
            name,
            finding: finding.into(),
            judgement: Judgement::Ok,
        }
    }

    fn limits(
        name: &'static str,
        finding: impl Into<String>,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        let (what, remedy) = (what.into(), remedy.into());
        Self {
            name,
            finding: finding.into(),
            judgement: Judgement::Limits { what, remedy },
        }
    }

    fn unknown(name: &'static str, finding: impl Into<String>) -> Self {
        Self {
            name,
            finding: finding.into(),
            judgement: Judgement::Unknown,
        }
    }
}

/// Looks at every fact; takes about a second, for which it watches the machine. What cannot be found out is said to be unknown.
#[must_use]
pub fn look() -> Vec<Fact> {
    let stolen = steal::Watch::start();
    let waiting = pressure::Watch::start();
    // It takes the second for which the others watch.
    let timer = timer::look();
    let watched = [stolen.end(), waiting.end()];
    let mut facts = vec![processors::look(), clock::look(), timer];
    facts.extend(watched);
    facts.extend([
        descriptors::look(),
        ports::look(),
        backlog::look(),
        directories::look(),
        cgroup::look(),
        namespaces::look(),
        packet_filter::look(),
        hosts::look(),
        faketime::look(),
    ]);
    facts
}
