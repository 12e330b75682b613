//! Floods of frames end their connection and no other.

use super::smuggling::literal;
use super::*;

const FLOOD: &str = "client_connections_ended_total{reason=\"flood\"}";

#[test]
fn floods_end_their_connection_and_no_other() {
    let gateway =
        before(Upstream::answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").address);
    let mut resets = opening();
    for stream in (1..40_000).step_by(2) {
        // RST_STREAM with CANCEL.
        resets.extend(floods::get(stream));
        resets.extend(frame(3, 0, stream, &[0, 0, 0, 8]));
    }
    assert!(ends_under(&gateway, &resets));
    gateway.reaches(FLOOD, 1);
    let mut continued = opening();
    continued.extend(frame(1, 0, 1, &[0x82, 0x86, 0x84, 0x41, 1, b'x']));
    let field = literal("x-own", &"x".repeat(100)).repeat(100);
    for _ in 0..2000 {
        continued.extend(frame(9, 0, 1, &field));
    }
    assert!(ends_under(&gateway, &continued));
    gateway.reaches(FLOOD, 2);
    // Data frames without data cost the same as those with some.
    let mut empty = opening();
    empty.extend(frame(1, 4, 1, &[0x83, 0x86, 0x84, 0x41, 1, b'x']));
    for _ in 0..100_000 {
        empty.extend(frame(0, 0, 1, &[]));
    }
    assert!(ends_under(&gateway, &empty));
    gateway.reaches(FLOOD, 3);
}

/// The code of the GOAWAY that ends a connection which sends all of this and reads meanwhile; none if it was lost with a reset.
fn ended_with(gateway: &Gateway, flood: Vec<u8>) -> Option<u32> {
    let mut stream = TcpStream::connect(gateway.address("main")).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    let mut writing = stream.try_clone().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // It may be over before all of it is written; otherwise the gateway waits for more, and so does the reader.
            let _written = writing.write_all(&flood);
        });
        let mut told = None;
        while let Some(frame) = floods::read(&mut stream) {
            if frame.kind == 7 {
                told = Some(u32::from_be_bytes(frame.payload[4..8].try_into().unwrap()));
            }
        }
        told
    })
}

#[test]
fn who_only_sends_frames_that_carry_nothing_is_told_to_calm_down() {
    const CALM: u32 = 11;
    let gateway =
        before(Upstream::answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").address);
    let priority = frame(2, 0, 1, &[0, 0, 0, 0, 16]);
    let idle = frame(2, 0, 9, &[0, 0, 0, 0, 16]);
    let window = frame(8, 0, 0, &[0, 0, 0, 1]);
    let unknown = frame(200, 0xff, 3, b"whatever");
    let hint = frame(16, 0, 0, &[0, 0, 0, 1, b'u', b'=', b'1']);
    let ping = frame(6, 0, 0, &[0; 8]);
    let pong = frame(6, 1, 0, &[7; 8]);
    let settings = frame(4, 0, 0, &[]);
    let reset = frame(3, 0, 1, &[0, 0, 0, 8]);
    let mixed = [priority.clone(), window.clone(), ping.clone()].concat();
    let answered = [&floods::get(1)[..], &window].concat();
    let kinds = [
        ("priority", vec![], priority),
        ("priority of an idle stream", vec![], idle),
        ("window", vec![], window),
        ("unknown", vec![], unknown),
        ("hint", vec![], hint),
        ("ping", vec![], ping),
        ("pong", vec![], pong),
        ("settings", vec![], settings),
        ("resets of one stream", floods::get(1), reset),
        ("mixed", answered, mixed),
    ];
    for (number, (kind, first, frame)) in kinds.into_iter().enumerate() {
        let mut flood = opening();
        flood.extend(first);
        (0..5_000).for_each(|_| flood.extend(&frame));
        let told = ended_with(&gateway, flood);
        assert!(matches!(told, Some(CALM) | None), "{kind}: {told:?}");
        gateway.reaches(FLOOD, number as u64 + 1);
        assert_eq!(gateway.connect().get("/").status(), 200, "{kind}");
    }
}

#[test]
fn what_requests_and_answers_bring_with_them_is_no_flood() {
    let gateway =
        before(Upstream::answering("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx").address);
    let mut stream = TcpStream::connect(gateway.address("main")).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_nodelay(true).unwrap();
    stream.write_all(&opening()).unwrap();
    for number in (1..2_000).step_by(2) {
        let mut sent = floods::get(number);
        sent.extend(frame(16, 0, 0, &[0, 0, 0, 1, b'u', b'=', b'1']));
        sent.extend(frame(2, 0, number, &[0, 0, 0, 0, 16]));
        sent.extend(frame(6, 0, 0, &[0; 8]));
        sent.extend(frame(8, 0, 0, &[0, 0, 0, 1]));
        stream.write_all(&sent).unwrap();
        loop {
            let frame = floods::read(&mut stream).expect("the connection goes on");
            if frame.kind == 0 && frame.stream == number {
                break;
            }
        }
    }
    assert_eq!(gateway.metric(FLOOD), 0);
}
