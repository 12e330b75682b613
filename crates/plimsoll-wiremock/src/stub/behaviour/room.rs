//! `"maxConcurrency": {"requests": 10, "on_overflow": "queue", "queue": 1000}`: so many are served at a time; a further one waits for its turn, if so
//! many do not already, or is refused with 503.

use super::count;
use crate::reader::{Node, Problems};
use crate::response::answer::Answer;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many wait at most where nothing is said.
const DEFAULT_QUEUE: u32 = 10_000;

/// Places that all shards share.
#[derive(Debug, Clone)]
pub struct Room {
    places: Arc<Semaphore>,
    on_overflow: Overflow,
}

/// Fate of a request for which there is no place.
#[derive(Debug, Clone)]
enum Overflow {
    Refuse,
    Queue {
        waiting: Arc<AtomicU32>,
        longest: u32,
    },
}

/// There is no place, and none to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crowded;

impl Room {
    pub(super) fn read(node: &Node<'_>, problems: &mut Problems) -> Option<Self> {
        let mut object = node.object(problems)?;
        let requests = object.required("requests", problems);
        let requests = requests.and_then(|node| count(&node, problems));
        let queue = object.get("queue");
        let queue = queue.and_then(|node| count(&node, problems));
        let on_overflow = object.get("on_overflow");
        let on_overflow = match on_overflow.as_ref().map(|node| (node, node.value.as_str())) {
            None | Some((_, Some("queue"))) => Some(Overflow::Queue {
                waiting: Arc::default(),
                longest: queue.unwrap_or(DEFAULT_QUEUE),
            }),
            Some((_, Some("refuse"))) => Some(Overflow::Refuse),
            Some((node, _)) => node.wrong("\"queue\" or \"refuse\"", problems),
        };
        object.finish(&[], problems);
        Some(Self::new(requests?, on_overflow?))
    }

    fn new(requests: u32, on_overflow: Overflow) -> Self {
        let places = usize::try_from(requests).unwrap_or(usize::MAX);
        Self {
            places: Arc::new(Semaphore::new(places.min(Semaphore::MAX_PERMITS))),
            on_overflow,
        }
    }

    /// A place at once.
    pub fn try_enter(&self) -> Result<OwnedSemaphorePermit, Crowded> {
        let place = Arc::clone(&self.places).try_acquire_owned();
        place.map_err(|_| Crowded)
    }

    /// A place, after those who came before.
    pub async fn enter(&self) -> Result<OwnedSemaphorePermit, Crowded> {
        let Overflow::Queue { waiting, longest } = &self.on_overflow else {
            return self.try_enter();
        };
        if let Ok(place) = self.try_enter() {
            return Ok(place);
        }
        let turn = Turn::take(waiting, *longest)?;
        let place = Arc::clone(&self.places).acquire_owned().await;
        drop(turn);
        place.map_err(|_| Crowded)
    }

    /// The answer to a request without a place.
    pub fn refusal() -> Answer {
        Answer::text(503, "too many requests at a time\n")
    }
}

/// One who waits; it is given up with this, whatever ends the wait.
struct Turn<'a>(&'a AtomicU32);

impl<'a> Turn<'a> {
    fn take(waiting: &'a AtomicU32, longest: u32) -> Result<Self, Crowded> {
        let turn = Self(waiting);
        if waiting.fetch_add(1, Ordering::Relaxed) < longest {
            Ok(turn)
        } else {
            Err(Crowded)
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "current_thread")]
    async fn places_are_given_back() {
        let room = Room::new(1, Overflow::Refuse);
        let place = room.enter().await.unwrap();
        assert_eq!(room.enter().await.err(), Some(Crowded));
        drop(place);
        assert!(room.enter().await.is_ok());
    }

    #[tokio::test(flavor = "current_thread")]
    async fn so_many_wait() {
        let waiting = Arc::new(AtomicU32::new(0));
        let on_overflow = Overflow::Queue {
            waiting: Arc::clone(&waiting),
            longest: 1,
        };
        let room = Room::new(1, on_overflow);
        let place = room.enter().await.unwrap();
        let (second, third) = tokio::join!(room.enter(), async {
            let third = room.enter().await;
            drop(place);
            third
        });
        assert!(second.is_ok());
        assert_eq!(third.err(), Some(Crowded));
        assert_eq!(waiting.load(Ordering::Relaxed), 0);
    }
}
