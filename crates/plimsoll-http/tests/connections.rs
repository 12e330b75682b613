//! Connections over real sockets: keep-alive, pipelining, pools that notice a close, exclusive listeners, shards.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use plimsoll_http::{
    ConnectError, Limits, Listener, Pool, PoolLimits, ReadError, SpliceError, TcpClient, TcpServer,
    connect, encode, run_shards,
};
use plimsoll_testbed::port::Refusing;
use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

const PATIENCE: Duration = Duration::from_secs(10);
/// Bytes of a piece that is spliced.
const MOST: usize = 128 * 1024;
const CHUNKED: &str = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";

fn loopback() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

/// A connected pair over a real socket.
async fn pair() -> (TcpClient, TcpServer, SocketAddr) {
    let listener = Listener::bind(loopback()).unwrap();
    let addr = listener.local_addr().unwrap();
    let mut shard = listener.for_shard().unwrap();
    let (client, server) = tokio::join!(connect(addr, PATIENCE, Limits::default()), shard.accept());
    (
        client.unwrap(),
        TcpServer::from_stream(server.unwrap().0, Limits::default()),
        addr,
    )
}

fn queue_request(client: &mut TcpClient, target: &str, body: &str) {
    let out = client.output.buffer();
    encode::request_line(out, "POST", target);
    encode::field(out, "Host", "test");
    encode::content_length(out, body.len() as u64);
    encode::end_head(out);
    out.extend_from_slice(body.as_bytes());
}

fn queue_answer(server: &mut TcpServer, body: &str) {
    let out = server.output.buffer();
    encode::status_line(out, 200, None);
    encode::content_length(out, body.len() as u64);
    encode::end_head(out);
    out.extend_from_slice(body.as_bytes());
}

async fn read_answer(client: &mut TcpClient) -> String {
    client.responses.expect(false);
    client.responses.next_head().await.unwrap();
    let mut body = Vec::new();
    while let Some(data) = client.responses.next_data().await.unwrap() {
        body.extend_from_slice(data);
    }
    String::from_utf8(body).unwrap()
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order_and_unread_bodies_skipped() {
    let (mut client, mut server, _) = pair().await;
    queue_request(&mut client, "/1", "skipped");
    queue_request(&mut client, "/2", "read");
    client.output.flush().await.unwrap();

    assert!(server.requests.next_head().await.unwrap());
    assert_eq!(server.requests.head().path(), "/1");
    queue_answer(&mut server, "one");
    assert!(server.requests.next_head().await.unwrap());
    assert_eq!(server.requests.head().path(), "/2");
    let mut body = Vec::new();
    server.requests.read_body(&mut body).await.unwrap();
    assert_eq!(body, b"read");
    assert!(!server.requests.has_buffered());
    queue_answer(&mut server, "two");
    server.output.flush().await.unwrap();

    assert_eq!(read_answer(&mut client).await, "one");
    assert!(
        !client.is_reusable(),
        "the second answer is still to be read"
    );
    assert_eq!(read_answer(&mut client).await, "two");
    assert!(client.is_reusable());
    drop(client);
    assert!(
        !server.requests.next_head().await.unwrap(),
        "a close between requests is a clean end"
    );
}

#[tokio::test]
async fn a_body_cut_short_is_not_a_clean_end() {
    let (mut client, mut server, _) = pair().await;
    client
        .output
        .buffer()
        .extend_from_slice(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc");
    client.output.shutdown().await.unwrap();
    assert!(server.requests.next_head().await.unwrap());
    assert!(matches!(
        server.requests.read_body(&mut Vec::new()).await,
        Err(ReadError::Closed)
    ));
}

/// Bytes of bodies that were not read on their way, and how many of those their receivers did not take at once.
#[derive(Debug, Default)]
struct Spliced {
    bytes: Cell<usize>,
    queued: Cell<usize>,
}

/// Relays the body of the next request from `server` to `onward`, behind what is queued there.
async fn relay_body(
    server: &mut TcpServer,
    onward: &mut TcpClient,
    spliced: &Spliced,
) -> Result<(), SpliceError> {
    assert!(server.requests.next_head().await.unwrap());
    loop {
        let count = poll_fn(|cx| server.requests.poll_splice(cx, &mut onward.output, MOST)).await?;
        match count {
            Some(count) => {
                spliced.bytes.set(spliced.bytes.get() + count);
                let queued = onward.output.queued();
                spliced.queued.set(spliced.queued.get() + queued);
            }
            None => {
                let data = server.requests.next_data().await;
                let Some(data) = data.map_err(SpliceError::Source)? else {
                    return Ok(());
                };
                let written = onward.output.write_behind([data, b""]).await;
                written.map_err(SpliceError::Sink)?;
            }
        }
        onward.output.flush().await.map_err(SpliceError::Sink)?;
    }
}

/// Bytes that differ from those of every other place nearby.
fn bytes(count: usize) -> Vec<u8> {
    (0..count)
        .map(|n| n.to_le_bytes()[0] ^ n.to_le_bytes()[1] ^ n.to_le_bytes()[2])
        .collect()
}

#[tokio::test]
async fn a_body_in_bulk_is_spliced_to_its_last_byte_and_no_further() {
    const BODY: usize = 10_400_000;
    const LAST: usize = 40_000;
    let ((mut client, mut server, _), (mut onward, mut last, _)) = tokio::join!(pair(), pair());
    let body = bytes(BODY);
    let head = format!("POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: {BODY}\r\n\r\n");
    let arrived = RefCell::new(Vec::new());
    let spliced = Spliced::default();
    let sending = async {
        let out = client.output.buffer();
        out.extend_from_slice(head.as_bytes());
        out.extend_from_slice(&body[..BODY - LAST]);
        client.output.flush().await.unwrap();
        // The last piece comes by itself, with the next request behind it.
        while arrived.borrow().len() < BODY - LAST {
            tokio::task::yield_now().await;
        }
        let out = client.output.buffer();
        out.extend_from_slice(&body[BODY - LAST..]);
        queue_request(&mut client, "/2", "behind");
        client.output.flush().await.unwrap();
    };
    let relaying = async {
        onward.output.buffer().extend_from_slice(head.as_bytes());
        relay_body(&mut server, &mut onward, &spliced)
            .await
            .unwrap();
        assert!(!server.requests.body_pending());
        assert!(server.requests.next_head().await.unwrap());
        assert_eq!(server.requests.head().path(), "/2");
    };
    let arriving = async {
        // All that the system holds is full first.
        while spliced.queued.get() == 0 {
            tokio::task::yield_now().await;
        }
        assert!(last.requests.next_head().await.unwrap());
        while let Some(data) = last.requests.next_data().await.unwrap() {
            arrived.borrow_mut().extend_from_slice(data);
        }
    };
    let all = async { tokio::join!(sending, relaying, arriving) };
    timeout(PATIENCE, all).await.unwrap();
    assert!(*arrived.borrow() == body);
    // The first bytes come with the head.
    assert!(spliced.bytes.get() > BODY - 200_000, "{spliced:?}");
}

#[tokio::test]
async fn a_body_whose_end_is_not_known_has_to_be_read() {
    let ((mut client, mut server, _), (mut onward, mut last, _)) = tokio::join!(pair(), pair());
    let body = bytes(100_000);
    let out = client.output.buffer();
    out.extend_from_slice(CHUNKED.as_bytes());
    encode::chunk_size(out, body.len());
    out.extend_from_slice(&body);
    out.extend_from_slice(b"\r\n0\r\n\r\n");
    let spliced = Spliced::default();
    let relaying = async {
        let head = format!(
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        onward.output.buffer().extend_from_slice(head.as_bytes());
        relay_body(&mut server, &mut onward, &spliced)
            .await
            .unwrap();
    };
    let mut arrived = Vec::new();
    let arriving = async {
        assert!(last.requests.next_head().await.unwrap());
        last.requests.read_body(&mut arrived).await.unwrap();
    };
    let all = async { tokio::join!(client.output.flush(), relaying, arriving) };
    timeout(PATIENCE, all).await.unwrap().0.unwrap();
    assert!(arrived == body);
    assert_eq!(spliced.bytes.get(), 0);
}

#[tokio::test]
async fn a_body_in_bulk_that_is_cut_short_is_no_clean_end() {
    let ((mut client, mut server, _), (mut onward, mut last, _)) = tokio::join!(pair(), pair());
    let out = client.output.buffer();
    out.extend_from_slice(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n");
    out.extend_from_slice(&bytes(500_000));
    let spliced = Spliced::default();
    let relaying = async {
        let relayed = relay_body(&mut server, &mut onward, &spliced).await;
        onward.output.shutdown().await.unwrap();
        relayed
    };
    let mut arrived = Vec::new();
    let arriving = async {
        while let Some(data) = last.requests.next_bytes().await.unwrap() {
            arrived.extend_from_slice(data);
        }
    };
    let all = async { tokio::join!(client.output.shutdown(), relaying, arriving) };
    let (sent, relayed, ()) = timeout(PATIENCE, all).await.unwrap();
    sent.unwrap();
    let is_closed = matches!(relayed, Err(SpliceError::Source(ReadError::Closed)));
    assert!(is_closed, "{relayed:?}");
    assert!(spliced.bytes.get() > 100_000, "{spliced:?}");
    // As many bytes as came have gone on.
    assert!(arrived == bytes(500_000));
}

#[tokio::test]
async fn a_receiver_that_leaves_is_told_apart_from_a_sender_that_does() {
    let ((mut client, mut server, _), (mut onward, last, _)) = tokio::join!(pair(), pair());
    let out = client.output.buffer();
    out.extend_from_slice(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9000000\r\n\r\n");
    out.extend_from_slice(&bytes(9_000_000));
    let spliced = Spliced::default();
    let relaying = relay_body(&mut server, &mut onward, &spliced);
    let leaving = async {
        while spliced.bytes.get() == 0 {
            tokio::task::yield_now().await;
        }
        last.reset();
    };
    let sending = async {
        client.output.flush().await.unwrap();
        std::future::pending().await
    };
    let relayed = tokio::select! {
        relayed = timeout(PATIENCE, async { tokio::join!(relaying, leaving).0 }) => relayed.unwrap(),
        () = sending => Ok(()),
    };
    assert!(matches!(relayed, Err(SpliceError::Sink(_))), "{relayed:?}");
}

#[tokio::test]
async fn a_reset_reaches_the_client_as_an_error() {
    let (mut client, mut server, _) = pair().await;
    queue_request(&mut client, "/", "");
    client.output.flush().await.unwrap();
    assert!(server.requests.next_head().await.unwrap());
    server.reset();
    client.responses.expect(false);
    assert!(matches!(
        client.responses.next_head().await,
        Err(ReadError::Io(_))
    ));
    assert!(!client.responses.received_any());
}

#[tokio::test]
async fn a_pool_hands_out_the_newest_live_connection() {
    let limits = PoolLimits {
        idle_per_endpoint: 2,
        idle_timeout: Duration::from_secs(60),
    };
    let mut pool = Pool::new(limits);
    let now = Instant::now();
    let (mut client, mut server, addr) = pair().await;
    assert!(pool.take(&addr, now).is_none());

    queue_request(&mut client, "/", "");
    client.output.flush().await.unwrap();
    assert!(server.requests.next_head().await.unwrap());
    queue_answer(&mut server, "x");
    server.output.flush().await.unwrap();
    read_answer(&mut client).await;
    pool.put(addr, Box::new(client), now);
    assert_eq!(pool.idle(), 1);
    let client = pool.take(&addr, now).expect("alive");
    pool.put(addr, client, now);

    assert!(
        pool.take(&addr, now + Duration::from_secs(60)).is_none(),
        "expired"
    );
    assert_eq!(pool.idle(), 0);
}

#[tokio::test]
async fn a_pool_drops_a_connection_whose_peer_has_closed() {
    let mut pool = Pool::new(PoolLimits {
        idle_per_endpoint: 2,
        idle_timeout: Duration::from_secs(60),
    });
    let (mut client, mut server, addr) = pair().await;
    queue_request(&mut client, "/", "");
    client.output.flush().await.unwrap();
    assert!(server.requests.next_head().await.unwrap());
    queue_answer(&mut server, "x");
    server.output.shutdown().await.unwrap();
    read_answer(&mut client).await;
    // The close follows the answer on the same socket: wait until it has arrived.
    client.disturbed().await.unwrap();
    pool.put(addr, Box::new(client), Instant::now());
    assert!(pool.take(&addr, Instant::now()).is_none());
}

#[tokio::test]
async fn a_refused_connection_says_so() {
    let nobody = Refusing::hold().unwrap();
    let refused = connect(nobody.address, PATIENCE, Limits::default()).await;
    assert!(matches!(refused, Err(ConnectError::Refused(_))));
}

#[tokio::test]
async fn a_peer_that_reads_nothing_makes_the_kernel_hold_little() {
    let listener = Listener::bind(loopback()).unwrap();
    let mut shard = listener.for_shard().unwrap();
    let client = tokio::net::TcpSocket::new_v4().unwrap();
    client.set_recv_buffer_size(4096).unwrap();
    let client = client.connect(listener.local_addr().unwrap());
    let (client, server) = tokio::join!(client, shard.accept());
    let (_client, (server, _)) = (client.unwrap(), server.unwrap());
    let piece = vec![0; 64 * 1024];
    let mut taken = 0;
    while let Ok(bytes) = server.try_write(&piece) {
        taken += bytes;
    }
    // Without the option it is 2.5 MiB.
    assert!(taken <= 512 * 1024, "{taken} bytes");
}

#[test]
fn a_taken_port_is_an_error() {
    let listener = Listener::bind(loopback()).unwrap();
    let again = Listener::bind(listener.local_addr().unwrap());
    assert_eq!(again.unwrap_err().kind(), std::io::ErrorKind::AddrInUse);
}

#[test]
fn shards_share_a_listener_and_return_in_order() {
    let listener = Listener::bind(loopback()).unwrap();
    let addr = listener.local_addr().unwrap();
    let clients = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let mut greetings = Vec::new();
            let mut open = Vec::new();
            for _ in 0..2 {
                let mut stream = TcpStream::connect(addr).await.unwrap();
                let mut greeting = [0];
                stream.read_exact(&mut greeting).await.unwrap();
                greetings.push(greeting[0]);
                open.push(stream);
            }
            greetings.sort_unstable();
            greetings
        })
    });
    // Each shard takes one connection and no second one, so both must take part.
    let indices = run_shards(2, "test", |index| {
        let listener = &listener;
        async move {
            let mut shard = listener.for_shard().unwrap();
            let (mut stream, _) = shard.accept().await.unwrap();
            stream
                .write_all(&[u8::try_from(index).unwrap()])
                .await
                .unwrap();
            index
        }
    })
    .unwrap();
    assert_eq!(indices, [0, 1]);
    assert_eq!(clients.join().unwrap(), [0, 1]);
}
