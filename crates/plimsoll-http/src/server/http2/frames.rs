//! How many frames a client may send that carry nothing: PRIORITY, WINDOW_UPDATE, PING, SETTINGS and kinds that nobody knows cost it nothing,
//! and the server a look at each, and some an answer.
//!
//! The crate `h2` looks at frames and tells nobody, so they are counted beneath it, by their heads alone; what they say is left to it.

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

/// Frames that carry nothing, at once.
const SPARE: f64 = 2_000.0;
/// How many more there may be for each second that passes.
const PER_SECOND: f64 = 20.0;
/// For each request that begins, such as a browser's words on its priority.
const PER_REQUEST: f64 = 8.0;
/// For each frame of data that the client is sent, which it may answer with windows and a PING.
const PER_DATA: f64 = 4.0;

/// Bytes of the client's preface, before any frame (RFC 9113, section 3.4).
const PREFACE_BYTES: usize = 24;
/// Length, kind, flags and stream (RFC 9113, section 4.1).
const HEAD_BYTES: usize = 9;
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const CONTINUATION: u8 = 9;

/// A connection whose frames are counted in both directions.
#[derive(Debug)]
pub(super) struct Counted<S> {
    stream: S,
    received: Heads,
    sent: Heads,
    budget: Rc<RefCell<Budget>>,
}

/// A client's allowance of frames that carry nothing.
#[derive(Debug)]
pub(super) struct Budget {
    left: f64,
    at: Instant,
}

impl Budget {
    /// Of a client that begins at `now`.
    pub(super) fn new(now: Instant) -> Self {
        Self {
            left: SPARE,
            at: now,
        }
    }

    /// Whether the client has sent more of them than it may.
    pub(super) fn is_spent(&self) -> bool {
        self.left < 0.0
    }

    fn pass(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.at).as_secs_f64();
        self.at = now;
        self.earn(passed * PER_SECOND);
    }

    fn received(&mut self, frame: Head) {
        match frame.kind {
            HEADERS => self.earn(PER_REQUEST),
            // The crate `h2` has limits for these.
            CONTINUATION => {}
            DATA if frame.bytes > 0 => {}
            _ => self.left -= 1.0,
        }
    }

    fn sent(&mut self, frame: Head) {
        if frame.kind == DATA && frame.bytes > 0 {
            self.earn(PER_DATA);
        }
    }

    /// Nothing is earned any more by who has overdrawn.
    fn earn(&mut self, more: f64) {
        if !self.is_spent() {
            self.left = (self.left + more).min(SPARE);
        }
    }
}

impl<S> Counted<S> {
    /// A connection from its preface on.
    pub(super) fn new(stream: S, budget: Rc<RefCell<Budget>>) -> Self {
        Self {
            stream,
            received: Heads::behind(PREFACE_BYTES),
            sent: Heads::behind(0),
            budget,
        }
    }
}

/// Content of a frame's head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Head {
    kind: u8,
    bytes: usize,
}

/// Finds the heads of frames in what passes, in whatever pieces.
#[derive(Debug)]
struct Heads {
    /// Bytes until the next head.
    skip: usize,
    /// As much as is known of that head.
    head: [u8; HEAD_BYTES],
    known: usize,
}

impl Heads {
    fn behind(skip: usize) -> Self {
        Self {
            skip,
            head: [0; HEAD_BYTES],
            known: 0,
        }
    }

    fn pass(&mut self, mut bytes: &[u8], mut found: impl FnMut(Head)) {
        loop {
            let skipped = self.skip.min(bytes.len());
            self.skip -= skipped;
            bytes = &bytes[skipped..];
            let taken = (HEAD_BYTES - self.known).min(bytes.len());
            if taken == 0 {
                return;
            }
            self.head[self.known..self.known + taken].copy_from_slice(&bytes[..taken]);
            self.known += taken;
            bytes = &bytes[taken..];
            if self.known == HEAD_BYTES {
                let [high, middle, low, kind, ..] = self.head;
                let length = u32::from_be_bytes([0, high, middle, low]) as usize;
                found(Head {
                    kind,
                    bytes: length,
                });
                (self.skip, self.known) = (length, 0);
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Counted<S> {
    /// Nothing more is read once the budget is spent: who polls looks at that.
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Self {
            stream,
            received,
            budget,
            ..
        } = self.get_mut();
        if budget.borrow().is_spent() {
            return Poll::Pending;
        }
        let before = buffer.filled().len();
        let polled = Pin::new(stream).poll_read(context, buffer);
        let mut budget = budget.borrow_mut();
        budget.pass(Instant::now());
        received.pass(&buffer.filled()[before..], |head| budget.received(head));
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Counted<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(context, &[io::IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let Self {
            stream,
            sent,
            budget,
            ..
        } = self.get_mut();
        let polled = match slices {
            [bytes] => Pin::new(stream).poll_write(context, bytes),
            _ => Pin::new(stream).poll_write_vectored(context, slices),
        };
        if let Poll::Ready(Ok(mut written)) = polled {
            let mut budget = budget.borrow_mut();
            for bytes in slices {
                let part = written.min(bytes.len());
                sent.pass(&bytes[..part], |head| budget.sent(head));
                written -= part;
            }
        }
        polled
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn heads(bytes: &[u8], piece: usize) -> Vec<Head> {
        let mut heads = Heads::behind(3);
        let mut found = Vec::new();
        for piece in bytes.chunks(piece) {
            heads.pass(piece, |head| found.push(head));
        }
        found
    }

    #[test]
    fn heads_are_found_in_whatever_pieces_they_come() {
        let frame = |kind: u8, length: u8| {
            let head = [0, 0, length, kind, 0, 0, 0, 0, 1];
            [&head[..], &vec![0xff; usize::from(length)]].concat()
        };
        let bytes = [
            b"pre".to_vec(),
            frame(6, 8),
            frame(0, 0),
            frame(200, 255),
            frame(2, 5),
        ];
        let expected =
            [(6, 8), (0, 0), (200, 255), (2, 5)].map(|(kind, bytes)| Head { kind, bytes });
        for piece in 1..64 {
            assert_eq!(heads(&bytes.concat(), piece), expected, "{piece}");
        }
    }

    #[test]
    fn so_many_may_carry_nothing_as_requests_answers_and_time_allow() {
        let start = Instant::now();
        let check = |kinds: &[(u8, usize, u32)], seconds: u64, expected: bool| {
            let mut budget = Budget::new(start);
            (0..2_000).for_each(|_| budget.received(Head { kind: 6, bytes: 8 }));
            budget.pass(start + Duration::from_secs(seconds));
            for (kind, bytes, count) in kinds {
                let head = Head {
                    kind: *kind,
                    bytes: *bytes,
                };
                (0..*count).for_each(|_| budget.received(head));
            }
            assert_eq!(budget.is_spent(), expected, "{kinds:?} {seconds}");
        };
        check(&[], 0, false);
        check(&[(2, 5, 1)], 0, true);
        check(&[(0, 0, 1)], 0, true);
        check(&[(0, 9, 100_000), (9, 9, 100_000)], 0, false);
        check(&[(1, 9, 1), (8, 4, 8)], 0, false);
        check(&[(1, 9, 1), (8, 4, 9)], 0, true);
        check(&[(2, 5, 1), (1, 9, 100)], 0, true);
        check(&[(4, 0, 20)], 1, false);
        check(&[(4, 0, 21)], 1, true);
    }

    #[test]
    fn what_the_client_is_sent_lets_it_answer() {
        let mut budget = Budget::new(Instant::now());
        for _ in 0..100_000 {
            budget.sent(Head {
                kind: DATA,
                bytes: 1,
            });
            (0..4).for_each(|_| budget.received(Head { kind: 8, bytes: 4 }));
        }
        assert!(!budget.is_spent());
        for _ in 0..=2_000 {
            budget.sent(Head { kind: 6, bytes: 8 });
            budget.sent(Head {
                kind: DATA,
                bytes: 0,
            });
            budget.received(Head { kind: 6, bytes: 8 });
        }
        assert!(budget.is_spent());
    }
}
