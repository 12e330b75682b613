//! nginx with `return 200`.

use super::{Process, Running, Upstream};
use crate::nginx::Nginx;

pub(super) const UPSTREAM: Upstream = Upstream {
    name: "nginx",
    start: |_| {
        let body = "    access_log off;\n    keepalive_timeout 1h;\n    add_header X-Seen \"$request_method $request_uri\" always;\n    \
                    location / { return 200 'fine'; }\n";
        let nginx = Nginx::start("", body, &[])?;
        Ok(Running {
            address: nginx.address(),
            _process: Process::Nginx(Box::new(nginx)),
        })
    },
};
