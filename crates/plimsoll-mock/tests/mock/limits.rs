//! Clients that take too long, are too many, or are half gone: each ends as something of its own.

use crate::world::{Client, Mock, config};
use plimsoll_http::Pace;
use plimsoll_mock::{MockConfig, Timeouts};
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

const SHORT: Duration = Duration::from_millis(50);

fn patient() -> Timeouts {
    let long = Duration::from_secs(60);
    Timeouts {
        head: long,
        idle: long,
        body: Pace {
            silence: long,
            bytes_per_second: 1 << 30,
        },
    }
}

fn mock(timeouts: Timeouts) -> Mock {
    Mock::start(MockConfig {
        timeouts,
        ..config()
    })
}

/// Answer to a client that has sent `request` and waits, and the mock's count then.
fn late(timeouts: Timeouts, request: &str) -> (String, u64) {
    let mock = mock(timeouts);
    let mut client = mock.client();
    client.write(request);
    let told = client.read("POST");
    client.expect_end();
    let told = format!("{} {}", told.status, told.text().trim_end());
    (told, mock.stop().timed_out)
}

#[test]
fn who_takes_too_long_over_a_request_is_told() {
    let head = Timeouts {
        head: SHORT,
        ..patient()
    };
    let expected = |what: &str| (format!("408 the request's {what} took too long"), 1);
    assert_eq!(late(head, "GET /xml HT"), expected("head"));
    let mut body = patient();
    body.body.silence = SHORT;
    let request = "POST /xml HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nbe";
    assert_eq!(late(body, request), expected("body"));
}

#[test]
fn a_drip_earns_no_time() {
    let mut timeouts = patient();
    timeouts.body.silence = SHORT;
    let mock = mock(timeouts);
    let mut client = TcpStream::connect(mock.address).unwrap();
    client.set_nodelay(true).unwrap();
    client
        .write_all(b"POST /xml HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000\r\n\r\n")
        .unwrap();
    client.set_nonblocking(true).unwrap();
    // One byte after the other, until the mock has something to say about it.
    while client.peek(&mut [0]).is_err() {
        client.write_all(b"x").ok();
    }
    client.set_nonblocking(false).unwrap();
    let mut told = [0; 12];
    client.read_exact(&mut told).unwrap();
    assert_eq!(&told, b"HTTP/1.1 408");
    assert_eq!(mock.stop().timed_out, 1);
}

#[test]
fn an_idle_connection_ends_quietly() {
    let mock = mock(Timeouts {
        idle: SHORT,
        ..patient()
    });
    mock.client().expect_end();
    let mut client = mock.client();
    assert_eq!(client.get("/xml").status, 200);
    client.expect_end();
    assert_eq!(mock.stop().timed_out, 0);
}

#[test]
fn who_does_not_take_an_answer_is_cut_off() {
    let mut timeouts = patient();
    timeouts.body.silence = SHORT;
    let mock = mock(timeouts);
    let mut client = TcpStream::connect(mock.address).unwrap();
    client
        .write_all(b"GET /size/64M HTTP/1.1\r\nHost: x\r\n\r\n")
        .unwrap();
    // The cut shows to others: the mock has ended the only exchange there was.
    let mut other = mock.client();
    while other.get("/xml").status != 200 {}
    let ended = std::iter::repeat_with(|| client.take_error().unwrap()).find(Option::is_some);
    assert!(ended.is_some());
    let summary = mock.stop();
    assert_eq!((summary.timed_out, summary.served), (1, 1));
}

#[test]
fn one_client_too_many_is_turned_away_and_room_comes_back() {
    let mock = Mock::start(MockConfig {
        connections: 2,
        ..config()
    });
    let mut clients = [mock.client(), mock.client()];
    for client in &mut clients {
        assert_eq!(client.get("/xml").status, 200);
    }
    let mut third = mock.client();
    assert_eq!(third.read("GET").status, 503);
    third.expect_end();
    drop(clients);
    // Until the mock has seen them go.
    let admitted = |_: &_| {
        let mut stream = TcpStream::connect(mock.address).unwrap();
        let request = b"GET /xml HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        let mut answer = Vec::new();
        let _turned_away_early = stream.write_all(request).is_err();
        stream.read_to_end(&mut answer).ok();
        answer.starts_with(b"HTTP/1.1 200")
    };
    assert!((0..10_000).any(|attempt| admitted(&attempt)));
    assert!(mock.stop().turned_away >= 1);
}

#[test]
fn a_client_that_has_nothing_more_to_say_is_answered() {
    let mock = Mock::start(config());
    let mut stream = TcpStream::connect(mock.address).unwrap();
    stream
        .write_all(
            b"GET /delay/30ms HTTP/1.1\r\nHost: x\r\n\r\nGET /xml HTTP/1.1\r\nHost: x\r\n\r\n",
        )
        .unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut answers = String::new();
    stream.read_to_string(&mut answers).unwrap();
    assert_eq!(answers.matches("HTTP/1.1 200").count(), 2, "{answers}");
}

#[test]
fn a_long_answer_arrives_whole() {
    let mock = Mock::start(config());
    let mut client: Client = mock.client();
    let letters = client.get("/size/300K").body;
    assert_eq!(letters.len(), 300 << 10);
    assert!(letters.chunks(52).all(|line| letters.starts_with(line)));
    assert_eq!(client.send("HEAD", "/size/300K", "").body.len(), 0);
    assert_eq!(client.get("/xml").status, 200);
    assert_eq!(mock.stop().served, 3);
}
