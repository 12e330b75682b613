//! Python's `http.server`.

use super::{Upstream, announced, repository};
use std::process::Command;

pub(super) const UPSTREAM: Upstream = Upstream {
    name: "Python's http.server",
    start: |_| {
        let script = repository().join("calibration/upstreams/server.py");
        announced(Command::new("python3").arg(script), "python3")
    },
};
