//! Go's `net/http`.

use super::{Running, Upstream, repository};
use crate::bench::Error;
use crate::foreign::Foreign;
use std::process::Command;

pub(super) const UPSTREAM: Upstream = Upstream {
    name: "Go's net/http",
    start: |bench| {
        let program = bench.directory()?.join("server");
        let built = Command::new("go")
            .args(["build", "-o"])
            .arg(&program)
            .arg(repository().join("calibration/upstreams/server.go"))
            .output()
            .map_err(|_| Error::Missing("there is no go".to_owned()))?;
        if !built.status.success() {
            let said = String::from_utf8_lossy(&built.stderr).into_owned();
            return Err(Error::Measured(said));
        }
        Foreign::announced(&mut Command::new(program), "go").map(Running::from)
    },
};
