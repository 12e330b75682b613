//! Python's `http.server`.

use super::{Running, Upstream, repository};
use crate::foreign::Foreign;
use std::process::Command;

pub(super) const UPSTREAM: Upstream = Upstream {
    name: "Python's http.server",
    start: |_| {
        let script = repository().join("calibration/upstreams/server.py");
        Foreign::announced(Command::new("python3").arg(script), "python3").map(Running::from)
    },
};
