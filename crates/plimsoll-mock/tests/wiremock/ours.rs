//! This mock, in a thread.

use super::answers::root_directory;
use plimsoll_mock::{MockConfig, Targets, run};
use std::net::SocketAddr;
use std::sync::mpsc;
use tokio::sync::watch;

/// A running mock; it ends with this.
pub struct Ours {
    address: SocketAddr,
    /// Deleted with it: cases write files.
    _directory: tempfile::TempDir,
    _stop: watch::Sender<bool>,
}

impl Ours {
    pub fn start() -> Self {
        let mut config = MockConfig::new("127.0.0.1:0".parse().unwrap());
        let directory = root_directory();
        config.root_dir = Some(directory.path().to_owned());
        // Every request is told how it differs.
        config.differences_per_second = 1_000_000;
        // Cases that proxy send requests to the server itself.
        config.outgoing.targets = Targets::new(&["127.0.0.1"], &[]).unwrap();
        let (ready, address) = mpsc::channel();
        let (stop, stopped) = watch::channel(false);
        std::thread::spawn(move || {
            run(config, |bound| ready.send(bound[0].1).unwrap(), stopped).unwrap()
        });
        Self {
            address: address.recv().unwrap(),
            _directory: directory,
            _stop: stop,
        }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }
}
