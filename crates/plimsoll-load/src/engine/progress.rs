//! How far an exchange on an open connection has come.

use crate::clock::{Clock, Nanos};
use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::Pin;

/// How far an exchange on an open connection has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Point {
    /// The request goes out.
    Request,
    /// It is out, and nothing of the answer is here.
    FirstByte,
    /// Something of the answer's head is here.
    Head,
    /// The answer's head is here.
    Body,
}

/// How far an exchange has come, for who waits for it with a deadline or has to say why it failed.
#[derive(Debug)]
pub(super) struct Progress {
    point: Cell<Point>,
    first_byte: Cell<Option<Nanos>>,
    /// Whether the connection was made for this exchange.
    pub(super) fresh: bool,
}

impl Progress {
    /// An exchange about to begin, on a connection that was made for it or not.
    pub(super) fn new(fresh: bool) -> Self {
        Self {
            point: Cell::new(Point::Request),
            first_byte: Cell::new(None),
            fresh,
        }
    }

    /// It has come at least so far.
    pub(super) fn reached(&self, point: Point) {
        if point > self.point.get() {
            self.point.set(point);
        }
    }

    /// How far it has come.
    pub(super) fn point(&self) -> Point {
        self.point.get()
    }

    /// When it came, unless everything came with it.
    pub(super) fn first_byte(&self) -> Option<Nanos> {
        self.first_byte.get()
    }

    /// Awaits the rest of an answer whose first byte just came. Only if that has to wait is the clock read.
    pub(super) async fn rest<T>(
        &self,
        clock: Clock,
        mut rest: Pin<&mut impl Future<Output = T>>,
    ) -> T {
        poll_fn(|context| {
            let polled = rest.as_mut().poll(context);
            if polled.is_pending() && self.first_byte.get().is_none() {
                self.first_byte.set(Some(clock.now()));
            }
            polled
        })
        .await
    }
}
