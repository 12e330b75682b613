//! A mock in a thread and a client that speaks raw HTTP/1.1.

use plimsoll_mock::{Builtins, MockConfig, MockError, Summary, run};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::watch;

/// A running mock.
pub struct Mock {
    /// Of its first listener.
    pub address: SocketAddr,
    pub listening: Vec<(String, SocketAddr)>,
    stop: watch::Sender<bool>,
    thread: JoinHandle<Result<Summary, MockError>>,
}

/// One response, as received.
#[derive(Debug)]
pub struct Received {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

/// One connection to a mock, clear or secured.
pub struct Client {
    stream: BufReader<Box<dyn Transport>>,
}

/// Transport of a connection.
pub trait Transport: Read + Write + Send {}

impl<T: Read + Write + Send> Transport for T {}

/// A configuration on a free port of loopback; unmatched requests get one line, and endpoints answer beside stubs.
pub fn config() -> MockConfig {
    let mut config = MockConfig::new("127.0.0.1:0".parse().unwrap());
    config.differences_per_second = 0;
    config.builtins = Builtins::On;
    config
}

impl Mock {
    /// A stub that is refused, with the place and the reason of its first problem.
    pub fn refuses(&self, stub: &Value, pointer: &str, words: &str) {
        let refused = self
            .client()
            .send("POST", "/__admin/mappings", &stub.to_string());
        assert_eq!(refused.status, 422, "{stub}");
        let error = &refused.json()["errors"][0];
        assert_eq!(error["source"]["pointer"], pointer, "{error}");
        let detail = error["detail"].as_str().unwrap();
        assert!(detail.contains(words), "{detail}");
    }

    /// Starts a mock and waits until it is ready.
    pub fn start(config: MockConfig) -> Self {
        let (ready, address) = mpsc::channel();
        let (stop, stopped) = watch::channel(false);
        let thread = std::thread::spawn(move || {
            run(config, |listeners| ready.send(listeners).unwrap(), stopped)
        });
        match address.recv() {
            Ok(listening) => Self {
                address: listening[0].1,
                listening,
                stop,
                thread,
            },
            Err(_) => panic!("{:?}", thread.join()),
        }
    }

    /// A mock with these stub mappings.
    pub fn with_stubs(stubs: &[&str]) -> Self {
        let mock = Self::start(config());
        let mut client = mock.client();
        for stub in stubs {
            let created = client.send("POST", "/__admin/mappings", stub);
            assert_eq!(created.status, 201, "{}", created.text());
        }
        mock
    }

    pub fn client(&self) -> Client {
        Client::connect(self.address)
    }

    /// Tells it to stop; returns at once. It may have ended already, because it was told before.
    pub fn say_stop(&self) {
        self.stop.send_replace(true);
    }

    /// Stops it and waits for its end.
    pub fn stop(self) -> Summary {
        self.say_stop();
        self.ended()
    }

    /// Waits for its end.
    pub fn ended(self) -> Summary {
        self.thread.join().unwrap().unwrap()
    }
}

impl Client {
    pub fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        Self::over(stream)
    }

    /// Over a connection that was made already.
    pub fn over(stream: impl Transport + 'static) -> Self {
        Self {
            stream: BufReader::new(Box::new(stream)),
        }
    }

    /// One exchange without a body.
    pub fn get(&mut self, target: &str) -> Received {
        self.send("GET", target, "")
    }

    /// One exchange.
    pub fn send(&mut self, method: &str, target: &str, body: &str) -> Received {
        let length = body.len();
        self.write(&format!(
            "{method} {target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n{body}"
        ));
        self.read(method)
    }

    pub fn write(&mut self, text: &str) {
        self.write_bytes(text.as_bytes());
    }

    pub fn write_bytes(&mut self, bytes: &[u8]) {
        self.stream.get_mut().write_all(bytes).unwrap();
    }

    /// Writes to a mock that may not want it.
    pub fn try_write(&mut self, text: &str) -> std::io::Result<()> {
        let stream = self.stream.get_mut();
        stream.write_all(text.as_bytes())?;
        stream.flush()
    }

    /// Reads a line from a mock that may not answer.
    pub fn try_read_line(&mut self) -> std::io::Result<()> {
        let mut line = String::new();
        match self.stream.read_line(&mut line)? {
            0 => Err(std::io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }

    /// Reads the response to a request with this method.
    pub fn read(&mut self, method: &str) -> Received {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            let read = self.stream.read_line(&mut head).unwrap();
            assert!(read > 0, "connection closed after {head:?}");
        }
        let length = field(&head, "Content-Length").map_or(0, |value| value.parse().unwrap());
        let mut body = vec![0; if method == "HEAD" { 0 } else { length }];
        self.stream.read_exact(&mut body).unwrap();
        Received {
            status: head[9..12].parse().unwrap(),
            head,
            body,
        }
    }

    /// Asserts that the peer has closed the connection and sent nothing more.
    pub fn expect_end(&mut self) {
        let mut rest = Vec::new();
        self.stream.read_to_end(&mut rest).unwrap();
        assert_eq!(String::from_utf8_lossy(&rest), "");
    }
}

impl Received {
    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub fn field(&self, name: &str) -> Option<&str> {
        field(&self.head, name)
    }
}

fn field<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines()
        .filter_map(|line| line.split_once(": "))
        .find(|(own, _)| own.eq_ignore_ascii_case(name))
        .map(|(_, value)| value)
}
