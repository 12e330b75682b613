//! Each type of toxics by its effect. Times are judged from below: a busy machine is late, never early.

use crate::serving::{Serving, connect, echo, echoed, rest, server};
use plimsoll_testbed::port::Refusing;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

const fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// A proxy `p` to an echo, and a client of it that has been answered once.
fn client(serving: &Serving) -> TcpStream {
    let mut client = connect(serving.proxy("p", echo()));
    assert_eq!(echoed(&mut client, b"first"), b"first");
    client
}

#[test]
fn latency_is_a_delay_line() {
    let serving = Serving::start();
    let mut client = client(&serving);
    serving.add(
        "p",
        r#"{"type": "latency", "attributes": {"latency": 200}}"#,
    );
    let start = Instant::now();
    // One after the other they would take ten seconds.
    for _ in 0..50 {
        client.write_all(b"x").unwrap();
        std::thread::yield_now();
    }
    let mut back = [0; 50];
    client.read_exact(&mut back).unwrap();
    let took = start.elapsed();
    assert!(took >= ms(200), "{took:?}");
    assert!(took < ms(5_000), "{took:?}");
}

#[test]
fn jitter_never_reorders() {
    let serving = Serving::start();
    let mut client = client(&serving);
    serving.add(
        "p",
        r#"{"type": "latency", "stream": "upstream", "attributes": {"latency": 5, "jitter": 5}}"#,
    );
    let sent: Vec<u8> = (0..200).collect();
    let mut writer = client.try_clone().unwrap();
    let bytes = sent.clone();
    std::thread::spawn(move || {
        for byte in bytes {
            writer.write_all(&[byte]).unwrap();
            std::thread::yield_now();
        }
    });
    let mut back = vec![0; sent.len()];
    client.read_exact(&mut back).unwrap();
    assert_eq!(back, sent);
}

#[test]
fn bytes_under_way_follow_a_change_of_latency_at_once() {
    let serving = Serving::start();
    let mut client = client(&serving);
    let long = r#"{"type": "latency", "attributes": {"latency": 60000}}"#;
    serving.add("p", long);
    client.write_all(b"held").unwrap();
    serving.wait_for("p", "answered", 2);
    let shorter = r#"{"attributes": {"latency": 1}}"#;
    let (status, _) = serving.call("PATCH", "/proxies/p/toxics/latency_downstream", shorter);
    assert_eq!(status, 200);
    let mut back = [0; 4];
    client.read_exact(&mut back).unwrap();
    serving.call("PATCH", "/proxies/p/toxics/latency_downstream", long);
    client.write_all(b"held").unwrap();
    serving.wait_for("p", "answered", 3);
    serving.remove("p", "latency_downstream");
    client.read_exact(&mut back).unwrap();
    assert_eq!(&back, b"held");
}

#[test]
fn bandwidth_limits_what_passes() {
    let serving = Serving::start();
    let mut client = client(&serving);
    serving.add(
        "p",
        r#"{"type": "bandwidth", "stream": "upstream", "attributes": {"rate": 100}}"#,
    );
    let start = Instant::now();
    let bytes = vec![7; 50_000];
    assert!(echoed(&mut client, &bytes) == bytes);
    let took = start.elapsed();
    assert!(took >= ms(499), "{took:?}");
    serving.call(
        "PATCH",
        "/proxies/p/toxics/bandwidth_upstream",
        r#"{"attributes": {"rate": 0}}"#,
    );
    let bytes = vec![7; 10_000_000];
    let mut writer = client.try_clone().unwrap();
    let sent = bytes.clone();
    std::thread::spawn(move || writer.write_all(&sent).unwrap());
    let mut back = vec![0; bytes.len()];
    client.read_exact(&mut back).unwrap();
    assert!(back == bytes);
}

#[test]
fn little_is_taken_of_what_bandwidth_does_not_let_pass() {
    let serving = Serving::start();
    let mut client = client(&serving);
    serving.add(
        "p",
        r#"{"type": "bandwidth", "stream": "upstream", "attributes": {"rate": 1}}"#,
    );
    client.set_write_timeout(Some(ms(200))).unwrap();
    let mut taken = 0;
    while let Ok(count) = client.write(&[0; 100_000]) {
        taken += count;
        assert!(taken < 50_000_000, "it is buffered without end");
    }
}

#[test]
fn slow_close_delays_the_end_alone() {
    let serving = Serving::start();
    let mut client = client(&serving);
    serving.add(
        "p",
        r#"{"type": "slow_close", "attributes": {"delay": 150}}"#,
    );
    let start = Instant::now();
    assert_eq!(echoed(&mut client, b"soon"), b"soon");
    client.shutdown(Shutdown::Write).unwrap();
    assert_eq!(rest(&mut client), b"");
    assert!(start.elapsed() >= ms(150));
}

#[test]
fn timeout_drops_and_then_closes() {
    let serving = Serving::start();
    let mut client = client(&serving);
    let start = Instant::now();
    serving.add(
        "p",
        r#"{"type": "timeout", "attributes": {"timeout": 100}}"#,
    );
    // It may have closed already, on a machine that stalls.
    if client.write_all(b"dropped").is_err() {
        return;
    }
    assert_eq!(rest(&mut client), b"");
    assert!(start.elapsed() >= ms(100));
}

#[test]
fn a_timeout_of_zero_closes_when_it_is_removed() {
    let serving = Serving::start();
    let mut client = client(&serving);
    serving.add("p", r#"{"type": "timeout"}"#);
    client.write_all(b"dropped").unwrap();
    serving.wait_for("p", "answered", 2);
    client.set_read_timeout(Some(ms(50))).unwrap();
    let nothing = client.read(&mut [0]).unwrap_err();
    assert_eq!(nothing.kind(), ErrorKind::WouldBlock);
    client.set_read_timeout(Some(ms(30_000))).unwrap();
    serving.remove("p", "timeout_downstream");
    assert_eq!(rest(&mut client), b"");
}

#[test]
fn timeout_needs_no_server() {
    let serving = Serving::start();
    let nobody = Refusing::hold().unwrap();
    let address = nobody.address;
    let proxy = serving.proxy("p", address);
    assert_eq!(
        rest(&mut connect(proxy)),
        b"",
        "without it, the client is let go of"
    );
    serving.add(
        "p",
        r#"{"type": "timeout", "attributes": {"timeout": 150}}"#,
    );
    let start = Instant::now();
    let mut client = connect(proxy);
    client.write_all(b"hello").unwrap();
    assert_eq!(rest(&mut client), b"");
    assert!(start.elapsed() >= ms(150));
    assert_eq!(serving.turns("p", "unreachable"), 2);
    drop(client);
    serving.remove("p", "timeout_downstream");
    serving.add("p", r#"{"type": "timeout"}"#);
    let client = connect(proxy);
    serving.wait_for("p", "unreachable", 3);
    drop(client);
    serving.wait_for("p", "open", 0);
}

#[test]
fn reset_peer_resets_connections_that_were_open_before() {
    let serving = Serving::start();
    let mut client = client(&serving);
    serving.add(
        "p",
        r#"{"type": "reset_peer", "attributes": {"timeout": 50}}"#,
    );
    let start = Instant::now();
    client.write_all(b"x").unwrap();
    let reset = client.read(&mut [0]).unwrap_err();
    assert_eq!(reset.kind(), ErrorKind::ConnectionReset);
    assert!(start.elapsed() >= ms(50));
    assert_eq!(serving.turns("p", "resets"), 1);
}

#[test]
fn slices_are_small_and_apart() {
    let serving = Serving::start();
    let mut client = client(&serving);
    serving.add(
        "p",
        r#"{"type": "slicer", "attributes": {"average_size": 10, "size_variation": 5, "delay": 2000}}"#,
    );
    let start = Instant::now();
    let bytes: Vec<u8> = (0..200).collect();
    assert_eq!(echoed(&mut client, &bytes), bytes);
    // At most 15 bytes each: at least 14 slices, 13 pauses.
    assert!(start.elapsed() >= ms(26));
}

#[test]
fn limit_data_is_exact_although_the_client_still_sends() {
    let serving = Serving::start();
    let proxy = serving.proxy("p", echo());
    serving.add(
        "p",
        r#"{"type": "limit_data", "attributes": {"bytes": 100000}}"#,
    );
    for _ in 0..20 {
        let mut client = connect(proxy);
        let mut writer = client.try_clone().unwrap();
        let sending = std::thread::spawn(move || while writer.write_all(&[1; 10_000]).is_ok() {});
        let mut taken = 0;
        let mut buffer = [0; 10_000];
        while taken < 100_000 {
            match client.read(&mut buffer).unwrap() {
                0 => break,
                count => taken += count,
            }
        }
        assert_eq!(taken, 100_000);
        let end = client.read(&mut buffer);
        assert!(matches!(end, Ok(0) | Err(_)), "{end:?}");
        if client.shutdown(Shutdown::Both).is_err() {
            // It has been reset already.
        }
        sending.join().unwrap();
    }
}

#[test]
fn toxics_follow_each_other() {
    let serving = Serving::start();
    let mut client = client(&serving);
    for toxic in [
        r#"{"type": "latency", "attributes": {"latency": 100}}"#,
        r#"{"type": "noop"}"#,
        r#"{"type": "slicer", "attributes": {"average_size": 1000, "delay": 10}}"#,
        r#"{"type": "limit_data", "attributes": {"bytes": 30000}}"#,
        r#"{"type": "latency", "name": "again", "attributes": {"latency": 100}}"#,
    ] {
        serving.add("p", toxic);
    }
    let start = Instant::now();
    client.write_all(&[3; 40_000]).unwrap();
    assert_eq!(rest(&mut client), vec![3; 30_000]);
    assert!(start.elapsed() >= ms(200));
}

#[test]
fn silence_holds_and_lets_go_of_everything_in_order() {
    let serving = Serving::start();
    let mut client = client(&serving);
    serving.add("p", r#"{"type": "silence"}"#);
    let sent: Vec<u8> = (0..100_000_u32)
        .map(|n| u8::try_from(n % 251).unwrap())
        .collect();
    client.write_all(&sent).unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    serving.wait_for("p", "answered", 2);
    client.set_read_timeout(Some(ms(50))).unwrap();
    let nothing = client.read(&mut [0]).unwrap_err();
    assert_eq!(nothing.kind(), ErrorKind::WouldBlock);
    client.set_read_timeout(Some(ms(30_000))).unwrap();
    serving.remove("p", "silence_downstream");
    assert!(rest(&mut client) == sent);
}

#[test]
fn refuse_resets_and_listens_no_more_until_it_is_removed() {
    let serving = Serving::start();
    let proxy = serving.proxy("p", echo());
    let mut client = connect(proxy);
    assert_eq!(echoed(&mut client, b"first"), b"first");
    serving.add("p", r#"{"type": "refuse"}"#);
    let reset = client.read(&mut [0]).unwrap_err();
    assert_eq!(reset.kind(), ErrorKind::ConnectionReset);
    let refused = TcpStream::connect(proxy).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
    serving.remove("p", "refuse_downstream");
    assert_eq!(echoed(&mut connect(proxy), b"back"), b"back");
    let part = r#"{"type": "refuse", "toxicity": 0.5}"#;
    let (status, body) = serving.call("POST", "/proxies/p/toxics", part);
    assert_eq!(status, 400, "{body}");
}

#[test]
fn connecting_may_be_delayed() {
    let serving = Serving::start();
    let proxy = serving.proxy("p", echo());
    serving.add(
        "p",
        r#"{"type": "connect_delay", "attributes": {"delay": 120}}"#,
    );
    let start = Instant::now();
    let mut client = connect(proxy);
    assert_eq!(echoed(&mut client, b"late"), b"late");
    assert!(start.elapsed() >= ms(119));
    let start = Instant::now();
    serving.add(
        "p",
        r#"{"type": "connect_delay", "name": "more", "attributes": {"delay": 60000}}"#,
    );
    assert_eq!(echoed(&mut client, b"soon"), b"soon");
    assert!(start.elapsed() < ms(30_000), "it has connected long ago");
}

#[test]
fn corrupt_flips_one_bit_of_a_byte() {
    let serving = Serving::start();
    let mut client = client(&serving);
    serving.add(
        "p",
        r#"{"type": "corrupt", "attributes": {"per_million": 1000000}}"#,
    );
    let back = echoed(&mut client, &[0; 1_000]);
    assert!(back.iter().all(|byte| byte.count_ones() == 1));
}

/// Which of `count` connections a toxic cuts.
fn cut(seed: u64, toxicity: f32, count: usize) -> Vec<bool> {
    let config = plimsoll_fault::FaultConfig {
        seed,
        shards: 1,
        ..crate::serving::config()
    };
    let serving = Serving::with(config);
    let proxy = serving.proxy(
        "p",
        server(|mut client| {
            if client.write_all(b"x").is_err() {
                // It was cut.
            }
        }),
    );
    serving.add(
        "p",
        &format!(r#"{{"type": "limit_data", "toxicity": {toxicity}}}"#),
    );
    let is_cut = |_| rest(&mut connect(proxy)).is_empty();
    (0..count).map(is_cut).collect()
}

#[test]
fn a_seed_decides_on_which_connections_a_toxic_works() {
    let first = cut(5, 0.3, 300);
    assert_eq!(cut(5, 0.3, 300), first);
    assert_ne!(cut(6, 0.3, 300), first);
    let count = first.iter().filter(|is_cut| **is_cut).count();
    // 90 are expected; 3.3 standard deviations are 26.
    assert!((64..=116).contains(&count), "{count}");
    let more = cut(5, 0.6, 300);
    assert!(first.iter().zip(&more).all(|(few, many)| *many || !few));
}
