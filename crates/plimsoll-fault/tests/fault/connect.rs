//! Clients that ask for a server by CONNECT.

use crate::serving::{Serving, config, connect, echo, echoed, rest};
use plimsoll_fault::FaultConfig;
use plimsoll_testbed::port::Refusing;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

/// A fault proxy that lets clients ask for these servers by name.
pub fn serving(allow: &[SocketAddr]) -> Serving {
    Serving::with(FaultConfig {
        connect: Some("127.0.0.1:0".parse().unwrap()),
        allow: allow.iter().map(SocketAddr::to_string).collect(),
        ..config()
    })
}

/// A client that has asked for a server, and the head of the answer.
pub fn ask(serving: &Serving, request: &str) -> (TcpStream, String) {
    let mut client = connect(serving.address("connect"));
    client.write_all(request.as_bytes()).unwrap();
    let head = head(&mut client);
    (client, head)
}

/// The head of an answer.
fn head(client: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        assert_eq!(
            client.read(&mut byte).unwrap(),
            1,
            "{}",
            head.escape_ascii()
        );
        head.extend(byte);
    }
    String::from_utf8(head).unwrap()
}

fn request(server: SocketAddr) -> String {
    format!("CONNECT {server} HTTP/1.1\r\nHost: {server}\r\n\r\n")
}

#[test]
fn a_server_that_is_allowed_is_reached_through_its_toxics() {
    let server = echo();
    let serving = serving(&[server]);
    // What follows the request at once is the server's.
    let (mut client, head) = ask(&serving, &(request(server) + "early"));
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    let mut early = [0; 5];
    client.read_exact(&mut early).unwrap();
    assert_eq!(&early, b"early");
    serving.add(
        &server.to_string(),
        r#"{"type": "limit_data", "attributes": {"bytes": 3}}"#,
    );
    client.write_all(b"abcdef").unwrap();
    assert_eq!(rest(&mut client), b"abc");
}

#[test]
fn a_proxy_of_the_api_may_be_asked_for_and_no_other_server() {
    let server = echo();
    let serving = serving(&[]);
    let (mut client, head) = ask(&serving, &request(server));
    assert!(head.starts_with("HTTP/1.1 403 "), "{head}");
    assert!(
        String::from_utf8(rest(&mut client))
            .unwrap()
            .contains("--allow")
    );
    let body = format!(r#"{{"name": "s", "listen": "connect", "upstream": "{server}"}}"#);
    assert_eq!(serving.call("POST", "/proxies", &body).0, 201);
    let (mut client, _) = ask(&serving, &request(server));
    assert_eq!(echoed(&mut client, b"hello"), b"hello");
    serving.call("PATCH", "/proxies/s", r#"{"enabled": false}"#);
    let (_, head) = ask(&serving, &request(server));
    assert!(head.starts_with("HTTP/1.1 502 "), "{head}");
}

#[test]
fn a_server_that_is_away_is_said_to_be() {
    let nobody = Refusing::hold().unwrap();
    let server = nobody.address;
    let serving = serving(&[server]);
    let (mut client, head) = ask(&serving, &request(server));
    assert!(head.starts_with("HTTP/1.1 502 "), "{head}");
    assert_eq!(rest(&mut client), b"");
}

/// More clients at once than wait for a shard at any time are all led, and who comes when all connections are taken is told.
#[test]
fn a_burst_is_led_as_far_as_there_is_room() {
    const ROOM: u8 = 150;
    let server = echo();
    let serving = Serving::with(FaultConfig {
        connect: Some("127.0.0.1:0".parse().unwrap()),
        allow: vec![server.to_string()],
        shards: 1,
        connections: ROOM.into(),
        ..config()
    });
    // All have asked before anybody hears an answer.
    let asked = || {
        let mut client = connect(serving.address("connect"));
        client.write_all(request(server).as_bytes()).unwrap();
        client
    };
    let mut clients: Vec<TcpStream> = (0..ROOM).map(|_| asked()).collect();
    for client in &mut clients {
        let head = head(client);
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    }
    let mut refused = asked();
    let head = head(&mut refused);
    assert!(head.starts_with("HTTP/1.1 502 "), "{head}");
    drop(clients);
}
