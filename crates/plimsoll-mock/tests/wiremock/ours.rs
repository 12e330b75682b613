//! This mock, in a thread.

use super::answers::body_files;
use plimsoll_mock::{MockConfig, run};
use std::net::SocketAddr;
use std::sync::mpsc;
use tokio::sync::watch;

/// A running mock; it ends with this.
pub struct Ours {
    address: SocketAddr,
    _stop: watch::Sender<bool>,
}

impl Ours {
    pub fn start() -> Self {
        let mut config = MockConfig::new("127.0.0.1:0".parse().unwrap());
        config.root_dir = Some(body_files());
        let (ready, address) = mpsc::channel();
        let (stop, stopped) = watch::channel(false);
        std::thread::spawn(move || {
            run(config, |bound| ready.send(bound[0].1).unwrap(), stopped).unwrap()
        });
        Self {
            address: address.recv().unwrap(),
            _stop: stop,
        }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }
}
