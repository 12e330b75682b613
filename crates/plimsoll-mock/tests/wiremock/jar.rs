//! The real WireMock in a Java machine, on a port of its own choice.

use super::answers::root_directory;
use super::cases::root;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

/// A running WireMock; it ends with this.
pub struct Jar {
    child: Child,
    address: SocketAddr,
    /// Deleted with it: WireMock writes into its root.
    _directory: tempfile::TempDir,
}

impl Jar {
    pub fn start() -> Self {
        let jar = root().join("../../target/peers/wiremock.jar");
        assert!(
            jar.exists(),
            "bench/peers/install wiremock brings {}",
            jar.display()
        );
        let directory = root_directory();
        // Where text, times and numbers are as the machine's settings say, they are the same on every machine.
        let settings = [
            "-Dfile.encoding=UTF-8",
            "-Duser.timezone=UTC",
            "-Duser.language=en",
            "-Duser.country=US",
        ];
        let mut child = Command::new("java")
            .args(settings)
            .arg("-jar")
            .arg(jar)
            .args([
                "--port",
                "0",
                "--bind-address",
                "127.0.0.1",
                "--disable-banner",
                "--disable-request-logging",
            ])
            .arg("--root-dir")
            .arg(directory.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let port = lines
            .map_while(Result::ok)
            .find_map(|line| line.strip_prefix("port:")?.trim().parse().ok());
        let port: u16 = port.expect("WireMock says its port when it is ready");
        Self {
            child,
            address: SocketAddr::from(([127, 0, 0, 1], port)),
            _directory: directory,
        }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Jar {
    fn drop(&mut self) {
        // It may have ended by itself.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
