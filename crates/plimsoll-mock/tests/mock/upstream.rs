//! A server that answers as it is told, one connection after the other, and hands over what it was asked.

use super::world::config;
use plimsoll_mock::{MockConfig, Targets};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// A running server; it ends with its last answer.
pub struct Upstream {
    pub address: SocketAddr,
    requests: Receiver<Asked>,
}

/// A request that it received.
#[derive(Debug)]
pub struct Asked {
    /// The connection it came on, counted from 0.
    pub connection: usize,
    /// Head and body.
    pub text: String,
}

/// Its reaction to a request.
#[derive(Debug, Clone)]
pub enum Act {
    Answer(String),
    /// Closes the connection without a word.
    Close,
    /// Answers and closes the connection, without saying so.
    AnswerAndClose(String),
    /// Says nothing until the other side closes.
    Hang,
}

/// An answer with a body.
pub fn ok(body: &str) -> Act {
    let length = body.len();
    Act::Answer(format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n\r\n{body}"
    ))
}

/// A mock that may send requests to loopback.
pub fn sending() -> MockConfig {
    let mut config = config();
    config.outgoing.targets = Targets::new(&["127.0.0.1"], &[]).unwrap();
    config
}

impl Upstream {
    /// A server that does this about the requests it gets, in this order.
    pub fn start(acts: Vec<Act>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (asked, requests) = channel();
        std::thread::spawn(move || serve(&listener, acts, &asked));
        Self { address, requests }
    }

    /// Its URL, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The next request.
    pub fn asked(&self) -> Asked {
        self.requests.recv_timeout(Duration::from_secs(20)).unwrap()
    }
}

fn serve(listener: &TcpListener, acts: Vec<Act>, asked: &Sender<Asked>) {
    let mut acts = acts.into_iter().peekable();
    let mut connection = 0;
    while acts.peek().is_some() {
        let (stream, _) = listener.accept().unwrap();
        let mut stream = BufReader::new(stream);
        while let Some(text) = request(&mut stream) {
            let Some(act) = acts.next() else { return };
            // Whoever asked may not want to know what it asked.
            asked.send(Asked { connection, text }).ok();
            if !carry_out(&act, stream.get_mut()) {
                break;
            }
        }
        connection += 1;
    }
}

/// Does it; whether the connection goes on.
fn carry_out(act: &Act, stream: &mut TcpStream) -> bool {
    match act {
        Act::Answer(text) => {
            stream.write_all(text.as_bytes()).unwrap();
            return true;
        }
        Act::AnswerAndClose(text) => stream.write_all(text.as_bytes()).unwrap(),
        Act::Close => {}
        Act::Hang => {
            let mut rest = Vec::new();
            // A reset ends the wait as well.
            stream.read_to_end(&mut rest).ok();
        }
    }
    false
}

/// One request; `None` at the end of the connection.
fn request(stream: &mut BufReader<TcpStream>) -> Option<String> {
    let mut text = String::new();
    while !text.ends_with("\r\n\r\n") {
        if stream.read_line(&mut text).ok()? == 0 {
            return None;
        }
    }
    let length = text.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        let is_length = name.eq_ignore_ascii_case("Content-Length");
        is_length.then(|| value.parse::<usize>().unwrap())
    });
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).ok()?;
    text.push_str(&String::from_utf8_lossy(&body));
    Some(text)
}
