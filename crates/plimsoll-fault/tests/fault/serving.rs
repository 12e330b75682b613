//! A fault proxy in this process, servers behind it, and clients.

use plimsoll_fault::{FaultConfig, Metrics, run};
use serde_json::Value;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Nothing in these tests takes so long.
const PATIENCE: Duration = Duration::from_secs(30);

/// A fault proxy that serves until it is dropped.
pub struct Serving {
    addresses: Vec<(String, SocketAddr)>,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

/// A configuration on free ports of loopback.
pub fn config() -> FaultConfig {
    FaultConfig {
        api: "127.0.0.1:0".parse().unwrap(),
        admin_open: false,
        proxies: None,
        connect: None,
        allow: Vec::new(),
        seed: 1,
        metrics: Metrics::default(),
        shards: 2,
        connections: 20_000,
        connect_timeout: Duration::from_secs(10),
        log: Arc::new(|_| {}),
    }
}

impl Serving {
    pub fn start() -> Self {
        Self::with(config())
    }

    pub fn with(config: FaultConfig) -> Self {
        let (stop, stopped) = watch::channel(false);
        let (ready, is_ready) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            run(config, |bound| ready.send(bound).unwrap(), stopped).unwrap();
        });
        Self {
            addresses: is_ready.recv().unwrap(),
            stop,
            thread: Some(thread),
        }
    }

    /// The address of a listener.
    pub fn address(&self, name: &str) -> SocketAddr {
        let mut addresses = self.addresses.iter();
        addresses.find(|(known, _)| known == name).unwrap().1
    }

    /// Status and body of an answer of the API.
    pub fn call(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        let (head, body) = self.exchange(method, path, "", body);
        (status(&head), body)
    }

    /// Head and body of an answer, to a request with further fields.
    pub fn exchange(&self, method: &str, path: &str, fields: &str, body: &str) -> (String, String) {
        let host = match fields.contains("Host:") {
            true => "",
            false => "Host: localhost\r\n",
        };
        let mut client = connect(self.address("api"));
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\n{host}{fields}Connection: close\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        client.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.to_owned(), body.to_owned())
    }

    /// Makes a proxy to this server, and says where it listens.
    pub fn proxy(&self, name: &str, server: SocketAddr) -> SocketAddr {
        let body =
            format!(r#"{{"name": "{name}", "listen": "127.0.0.1:0", "upstream": "{server}"}}"#);
        let (status, body) = self.call("POST", "/proxies", &body);
        assert_eq!(status, 201, "{body}");
        let proxy: Value = serde_json::from_str(&body).unwrap();
        proxy["listen"].as_str().unwrap().parse().unwrap()
    }

    /// Adds a toxic to a proxy.
    pub fn add(&self, proxy: &str, toxic: &str) {
        let (status, body) = self.call("POST", &format!("/proxies/{proxy}/toxics"), toxic);
        assert_eq!(status, 200, "{body}");
    }

    /// Removes one.
    pub fn remove(&self, proxy: &str, toxic: &str) {
        let (status, body) = self.call("DELETE", &format!("/proxies/{proxy}/toxics/{toxic}"), "");
        assert_eq!(status, 204, "{body}");
    }

    /// A count of a proxy.
    pub fn turns(&self, proxy: &str, count: &str) -> Value {
        let (_, body) = self.call("GET", "/plimsoll/turns", "");
        serde_json::from_str::<Value>(&body).unwrap()[proxy][count].clone()
    }

    /// Returns when a count of a proxy is so much.
    pub fn wait_for(&self, proxy: &str, count: &str, value: u64) {
        let start = Instant::now();
        loop {
            let is = self.turns(proxy, count);
            if is == value {
                return;
            }
            assert!(start.elapsed() < PATIENCE, "{count} is {is}, not {value}");
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        let ended = self.thread.take().unwrap().join();
        if !std::thread::panicking() {
            ended.unwrap();
        }
    }
}

fn status(head: &str) -> u16 {
    head.split(' ').nth(1).unwrap().parse().unwrap()
}

/// A client that gives up in the end.
pub fn connect(address: SocketAddr) -> TcpStream {
    let client = TcpStream::connect(address).unwrap();
    client.set_read_timeout(Some(PATIENCE)).unwrap();
    client.set_nodelay(true).unwrap();
    client
}

/// A server that carries out `serve` for each of its clients.
pub fn server(serve: impl Fn(TcpStream) + Send + Sync + Clone + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let serve = serve.clone();
            std::thread::spawn(move || serve(client.unwrap()));
        }
    });
    address
}

/// A server that sends back whatever it gets, to its end.
pub fn echo() -> SocketAddr {
    server(|mut client| {
        client.set_nodelay(true).unwrap();
        let mut buffer = [0; 64 * 1024];
        while let Ok(count) = client.read(&mut buffer)
            && count > 0
        {
            if client.write_all(&buffer[..count]).is_err() {
                return;
            }
        }
        if client.shutdown(Shutdown::Write).is_err() {
            // The client was gone first.
        }
    })
}

/// All that comes until the end.
pub fn echoed(client: &mut TcpStream, bytes: &[u8]) -> Vec<u8> {
    client.write_all(bytes).unwrap();
    let mut back = vec![0; bytes.len()];
    client.read_exact(&mut back).unwrap();
    back
}

/// Everything until the end.
pub fn rest(client: &mut TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    client.read_to_end(&mut bytes).unwrap();
    bytes
}
