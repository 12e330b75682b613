//! `silence`: nothing goes on, and nothing is lost. Toxiproxy has no such toxic.

use super::{Kind, Next, Passage, Reach};
use tokio::time::Instant;

/// Bytes, ends and resets are held until the toxic is removed, and then go on: what a partition of the network does to TCP. Little
/// is taken meanwhile, so that the sender's buffers fill.
#[derive(Debug, Default, Clone)]
pub struct Silence;

impl Kind for Silence {
    const NAME: &'static str = "silence";
    type State = ();

    fn begin(&self, _: Instant) {}

    fn advance(&self, (): &mut (), _: &mut Passage<'_>) -> Next {
        Next::Idle
    }

    fn reach(&self) -> Reach {
        Reach {
            holds_clients: true,
            ..Reach::default()
        }
    }
}
