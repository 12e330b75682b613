//! Bytes on their way through the toxics of one direction: queues of them, and stages between the queues.

use bytes::Bytes;
use plimsoll_base::random::Draw;
use std::collections::VecDeque;
use std::fmt::Debug;
use std::time::Duration;
use tokio::time::Instant;

/// Bytes, or an end of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Bytes, at least one.
    Data(Bytes),
    /// The sender sends nothing more: FIN.
    End,
    /// The connection failed or is to: RST.
    Reset,
    /// A toxic has cut the way: the receiver gets what is ahead of this, and then both connections are closed.
    Cut,
}

/// One piece, with the moment from which its time in the next stage counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// When it was read, or let go of by the stage before.
    pub arrived: Instant,
    /// Bytes, or an end.
    pub content: Content,
}

/// Pieces that wait, first in, first out.
#[derive(Debug, Default)]
pub struct Queue {
    items: VecDeque<Item>,
}

impl Queue {
    /// How many wait.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The first.
    pub fn front(&self) -> Option<&Item> {
        self.items.front()
    }

    /// Takes the first.
    pub fn pop(&mut self) -> Option<Item> {
        self.items.pop_front()
    }

    /// Takes the first `count` bytes of the first, or all of it if it has no more.
    pub fn pop_bytes(&mut self, count: usize) -> Option<Item> {
        match self.items.front_mut() {
            Some(Item {
                arrived,
                content: Content::Data(bytes),
            }) if bytes.len() > count => Some(Item {
                arrived: *arrived,
                content: Content::Data(bytes.split_to(count)),
            }),
            _ => self.items.pop_front(),
        }
    }

    /// Takes `count` bytes off the first, which were written.
    pub fn consume(&mut self, count: usize) {
        // What is taken off is not looked at.
        drop(self.pop_bytes(count));
    }

    /// Adds one behind all others.
    pub fn push(&mut self, item: Item) {
        self.items.push_back(item);
    }

    /// Adds all of another, in their order.
    pub fn append(&mut self, other: &mut Self) {
        self.items.append(&mut other.items);
    }

    /// Drops all.
    pub fn clear(&mut self) {
        self.items.clear();
    }
}

/// Pieces that were let go of after the moment that was awaited for them, because a timer or a processor came late.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Lateness {
    /// How many were awaited.
    pub pieces: u64,
    /// By how much they were late, in all.
    pub time: Duration,
}

/// A stage's moment: it may take from its queue, and give to the next.
#[derive(Debug)]
pub struct Passage<'a> {
    /// The moment.
    pub now: Instant,
    /// Pieces that wait before this stage.
    pub queue: &'a mut Queue,
    /// Pieces that wait before the next.
    pub next: &'a mut Queue,
    /// How many the next may hold.
    pub room: usize,
    /// The random values of this stage on this connection.
    pub draw: &'a mut Draw,
    /// How late pieces were let go of.
    pub lateness: &'a mut Lateness,
}

impl Passage<'_> {
    /// Whether the next stage takes another piece.
    pub fn has_room(&self) -> bool {
        self.next.len() < self.room
    }

    /// Lets the first piece go on, as of `at`.
    pub fn let_go(&mut self, at: Instant) {
        self.let_bytes_go(usize::MAX, at);
    }

    /// Lets so many bytes of the first piece go on, as of `at`.
    pub fn let_bytes_go(&mut self, count: usize, at: Instant) {
        if let Some(item) = self.queue.pop_bytes(count) {
            self.next.push(Item {
                arrived: at,
                ..item
            });
        }
    }

    /// Lets everything go on that there is room for.
    pub fn let_all_go(&mut self) {
        while self.has_room()
            && let Some(item) = self.queue.pop()
        {
            self.next.push(item);
        }
    }

    /// Ends this direction here: what waits is dropped, and `content` goes on behind what went before.
    pub fn end_with(&mut self, content: Content) -> Next {
        self.queue.clear();
        self.next.push(Item {
            arrived: self.now,
            content,
        });
        Next::Ended
    }
}

/// When a stage has something to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// When something more arrives, or the next stage has room again.
    Idle,
    /// At this moment.
    At(Instant),
    /// Never: it has ended its direction.
    Ended,
}

/// A toxic at work on one direction of one connection.
pub trait Stage: Debug {
    /// Lets go on what may.
    fn advance(&mut self, passage: &mut Passage<'_>) -> Next;

    /// Takes over changed attributes.
    fn update(&mut self, attributes: &[(&'static str, i64)]);
}
