//! One request of HTTP/1.1 over a connection of its own, for whoever asks a server about itself or tells it something. No load is made with
//! it, and nothing is timed by it. hyper speaks the protocol, so that ours is not asked whether ours is right.

use hyper::body::{Body as _, Incoming};
use hyper::client::conn::http1;
use hyper::header::{CONNECTION, HOST};
use hyper_util::rt::TokioIo;
use std::error::Error;
use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::pin::Pin;
use std::time::Duration;
use tokio::net::TcpStream;

/// A request.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// Its method.
    pub method: &'a str,
    /// Its path, with a query if there is one.
    pub path: &'a str,
    /// Fields beside `Host`, `Connection` and `Content-Length`.
    pub fields: &'a [(&'a str, &'a str)],
    /// Its body.
    pub body: &'a str,
}

/// An answer, whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// Its body. Bytes that are not UTF-8 are replaced.
    pub body: String,
}

impl<'a> Request<'a> {
    /// A GET without further fields.
    pub fn get(path: &'a str) -> Self {
        Self {
            method: "GET",
            path,
            fields: &[],
            body: "",
        }
    }

    /// Asks, and reads the answer to its end, all within `patience`.
    ///
    /// # Errors
    /// The system's where there is one; [`ErrorKind::TimedOut`]; an answer that is not HTTP or not whole.
    pub fn ask(&self, address: SocketAddr, patience: Duration) -> io::Result<Answer> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        runtime.block_on(async {
            let asked = tokio::time::timeout(patience, self.exchange(address)).await;
            asked.unwrap_or_else(|_| Err(ErrorKind::TimedOut.into()))
        })
    }

    async fn exchange(&self, address: SocketAddr) -> io::Result<Answer> {
        let request = hyper::Request::builder()
            .method(self.method)
            .uri(self.path)
            .header(HOST, address.to_string())
            .header(CONNECTION, "close");
        let request = (self.fields.iter()).fold(request, |request, (name, value)| {
            request.header(*name, *value)
        });
        let request = request.body(self.body.to_owned());
        let request = request.map_err(io::Error::other)?;
        let stream = TokioIo::new(TcpStream::connect(address).await?);
        let (mut sender, connection) = http1::handshake(stream).await.map_err(as_io)?;
        let answered = async {
            let answer = sender.send_request(request).await?;
            let status = answer.status().as_u16();
            let body = whole(answer.into_body()).await?;
            Ok(Answer { status, body })
        };
        // The answer is the exchange's; of how its connection ends it knows by itself.
        let (_, answered) = tokio::join!(connection, answered);
        answered.map_err(as_io)
    }
}

async fn whole(mut body: Incoming) -> hyper::Result<String> {
    let mut bytes = Vec::new();
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        if let Ok(data) = frame?.into_data() {
            bytes.extend_from_slice(&data);
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The system's error that hyper's came of, or else hyper's.
fn as_io(error: hyper::Error) -> io::Error {
    let cause = error.source().and_then(|cause| cause.downcast_ref());
    match cause.and_then(io::Error::raw_os_error) {
        Some(number) => io::Error::from_raw_os_error(number),
        None => io::Error::other(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    const PATIENCE: Duration = Duration::from_secs(20);

    /// The request that a server has got which answers so, and how its answer was understood.
    fn exchanged(request: Request<'_>, answer: &'static str) -> (String, io::Result<Answer>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let length = request.body.len();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut asked = Vec::new();
            let is_whole = |asked: &[u8]| {
                let end = asked.windows(4).position(|four| four == b"\r\n\r\n");
                end.is_some_and(|end| asked.len() == end + 4 + length)
            };
            while !is_whole(&asked) {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                asked.push(byte[0]);
            }
            stream.write_all(answer.as_bytes()).unwrap();
            String::from_utf8(asked).unwrap()
        });
        let answered = request.ask(address, PATIENCE);
        let asked = server.join().unwrap();
        (asked.replace(&address.to_string(), "HOST"), answered)
    }

    #[test]
    fn a_request_is_sent_whole_and_its_answer_read_whole() {
        let (asked, answered) = exchanged(
            Request::get("/metrics?a=b"),
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nup\r\n0\r\n\r\n",
        );
        assert_eq!(
            asked,
            "GET /metrics?a=b HTTP/1.1\r\nhost: HOST\r\nconnection: close\r\n\r\n"
        );
        let answered = answered.unwrap();
        assert_eq!((answered.status, answered.body.as_str()), (200, "up"));
        let request = Request {
            method: "POST",
            fields: &[("X-Key", "secret")],
            body: "{}",
            ..Request::get("/mappings")
        };
        let (asked, answered) = exchanged(request, "HTTP/1.1 404 Not Found\r\n\r\nnone");
        assert!(asked.starts_with("POST /mappings HTTP/1.1\r\n"), "{asked}");
        assert!(asked.contains("x-key: secret\r\n") && asked.contains("content-length: 2\r\n"));
        assert!(asked.ends_with("\r\n\r\n{}"), "{asked}");
        let answered = answered.unwrap();
        assert_eq!((answered.status, answered.body.as_str()), (404, "none"));
    }

    #[test]
    fn an_answer_that_is_not_there_is_an_error() {
        let check = |answer| assert!(exchanged(Request::get("/"), answer).1.is_err(), "{answer}");
        check("");
        check("SSH-2.0-x\r\n");
        check("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok");
        let nobody = crate::port::free().unwrap();
        let refused = Request::get("/").ask(nobody, PATIENCE).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
    }
}
