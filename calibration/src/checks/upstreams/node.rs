//! Node's own server.

use super::{Upstream, announced, repository};
use std::process::Command;

pub(super) const UPSTREAM: Upstream = Upstream {
    name: "Node",
    start: |_| {
        let script = repository().join("calibration/upstreams/server.js");
        announced(Command::new("node").arg(script), "node")
    },
};
