//! Bulk without a copy: bytes go from socket to socket through a pipe (splice(2)), where nobody looks at them.

use plimsoll_base::ignored::Ignored as _;
use rustix::buffer::spare_capacity;
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, SpliceFlags, fcntl_setpipe_size, pipe_with};
use std::cell::RefCell;
use std::io;
use std::os::fd::OwnedFd;
use std::task::{Context, Poll, ready};
use tokio::io::Interest;
use tokio::net::TcpStream;

/// The most that is moved at once.
pub const MOST_BYTES: usize = 256 * 1024;
/// The least that is worth it. To read and write fewer bytes costs less than two calls for a pipe.
pub const LEAST_BYTES: usize = 32 * 1024;

thread_local! {
    /// One pipe for all connections of a shard: it is empty whenever a piece has been moved.
    static PIPE: RefCell<Option<Pipe>> = const { RefCell::new(None) };
}

/// A piece that was moved.
#[derive(Debug)]
pub struct Spliced {
    /// How many bytes came; none at the end.
    pub received: usize,
    /// How many of them went on.
    pub sent: io::Result<usize>,
    /// Those that the receiver did not take.
    pub rest: Vec<u8>,
}

/// Moves a piece of at most `most` bytes when there is one. The receiver is not waited for. None: that is not possible here.
///
/// # Errors
/// The sender's; those of the receiver are in [`Spliced`].
pub fn splice(
    context: &mut Context<'_>,
    sender: &TcpStream,
    receiver: &TcpStream,
    most: usize,
) -> Poll<io::Result<Option<Spliced>>> {
    PIPE.with_borrow_mut(|place| {
        if place.is_none() {
            // There may be no descriptors now, and some another time.
            *place = Pipe::new().ok();
        }
        let Some(pipe) = place else {
            return Poll::Ready(Ok(None));
        };
        let received = match ready!(pipe.fill(context, sender, most.min(MOST_BYTES))) {
            Err(error) if is_unsupported(&error) => return Poll::Ready(Ok(None)),
            received => received?,
        };
        let sent = pipe.pour(receiver, received);
        let left = received - *sent.as_ref().unwrap_or(&0);
        let (sent, rest) = match pipe.empty(left) {
            Ok(rest) => (sent, rest),
            Err(error) => {
                // Whatever is left in it is nobody else's.
                *place = None;
                (Err(error), Vec::new())
            }
        };
        Poll::Ready(Ok(Some(Spliced {
            received,
            sent,
            rest,
        })))
    })
}

/// Whether the system does not do it, for these sockets or at all.
fn is_unsupported(error: &io::Error) -> bool {
    let kinds = [
        io::ErrorKind::InvalidInput,
        io::ErrorKind::Unsupported,
        io::ErrorKind::PermissionDenied,
    ];
    kinds.contains(&error.kind())
}

/// Both ends of a pipe.
#[derive(Debug)]
struct Pipe {
    reader: OwnedFd,
    writer: OwnedFd,
}

impl Pipe {
    fn new() -> io::Result<Self> {
        let (reader, writer) = pipe_with(PipeFlags::NONBLOCK | PipeFlags::CLOEXEC)?;
        fcntl_setpipe_size(&writer, MOST_BYTES).ignored("a smaller one moves smaller pieces");
        Ok(Self { reader, writer })
    }

    fn fill(
        &self,
        context: &mut Context<'_>,
        sender: &TcpStream,
        most: usize,
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(sender.poll_read_ready(context))?;
            let filled = sender.try_io(Interest::READABLE, || {
                let flags = SpliceFlags::NONBLOCK;
                Ok(rustix::pipe::splice(
                    sender,
                    None,
                    &self.writer,
                    None,
                    most,
                    flags,
                )?)
            });
            match filled {
                Err(error) if is_not_ready(&error) => {}
                filled => return Poll::Ready(filled),
            }
        }
    }

    /// Sends so many bytes, or as many of them as the receiver takes now.
    fn pour(&self, receiver: &TcpStream, count: usize) -> io::Result<usize> {
        let mut sent = 0;
        while sent < count {
            let poured = receiver.try_io(Interest::WRITABLE, || {
                let flags = SpliceFlags::NONBLOCK;
                let left = count - sent;
                Ok(rustix::pipe::splice(
                    &self.reader,
                    None,
                    receiver,
                    None,
                    left,
                    flags,
                )?)
            });
            match poured {
                Ok(0) => break,
                Err(error) if is_not_ready(&error) || is_unsupported(&error) => break,
                poured => sent += poured?,
            }
        }
        Ok(sent)
    }

    /// Takes the bytes that it still holds, at most so many.
    fn empty(&self, most: usize) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(most);
        while bytes.len() < most {
            match rustix::io::read(&self.reader, spare_capacity(&mut bytes)) {
                Ok(_) => {}
                // Its receiver failed when it had taken some.
                Err(Errno::AGAIN) => break,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(bytes)
    }
}

fn is_not_ready(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_testbed::port::connected;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::task::JoinSet;

    /// The receiver takes nothing for a while: what it did not take is handed over, in order.
    #[tokio::test]
    async fn nothing_is_lost_where_the_receiver_is_slow() {
        let (mut source, sender) = connected().await.unwrap();
        let (receiver, mut sink) = connected().await.unwrap();
        let bytes: Vec<u8> = (0..16_000_000_u32)
            .map(|n| n.to_le_bytes()[0] ^ n.to_le_bytes()[2])
            .collect();
        let all = bytes.clone();
        let mut sending = JoinSet::new();
        sending.spawn(async move { source.write_all(&all).await.unwrap() });
        let rest = std::future::poll_fn(|context| {
            loop {
                let spliced = ready!(splice(context, &sender, &receiver, MOST_BYTES));
                let spliced = spliced.unwrap().unwrap();
                if !spliced.rest.is_empty() {
                    assert_eq!(spliced.sent.unwrap() + spliced.rest.len(), spliced.received);
                    return Poll::Ready(spliced.rest);
                }
            }
        })
        .await;
        drop(receiver);
        let mut got = Vec::new();
        sink.read_to_end(&mut got).await.unwrap();
        got.extend_from_slice(&rest);
        assert!(got == bytes[..got.len()]);
        drop(sending);
    }
}
