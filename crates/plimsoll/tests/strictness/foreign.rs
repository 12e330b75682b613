//! nginx and HAProxy as proxies in front of a tolerant server, with their default strictness.

use crate::exchange::CANARY_STATUS;
use crate::ours::is_in_step;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// A running program, killed when dropped.
pub struct Foreign {
    pub address: SocketAddr,
    child: Child,
    _files: TempDir,
}

impl Drop for Foreign {
    fn drop(&mut self) {
        // Already ended is as good.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// nginx before `upstream`.
pub fn nginx(upstream: SocketAddr) -> Foreign {
    start(|address, files| {
        let dir = files.display();
        let config = format!(
            "daemon off; master_process off; pid {dir}/pid; error_log {dir}/error.log;\n\
             events {{ worker_connections 512; }}\n\
             http {{ access_log off; client_body_temp_path {dir}; proxy_temp_path {dir}; fastcgi_temp_path {dir}; uwsgi_temp_path {dir};\n\
             scgi_temp_path {dir}; upstream up {{ server {upstream}; }}\n\
             server {{ listen {address}; location / {{ proxy_pass http://up; proxy_http_version 1.1; proxy_set_header Connection \"\"; }} }} }}\n"
        );
        let path = files.join("nginx.conf");
        std::fs::write(&path, config).unwrap();
        let mut command = Command::new("/usr/sbin/nginx");
        command
            .arg("-e")
            .arg(files.join("error.log"))
            .arg("-c")
            .arg(path);
        command
    })
}

/// HAProxy before `upstream`.
pub fn haproxy(upstream: SocketAddr) -> Foreign {
    start(|address, files| {
        let config = format!(
            "defaults\n  mode http\n  timeout client 20s\n  timeout server 20s\n  timeout connect 5s\n\
             frontend main\n  bind {address}\n  default_backend up\nbackend up\n  server up {upstream}\n"
        );
        let path = files.join("haproxy.cfg");
        std::fs::write(&path, config).unwrap();
        let mut command = Command::new("/usr/sbin/haproxy");
        command.arg("-db").arg("-f").arg(path);
        command
    })
}

/// Starts a program on a port that was free a moment ago; takes another if somebody was faster.
fn start(command: impl Fn(SocketAddr, &Path) -> Command) -> Foreign {
    for _ in 0..5 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let files = TempDir::new().unwrap();
        let mut child = command(address, files.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        while child.try_wait().unwrap().is_none() {
            if std::net::TcpStream::connect(address).is_ok() {
                assert!(is_in_step(address), "no {CANARY_STATUS} from {address}");
                return Foreign {
                    address,
                    child,
                    _files: files,
                };
            }
            std::thread::yield_now();
        }
    }
    panic!("the program does not start");
}
