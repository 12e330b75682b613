//! `connect_delay`: connections to the server are made later. Toxiproxy has no such toxic.

use super::{Kind, Reach, milliseconds};
use tokio::time::Instant;

/// The connection to the server is begun `delay` milliseconds after the client's was accepted. The client's own handshake is the
/// kernel's and cannot wait; its first byte does.
#[derive(Debug, Default, Clone)]
pub struct ConnectDelay {
    delay: i64,
}

impl Kind for ConnectDelay {
    const NAME: &'static str = "connect_delay";
    type State = ();

    fn attributes(&mut self) -> Vec<(&'static str, &mut i64)> {
        vec![("delay", &mut self.delay)]
    }

    fn begin(&self, _: Instant) {}

    fn reach(&self) -> Reach {
        Reach {
            connect_delay: milliseconds(self.delay),
            ..Reach::default()
        }
    }
}
