//! Counters and stubs over several shards.

use crate::world::{Client, Mock, config};
use plimsoll_base::counters::{Counter, HEADER_BYTES, ROW_BYTES, Totals};
use plimsoll_mock::MockConfig;
use std::path::Path;

/// A mock on two shards that keeps its counters in `file`, and clients that both shards have accepted.
fn two_shards(file: &Path, clients: usize) -> (Mock, Vec<Client>) {
    let mock = Mock::start(MockConfig {
        shards: 2,
        counters: Some(file.to_owned()),
        ..config()
    });
    let mut connected = Vec::new();
    while connected.len() < clients || !both_accepted(file) {
        let mut client = mock.client();
        assert_eq!(client.get("/xml").status, 200);
        connected.push(client);
        assert!(connected.len() < 500, "one shard accepts nothing");
    }
    (mock, connected)
}

fn both_accepted(file: &Path) -> bool {
    let bytes = std::fs::read(file).unwrap();
    let at = |shard: usize| HEADER_BYTES + shard * ROW_BYTES + Counter::Accepted as usize * 8;
    (0..2).all(|shard| bytes[at(shard)..][..8] != [0; 8])
}

#[test]
fn every_request_is_counted_once() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("counters");
    let (mock, clients) = two_shards(&file, 8);
    let warmed = clients.len() as u64;
    const EACH: usize = 500;
    std::thread::scope(|scope| {
        for mut client in clients {
            scope.spawn(move || {
                let pipelined = "GET /size/1 HTTP/1.1\r\nHost: x\r\n\r\n".repeat(5);
                for _ in 0..EACH / 5 {
                    client.write(&pipelined);
                    for _ in 0..5 {
                        assert_eq!(client.read("GET").status, 200);
                    }
                }
            });
        }
    });
    let expected = warmed + warmed * EACH as u64;
    let summary = mock.stop();
    assert_eq!(
        (summary.received, summary.served, summary.accepted),
        (expected, expected, warmed)
    );
    let totals = Totals::read(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(
        totals.get(Counter::Received),
        expected,
        "the file outlives the mock"
    );
}

#[test]
fn a_stub_is_on_every_shard_when_its_creation_has_answered() {
    let directory = tempfile::tempdir().unwrap();
    let (_mock, mut clients) = two_shards(&directory.path().join("counters"), 4);
    for round in 0..50 {
        let stub = format!(r#"{{"request": {{"url": "/x"}}, "response": {{"body": "{round}"}}}}"#);
        let creator = round % clients.len();
        assert_eq!(
            clients[creator]
                .send("POST", "/__admin/mappings", &stub)
                .status,
            201
        );
        for client in &mut clients {
            assert_eq!(client.get("/x").text(), round.to_string());
        }
    }
}
