//! Moving a piece of one direction: read, through the toxics, and written.

use super::exchange::{Exchange, Goes};
use super::lane::Lane;
use crate::account::{Account, Turns};
use crate::direction::Direction;
use crate::passage::{Content, Item};
use bytes::Bytes;
use plimsoll_http::splice::{self, splice};
use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead as _, AsyncWrite as _, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Instant;

/// The most that is read at once where no toxic waits for it.
const CLEAR_BYTES: usize = 64 * 1024;
/// The most that is one piece for toxics: what Toxiproxy reads at once.
const PIECE_BYTES: usize = 32 * 1024;

thread_local! {
    /// One buffer for all connections of a shard: bytes that are read go out again at once, or are copied.
    static BUFFER: RefCell<Box<[u8]>> = RefCell::new(vec![0; CLEAR_BYTES].into());
}

/// How moving a lane went.
#[derive(Debug)]
pub enum Moved {
    /// Nothing moved; more will at this moment, if time alone will tell.
    Nothing(Option<Instant>),
    /// Something did.
    Something,
    /// The receiver has reset the connection.
    Failed,
    /// The connection is to end: what its receiver has got is all.
    Cut,
    /// The connection is to be reset.
    Reset,
}

/// Sender or receiver of a direction.
#[derive(Debug)]
pub enum Peer<'a> {
    /// It is there.
    Here(&'a mut TcpStream),
    /// It will be.
    Awaited,
    /// It will never be.
    Absent,
}

/// One direction, its two ends, and what is counted.
#[derive(Debug)]
pub struct Step<'a> {
    pub direction: Direction,
    pub lane: &'a mut Lane,
    pub sender: Peer<'a>,
    pub receiver: Peer<'a>,
    pub account: &'a Account,
    pub turns: &'a mut Turns,
    pub exchange: &'a mut Option<Box<Exchange>>,
}

impl Step<'_> {
    /// Moves a piece.
    pub fn take(mut self, context: &mut Context<'_>) -> Moved {
        if self.lane.is_clear()
            && !self.lane.ended
            && !self.lane.deaf
            && self.exchange.is_none()
            && let (Peer::Here(_), Peer::Here(_)) = (&self.sender, &self.receiver)
        {
            return match self.lane.is_bulk {
                true => self.splice(context),
                false => self.relay(context),
            };
        }
        self.pass(context)
    }

    /// Without toxics: what is read is written at once; only what the receiver does not take is kept.
    fn relay(&mut self, context: &mut Context<'_>) -> Moved {
        BUFFER.with_borrow_mut(|buffer| match self.read(context, buffer) {
            Poll::Pending => Moved::Nothing(None),
            Poll::Ready(Ok(0)) => self.end(Content::End),
            Poll::Ready(Err(_)) => self.end(Content::Reset),
            Poll::Ready(Ok(count)) => {
                self.lane.is_bulk = count == CLEAR_BYTES;
                let bytes = &buffer[..count];
                match self.write(context, bytes) {
                    Poll::Ready(Ok(written)) if written == count => {}
                    Poll::Ready(Ok(written)) => {
                        self.keep(Bytes::copy_from_slice(&bytes[written..]))
                    }
                    Poll::Pending => self.keep(Bytes::copy_from_slice(bytes)),
                    Poll::Ready(Err(error)) => return self.give_up(&error),
                }
                Moved::Something
            }
        })
    }

    /// As [`Self::relay`], where bytes come in bulk: they are not even copied.
    fn splice(&mut self, context: &mut Context<'_>) -> Moved {
        let (Peer::Here(sender), Peer::Here(receiver)) = (&self.sender, &self.receiver) else {
            return Moved::Nothing(None);
        };
        // Bytes that are not read need not be kept.
        let moved = match receiver.poll_write_ready(context) {
            Poll::Ready(Ok(())) => splice(context, sender, receiver, splice::MOST_BYTES),
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => Poll::Pending,
        };
        match moved {
            Poll::Pending => Moved::Nothing(None),
            Poll::Ready(Err(_)) => self.end(Content::Reset),
            Poll::Ready(Ok(None)) => {
                self.lane.is_bulk = false;
                Moved::Something
            }
            Poll::Ready(Ok(Some(spliced))) if spliced.received == 0 => self.end(Content::End),
            Poll::Ready(Ok(Some(spliced))) => {
                self.lane.is_bulk = spliced.received >= splice::LEAST_BYTES;
                self.count_received(spliced.received);
                match spliced.sent {
                    Ok(count) => self.count_sent(count),
                    Err(error) => return self.give_up(&error),
                }
                if !spliced.rest.is_empty() {
                    self.keep(spliced.rest.into());
                }
                Moved::Something
            }
        }
    }

    /// Through the toxics, or waiting for an end that takes more.
    fn pass(&mut self, context: &mut Context<'_>) -> Moved {
        let now = Instant::now();
        let wake = self.lane.advance(now);
        self.account
            .add_lateness(std::mem::take(&mut self.lane.lateness));
        match self.deliver(context) {
            Moved::Nothing(_) => {}
            moved => return moved,
        }
        if self.lane.ended || !self.lane.has_room() {
            return Moved::Nothing(wake);
        }
        let read = BUFFER.with_borrow_mut(|buffer| {
            let read = self.read(context, &mut buffer[..PIECE_BYTES]);
            read.map_ok(|count| Bytes::copy_from_slice(&buffer[..count]))
        });
        match read {
            Poll::Pending => Moved::Nothing(wake),
            Poll::Ready(Ok(bytes)) if bytes.is_empty() => self.end(Content::End),
            Poll::Ready(Err(_)) => self.end(Content::Reset),
            Poll::Ready(Ok(bytes)) => self.take_in(bytes),
        }
    }

    /// Takes in what the sender has sent, or what of it belongs to the exchange.
    fn take_in(&mut self, mut bytes: Bytes) -> Moved {
        let goes = match self.exchange.as_mut() {
            Some(exchange) => exchange.follow(self.direction, &bytes),
            None => Goes::Part(bytes.len()),
        };
        match goes {
            Goes::Part(count) | Goes::Last(count) => bytes.truncate(count),
            Goes::Unheard => *self.exchange = None,
        }
        if !self.lane.deaf && !bytes.is_empty() {
            self.lane.push(Item {
                arrived: Instant::now(),
                content: Content::Data(bytes),
            });
        }
        match goes {
            Goes::Last(_) => self.end(Content::End),
            Goes::Part(_) | Goes::Unheard => Moved::Something,
        }
    }

    /// Writes what has passed the toxics.
    fn deliver(&mut self, context: &mut Context<'_>) -> Moved {
        if self.lane.deaf {
            self.lane.out.clear();
        }
        let Some(first) = self.lane.out.front() else {
            return Moved::Nothing(None);
        };
        match &first.content {
            Content::Cut => Moved::Cut,
            Content::Reset => Moved::Reset,
            Content::Data(bytes) => {
                let bytes = bytes.clone();
                match self.write(context, &bytes) {
                    Poll::Pending => return Moved::Nothing(None),
                    Poll::Ready(Ok(written)) => self.lane.out.consume(written),
                    Poll::Ready(Err(error)) => return self.give_up(&error),
                }
                Moved::Something
            }
            // The client has its answer; what it still sends, no server would get.
            Content::End if self.direction == Direction::Downstream && self.exchange.is_some() => {
                Moved::Cut
            }
            Content::End => {
                let ended = match &mut self.receiver {
                    Peer::Here(stream) => Pin::new(&mut **stream).poll_shutdown(context),
                    Peer::Awaited => Poll::Pending,
                    Peer::Absent => Poll::Ready(Ok(())),
                };
                if ended.is_pending() {
                    return Moved::Nothing(None);
                }
                self.lane.out.consume(usize::MAX);
                self.lane.finished = true;
                Moved::Something
            }
        }
    }

    fn read(&mut self, context: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let Peer::Here(sender) = &mut self.sender else {
            return Poll::Pending;
        };
        let mut buffer = ReadBuf::new(buffer);
        let read = Pin::new(&mut **sender).poll_read(context, &mut buffer);
        let count = buffer.filled().len();
        if count > 0 {
            self.count_received(count);
        }
        read.map_ok(|()| count)
    }

    fn count_received(&mut self, count: usize) {
        self.account.received(self.direction).add(count as u64);
        if self.direction == Direction::Downstream {
            self.turns.answer(self.account);
        }
    }

    /// Writes some; to an absent receiver all of it.
    fn write(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = match &mut self.receiver {
            Peer::Here(receiver) => Pin::new(&mut **receiver).poll_write(context, bytes),
            Peer::Awaited => Poll::Pending,
            Peer::Absent => return Poll::Ready(Ok(bytes.len())),
        };
        if let Poll::Ready(Ok(count)) = &written {
            self.count_sent(*count);
        }
        written
    }

    fn count_sent(&mut self, count: usize) {
        self.account.sent(self.direction).add(count as u64);
        if self.direction == Direction::Upstream {
            self.turns.ask(self.account);
        }
    }

    fn keep(&mut self, bytes: Bytes) {
        self.lane.out.push(Item {
            arrived: Instant::now(),
            content: Content::Data(bytes),
        });
    }

    /// The receiver takes nothing more. A reset that is met here is not met again by who reads from it; one that came behind its end (EPIPE)
    /// makes that end no worse.
    fn give_up(&mut self, error: &io::Error) -> Moved {
        self.lane.deaf = true;
        match error.kind() {
            io::ErrorKind::ConnectionReset => Moved::Failed,
            _ => Moved::Something,
        }
    }

    /// The sender sends nothing more.
    fn end(&mut self, how: Content) -> Moved {
        self.lane.ended = true;
        let how = match self.lane.is_reset {
            true => Content::Reset,
            false => how,
        };
        self.lane.push(Item {
            arrived: Instant::now(),
            content: how,
        });
        Moved::Something
    }
}

/// Reads what a peer sends and drops it; ready when it ends.
pub fn discard(context: &mut Context<'_>, peer: &mut TcpStream) -> Poll<()> {
    loop {
        let read = BUFFER.with_borrow_mut(|buffer| {
            let mut buffer = ReadBuf::new(buffer);
            let read = Pin::new(&mut *peer).poll_read(context, &mut buffer);
            read.map_ok(|()| buffer.filled().len())
        });
        match read {
            Poll::Ready(Ok(count)) if count > 0 => {}
            Poll::Ready(_) => return Poll::Ready(()),
            Poll::Pending => return Poll::Pending,
        }
    }
}
