//! `refuse`: nobody listens. Toxiproxy has no such toxic; its `enabled: false` closes connections where this resets them.

use super::{Kind, Reach};
use tokio::time::Instant;

/// The proxy listens no more, and its connections are reset; when the last of these is removed, it listens again.
#[derive(Debug, Default, Clone)]
pub struct Refuse;

impl Kind for Refuse {
    const NAME: &'static str = "refuse";
    type State = ();

    fn begin(&self, _: Instant) {}

    fn reach(&self) -> Reach {
        Reach {
            refuses: true,
            ..Reach::default()
        }
    }
}
