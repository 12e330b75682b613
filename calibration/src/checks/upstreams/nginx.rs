//! nginx with `return 200`.

use super::{Process, Running, Upstream};
use crate::nginx::{Nginx, Site};

pub(super) const UPSTREAM: Upstream = Upstream {
    name: "nginx",
    start: |_| {
        let server = "    access_log off;\n    keepalive_timeout 1h;\n    add_header X-Seen \"$request_method $request_uri\" always;\n    \
                    location / { return 200 'fine'; }\n";
        let nginx = Nginx::start(&Site {
            server,
            ..Site::default()
        })?;
        Ok(Running {
            address: nginx.address(),
            _process: Process::Nginx(Box::new(nginx)),
        })
    },
};
