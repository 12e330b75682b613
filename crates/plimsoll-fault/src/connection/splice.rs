//! Bulk without a copy: bytes go from socket to socket through a pipe (splice(2)), where no toxic looks at them.

use bytes::Bytes;
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, SpliceFlags, fcntl_setpipe_size, pipe_with};
use std::cell::RefCell;
use std::io;
use std::os::fd::OwnedFd;
use std::task::{Context, Poll, ready};
use tokio::io::Interest;
use tokio::net::TcpStream;

/// The most that is moved at once. A connection has 16 such pieces before others have their turn: about a millisecond.
const MOST_BYTES: usize = 256 * 1024;
/// The least that is worth it: fewer bytes are copied for less.
pub const LEAST_BYTES: usize = 32 * 1024;

thread_local! {
    /// One pipe for all connections of a shard: it is empty whenever a piece has been moved. None where there can be none.
    static PIPE: RefCell<Option<Pipe>> = RefCell::new(Pipe::new().ok());
}

/// A piece that was moved.
#[derive(Debug)]
pub struct Spliced {
    /// How many bytes came; none at the end.
    pub received: usize,
    /// How many of them went on.
    pub sent: io::Result<usize>,
    /// Those that the receiver did not take.
    pub rest: Bytes,
}

/// Moves a piece when there is one and the receiver takes some of it. None: this thread has no pipe.
///
/// # Errors
/// The sender's; those of the receiver are in [`Spliced`].
pub fn splice(
    context: &mut Context<'_>,
    sender: &TcpStream,
    receiver: &TcpStream,
) -> Poll<io::Result<Option<Spliced>>> {
    PIPE.with_borrow_mut(|place| {
        let Some(pipe) = place else {
            return Poll::Ready(Ok(None));
        };
        // What is not read needs not be kept.
        ready!(receiver.poll_write_ready(context))?;
        let received = match ready!(pipe.fill(context, sender)) {
            Err(error) if is_unsupported(&error) => {
                *place = None;
                return Poll::Ready(Ok(None));
            }
            received => received?,
        };
        let sent = pipe.pour(receiver, received);
        let left = received - *sent.as_ref().unwrap_or(&0);
        let rest = match pipe.empty(left) {
            Ok(rest) => rest,
            Err(error) => {
                // Whatever is left in it is nobody else's.
                *place = Pipe::new().ok();
                return Poll::Ready(Err(error));
            }
        };
        Poll::Ready(Ok(Some(Spliced {
            received,
            sent,
            rest,
        })))
    })
}

fn is_unsupported(error: &io::Error) -> bool {
    let kinds = [io::ErrorKind::InvalidInput, io::ErrorKind::Unsupported];
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
        fcntl_setpipe_size(&writer, MOST_BYTES)?;
        Ok(Self { reader, writer })
    }

    fn fill(&self, context: &mut Context<'_>, sender: &TcpStream) -> Poll<io::Result<usize>> {
        loop {
            ready!(sender.poll_read_ready(context))?;
            let filled = sender.try_io(Interest::READABLE, || {
                let flags = SpliceFlags::NONBLOCK;
                Ok(rustix::pipe::splice(
                    sender,
                    None,
                    &self.writer,
                    None,
                    MOST_BYTES,
                    flags,
                )?)
            });
            if !is_not_ready(&filled) {
                return Poll::Ready(filled);
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
                poured if is_not_ready(&poured) => break,
                poured => sent += poured?,
            }
        }
        Ok(sent)
    }

    /// Takes the bytes that it still holds, at most so many.
    fn empty(&self, most: usize) -> io::Result<Bytes> {
        let mut bytes = vec![0; most];
        let mut taken = 0;
        while taken < most {
            match rustix::io::read(&self.reader, &mut bytes[taken..]) {
                Ok(count) => taken += count,
                // Its receiver failed when it had taken some.
                Err(Errno::AGAIN) => break,
                Err(error) => return Err(error.into()),
            }
        }
        bytes.truncate(taken);
        Ok(bytes.into())
    }
}

fn is_not_ready(moved: &io::Result<usize>) -> bool {
    let error = moved.as_ref().err();
    error.is_some_and(|error| error.kind() == io::ErrorKind::WouldBlock)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;
    use tokio::task::JoinSet;

    async fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (client, server) = tokio::join!(TcpStream::connect(address), listener.accept());
        (client.unwrap(), server.unwrap().0)
    }

    /// The receiver takes nothing for a while: what it did not take is handed over, in order.
    #[tokio::test]
    async fn nothing_is_lost_where_the_receiver_is_slow() {
        let (mut source, sender) = pair().await;
        let (receiver, mut sink) = pair().await;
        let bytes: Vec<u8> = (0..16_000_000_u32)
            .map(|n| n.to_le_bytes()[0] ^ n.to_le_bytes()[2])
            .collect();
        let all = bytes.clone();
        let mut sending = JoinSet::new();
        sending.spawn(async move { source.write_all(&all).await.unwrap() });
        let rest = std::future::poll_fn(|context| {
            loop {
                let spliced = ready!(splice(context, &sender, &receiver));
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
