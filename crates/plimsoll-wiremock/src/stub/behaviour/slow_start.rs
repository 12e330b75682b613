//! `"slowStart": {"duration": "30s", "delay": "500ms"}`: the first request waits so much longer, later ones less, and none any more when the time
//! is over. The time begins with the first request.

use super::duration;
use crate::reader::{Node, Problems};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::time::Instant;

/// A slow start that all shards share.
#[derive(Debug, Clone)]
pub struct SlowStart {
    duration: Duration,
    delay: Duration,
    first: Arc<OnceLock<Instant>>,
}

impl SlowStart {
    pub(super) fn read(node: &Node<'_>, problems: &mut Problems) -> Option<Self> {
        let mut object = node.object(problems)?;
        let mut time = |name, problems: &mut Problems| {
            let node = object.required(name, problems)?;
            duration(&node, problems)
        };
        let (duration, delay) = (time("duration", problems), time("delay", problems));
        object.finish(&[], problems);
        Some(Self {
            duration: duration?,
            delay: delay?,
            first: Arc::default(),
        })
    }

    /// Additional wait of a request that comes now.
    pub fn delay(&self, now: Instant) -> Duration {
        let first = *self.first.get_or_init(|| now);
        let since = now.saturating_duration_since(first);
        let left = self.duration.saturating_sub(since);
        self.delay
            .mul_f64(left.as_secs_f64() / self.duration.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delay_falls_to_nothing() {
        let slow = SlowStart {
            duration: Duration::from_secs(10),
            delay: Duration::from_millis(500),
            first: Arc::default(),
        };
        let start = Instant::now();
        for (seconds, millis) in [(0, 500), (5, 250), (8, 100), (10, 0), (11, 0)] {
            let delay = slow.delay(start + Duration::from_secs(seconds));
            assert_eq!(delay, Duration::from_millis(millis), "{seconds} s");
        }
    }
}
