//! Connections without toxics, and changes while bytes are under way.

use crate::serving::{Serving, config, connect, echo, echoed, rest, server};
use socket2::{Domain, Socket, Type};
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

#[test]
fn large_bodies_pass_unchanged() {
    let serving = Serving::start();
    let mut client = connect(serving.proxy("p", echo()));
    let sent: Vec<u8> = (0..20_000_000_u32)
        .map(|n| n.to_le_bytes()[0] ^ n.to_le_bytes()[2])
        .collect();
    let mut writer = client.try_clone().unwrap();
    let bytes = sent.clone();
    std::thread::spawn(move || {
        writer.write_all(&bytes).unwrap();
        writer.shutdown(Shutdown::Write).unwrap();
    });
    assert!(rest(&mut client) == sent);
    serving.wait_for("p", "open", 0);
}

#[test]
fn half_a_close_is_kept() {
    let serving = Serving::start();
    let counting = server(|mut client| {
        let mut bytes = Vec::new();
        client.read_to_end(&mut bytes).unwrap();
        client
            .write_all(bytes.len().to_string().as_bytes())
            .unwrap();
    });
    let mut client = connect(serving.proxy("p", counting));
    client.write_all(&[0; 12_345]).unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    assert_eq!(rest(&mut client), b"12345");
}

#[test]
fn a_reset_is_passed_on() {
    let serving = Serving::start();
    let resetting = server(|mut client| {
        client.read_exact(&mut [0]).unwrap();
        Socket::from(client)
            .set_linger(Some(Duration::ZERO))
            .unwrap();
    });
    let mut client = connect(serving.proxy("p", resetting));
    client.write_all(b"x").unwrap();
    let reset = client.read(&mut [0]).unwrap_err();
    assert_eq!(reset.kind(), ErrorKind::ConnectionReset);
}

/// The server answers half and resets while the client still sends: that is no clean end.
#[test]
fn a_reset_is_passed_on_while_the_client_sends() {
    for _ in 0..20 {
        let serving = Serving::start();
        let resetting = server(|mut client| {
            client.read_exact(&mut [0; 1000]).unwrap();
            client.write_all(b"half").unwrap();
            let linger = Some(Duration::ZERO);
            Socket::from(client).set_linger(linger).unwrap();
        });
        let mut client = connect(serving.proxy("p", resetting));
        let mut writer = client.try_clone().unwrap();
        let sending = std::thread::spawn(move || {
            let block = [0; 10_000];
            loop {
                if let Err(error) = writer.write_all(&block) {
                    return error.kind();
                }
            }
        });
        let mut bytes = Vec::new();
        let end = client.read_to_end(&mut bytes);
        // Whichever of the two meets the reset first, the other does not.
        let met = sending.join().unwrap();
        assert!(
            end.is_err() || met == ErrorKind::ConnectionReset,
            "a clean end behind {} bytes, {met}",
            bytes.len()
        );
    }
}

/// A server that accepts nobody, and whose queue is full: connecting to it is answered by nothing.
fn blackhole() -> (Socket, Vec<Socket>, SocketAddr) {
    let listener = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
    listener.bind(&any.into()).unwrap();
    listener.listen(0).unwrap();
    let address = listener.local_addr().unwrap();
    let fill = || {
        let filler = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        filler.set_nonblocking(true).unwrap();
        assert!(filler.connect(&address).is_err());
        filler
    };
    let fillers = (0..8).map(|_| fill()).collect();
    (listener, fillers, address.as_socket().unwrap())
}

#[test]
fn a_server_that_does_not_answer_keeps_no_client_waiting_but_its_own() {
    let config = plimsoll_fault::FaultConfig {
        shards: 1,
        connect_timeout: Duration::from_millis(300),
        ..config()
    };
    let serving = Serving::with(config);
    let (_listener, _fillers, address) = blackhole();
    let proxy = serving.proxy("hole", address);
    let good = serving.proxy("good", echo());
    let start = Instant::now();
    let mut waiting: Vec<TcpStream> = (0..5).map(|_| connect(proxy)).collect();
    serving.wait_for("hole", "connections", 5);
    assert_eq!(echoed(&mut connect(good), b"now"), b"now");
    for client in &mut waiting {
        assert_eq!(rest(client), b"");
    }
    assert!(start.elapsed() >= Duration::from_millis(300));
    assert_eq!(serving.turns("hole", "unreachable"), 5);
}

#[test]
fn toxics_come_and_go_under_load_and_nothing_is_lost() {
    let serving = Serving::start();
    let proxy = serving.proxy("p", echo());
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for n in 0..8_u8 {
            let is_over = &is_over;
            scope.spawn(move || {
                let mut client = connect(proxy);
                let bytes: Vec<u8> = (0..50_000_u32).map(|i| i.to_le_bytes()[0] ^ n).collect();
                while !is_over.load(Ordering::Relaxed) {
                    let mut writer = client.try_clone().unwrap();
                    let sent = bytes.clone();
                    let writing = scope.spawn(move || writer.write_all(&sent).unwrap());
                    let mut back = vec![0; bytes.len()];
                    client.read_exact(&mut back).unwrap();
                    writing.join().unwrap();
                    assert!(back == bytes);
                }
            });
        }
        for round in 0..40 {
            let stream = ["upstream", "downstream"][round % 2];
            for toxic in [
                r#""type": "latency", "attributes": {"latency": 20, "jitter": 20}"#,
                r#""type": "bandwidth", "attributes": {"rate": 2000}"#,
                r#""type": "slicer", "attributes": {"average_size": 900, "size_variation": 300, "delay": 5}"#,
                r#""type": "silence""#,
            ] {
                serving.add("p", &format!(r#"{{"stream": "{stream}", {toxic}}}"#));
            }
            for name in ["bandwidth", "silence", "latency", "slicer"] {
                serving.remove("p", &format!("{name}_{stream}"));
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
}

#[test]
fn turns_are_counted_without_a_look_at_what_is_said() {
    let serving = Serving::start();
    let mut client = connect(serving.proxy("p", echo()));
    for _ in 0..7 {
        echoed(&mut client, b"question");
    }
    assert_eq!(serving.turns("p", "turns"), 7);
    assert_eq!(serving.turns("p", "answered"), 7);
    assert!(serving.turns("p", "turn_time_s").as_f64().unwrap() > 0.0);
    assert_eq!(serving.turns("p", "connections"), 1);
}

#[test]
fn delays_of_ours_are_no_part_of_a_turn() {
    let serving = Serving::start();
    let mut client = connect(serving.proxy("p", echo()));
    for stream in ["upstream", "downstream"] {
        serving.add(
            "p",
            &format!(
                r#"{{"type": "latency", "stream": "{stream}", "attributes": {{"latency": 100}}}}"#
            ),
        );
    }
    let start = Instant::now();
    for _ in 0..3 {
        echoed(&mut client, b"question");
    }
    let per_turn = start.elapsed().as_secs_f64() / 3.0;
    let own = serving.turns("p", "turn_time_s").as_f64().unwrap();
    assert!(per_turn - own >= 0.199, "{own} of {per_turn}");
    assert_eq!(serving.turns("p", "held"), 6);
    let late = serving.turns("p", "late_s").as_f64().unwrap();
    let (held, least) = (per_turn - own, 0.199 + 2.0 * late);
    assert!(late > 0.0 && held >= least, "{held} of {least}");
}

#[test]
fn further_clients_than_there_is_room_for_are_turned_away() {
    let config = plimsoll_fault::FaultConfig {
        connections: 2,
        ..config()
    };
    let serving = Serving::with(config);
    let proxy = serving.proxy("p", echo());
    let mut first = connect(proxy);
    let mut second = connect(proxy);
    echoed(&mut first, b"1");
    echoed(&mut second, b"2");
    let end = connect(proxy).read(&mut [0]);
    assert!(matches!(end, Ok(0)), "{end:?}");
    drop(first);
    serving.wait_for("p", "open", 1);
    assert_eq!(echoed(&mut connect(proxy), b"3"), b"3");
    assert_eq!(serving.turns("p", "turned_away"), 1);
}
