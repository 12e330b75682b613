//! Node's own server.

use super::{Running, Upstream, repository};
use crate::foreign::Foreign;
use std::process::Command;

pub(super) const UPSTREAM: Upstream = Upstream {
    name: "Node",
    start: |_| {
        let script = repository().join("calibration/upstreams/server.js");
        Foreign::announced(Command::new("node").arg(script), "node").map(Running::from)
    },
};
