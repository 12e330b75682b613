//! nginx as a foreign component in the place of our gateway, with two workers.

use crate::processes::wait_until_nothing_runs;
use crate::program::{Workspace, signal};
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

const CONFIG: &str = r#"
daemon off;
worker_processes 2;
pid ${self.dir}/nginx.pid;
error_log stderr;
events { worker_connections 512; }
http {
  access_log off;
  client_body_temp_path ${self.dir}/body;
  proxy_temp_path ${self.dir}/proxy;
  fastcgi_temp_path ${self.dir}/fastcgi;
  uwsgi_temp_path ${self.dir}/uwsgi;
  scgi_temp_path ${self.dir}/scgi;
  upstream mock { server ${upstream.host}:${upstream.port}; keepalive 64; }
  server {
    listen 127.0.0.1:${self.port};
    location / {
      proxy_pass http://mock;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
    }
  }
}
"#;

fn workspace(duration: &str) -> Workspace {
    let workspace = Workspace::new();
    workspace.write("nginx.conf.in", CONFIG);
    workspace.write(
        "nginx.yaml",
        &format!(
            "version: 1\nname: nginx\ncomponents:\n  upstream: {{ mock: {{}} }}\n  proxy:\n    \
             command: [nginx, -e, stderr, -c, \"${{self.dir}}/nginx.conf\"]\n    render: [nginx.conf.in]\n    ready: {{ http: /json/valid }}\n\
             scenario:\n  - {{ get: /json/valid, check: {{ status: 200 }} }}\n\
             load: {{ rate: 300/s, connections: 4, duration: {duration} }}\n\
             arms:\n  direct: {{ target: upstream }}\n  nginx: {{ target: proxy }}\n\
             method:\n  compare: {{ baseline: direct, blocks: 2 }}\n"
        ),
    );
    workspace
}

#[test]
#[ignore = "needs nginx: run scripts/test"]
fn nginx_takes_the_place_of_the_gateway() {
    let workspace = workspace("1s");
    let finished = workspace.experiment("nginx.yaml", &[]);
    assert!(matches!(finished.code, Some(0 | 4)), "{finished:?}");
    let arms = &workspace.json("run/summary.json")["arms"];
    for arm in ["direct", "nginx"] {
        assert_eq!(
            arms[arm]["outcomes"]["answered"]["200"], 600,
            "{}",
            arms[arm]
        );
    }
    assert!(
        arms["nginx"]["components"]["proxy"]["rss_bytes_max"]
            .as_f64()
            .unwrap()
            > 0.0
    );
    wait_until_nothing_runs(&workspace);
}

#[test]
#[ignore = "needs nginx: run scripts/test"]
fn killing_the_lab_ends_nginx_and_its_workers() {
    let workspace = workspace("60s");
    let mut lab = workspace
        .command(&["run", "nginx.yaml", "--out", "run", "--no-ui"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(lab.stderr.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("answered")));
    signal(lab.id(), "KILL");
    lab.wait().unwrap();
    wait_until_nothing_runs(&workspace);
}
