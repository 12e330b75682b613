//! Records that a server is given and does not take: which of them are lost, which are tried again, and that none is there twice.

use crate::redis::Redis;
use crate::sinks::{LIST, ids, lost, requests, to_postgresql, to_redis, until, upstream};
use crate::support::{Gateway, Message, Upstream, to};
use crate::tracing::as_json;
use plimsoll_testbed::peers::postgresql::{PASSWORD, Postgresql, USER};
use std::collections::HashSet;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

fn written(gateway: &Gateway, sink: &str) -> u64 {
    gateway.metric(&format!("analytics_written_total{{sink=\"{sink}\"}}"))
}

#[test]
#[ignore = "needs redis-server: run scripts/test"]
fn records_that_redis_refuses_wait_until_it_takes_them() {
    let (redis, upstream) = (Redis::start(), upstream());
    redis.does(&format!("SET {LIST} text"));
    let spool = tempfile::tempdir().unwrap();
    let gateway = to_redis(&upstream, redis.at, spool.path());
    requests(&gateway, 8);
    let is_refused = || {
        let errors: String = redis.answers(redis::cmd("INFO").arg("errorstats"));
        errors.contains("WRONGTYPE")
    };
    until("it was refused", is_refused);
    assert_eq!(written(&gateway, "redis"), 0);
    redis.does(&format!("DEL {LIST}"));
    until("8 records", || ids(&redis).len() == 8);
    until("8 are written", || written(&gateway, "redis") == 8);
    gateway.tell_to_stop();
    let told = gateway.join().join("\n");
    assert!(told.contains("WRONGTYPE"), "{told}");
    assert!(!told.contains("lost"), "{told}");
}

#[test]
#[ignore = "needs redis-server: run scripts/test"]
fn records_are_there_once_also_where_redis_refuses_what_is_asked_beside_them() {
    let (redis, upstream) = (Redis::start(), upstream());
    redis.does("ACL SETUSER default -expire");
    let spool = tempfile::tempdir().unwrap();
    let gateway = to_redis(&upstream, redis.at, spool.path());
    requests(&gateway, 8);
    until("8 are written", || written(&gateway, "redis") == 8);
    assert_eq!(ids(&redis).len(), 8);
    gateway.tell_to_stop();
    let told = gateway.join().join("\n");
    assert!(told.contains("run this command"), "{told}");
}

/// Whether this text stands in a request.
fn stands(part: &str, asked: &[u8]) -> bool {
    String::from_utf8_lossy(asked).contains(part)
}

/// Stands before a Redis. Of what looks at a fence `carry_out` says what is answered; the connection breaks where that is nothing.
fn before(
    redis: SocketAddr,
    mut carry_out: impl FnMut(&mut TcpStream, &[u8]) -> Option<Vec<u8>> + Send + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        // One connection at a time is all that the sink has.
        for client in listener.incoming() {
            let (mut client, mut server) = (client.unwrap(), TcpStream::connect(redis).unwrap());
            let mut bytes = vec![0; 1 << 16];
            while let Ok(length @ 1..) = client.read(&mut bytes) {
                let asked = &bytes[..length];
                let answer = match stands("GETEX", asked) {
                    true => carry_out(&mut server, asked),
                    false => Some(carried_out(&mut server, asked)),
                };
                if answer.is_none_or(|answer| client.write_all(&answer).is_err()) {
                    break;
                }
            }
        }
    });
    address
}

/// Answer of Redis.
fn carried_out(server: &mut TcpStream, asked: &[u8]) -> Vec<u8> {
    server.write_all(asked).unwrap();
    let mut answer = vec![0; 1 << 16];
    let length = server.read(&mut answer).unwrap();
    answer.truncate(length);
    answer
}

/// Has a Redis carry out what looks at a fence, and breaks so many connections before it says so.
fn breaking(redis: SocketAddr, breaks: usize) -> (SocketAddr, Arc<AtomicUsize>) {
    let broken = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&broken);
    let address = before(redis, move |server, asked| {
        let answer = carried_out(server, asked);
        if count.load(Ordering::SeqCst) < breaks {
            count.fetch_add(1, Ordering::SeqCst);
            return None;
        }
        Some(answer)
    });
    (address, broken)
}

/// Breaks the first connection on which `first` stands in what looks at a fence, and has Redis read that when it has carried out another, in
/// which `last` stands. Counts both: when it is held, and when it was read.
pub fn reading_late(
    redis: SocketAddr,
    [first, last]: [&'static str; 2],
) -> (SocketAddr, Arc<AtomicUsize>) {
    let come = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&come);
    let mut held: Option<(TcpStream, Vec<u8>)> = None;
    let address = before(redis, move |server, asked| {
        if count.load(Ordering::SeqCst) == 0 && stands(first, asked) {
            held = Some((server.try_clone().unwrap(), asked.to_vec()));
            count.store(1, Ordering::SeqCst);
            return None;
        }
        let answer = carried_out(server, asked);
        if stands(last, asked)
            && let Some((mut server, asked)) = held.take()
        {
            carried_out(&mut server, &asked);
            count.store(2, Ordering::SeqCst);
        }
        Some(answer)
    });
    (address, come)
}

#[test]
#[ignore = "needs redis-server: run scripts/test"]
fn connections_that_break_one_after_another_double_no_record() {
    let (redis, upstream) = (Redis::start(), upstream());
    let (at, broken) = breaking(redis.at, 2);
    let rest = format!(
        "{}analytics: {{ redis: {{ url: \"redis://{at}\", form: json }} }}\n",
        to(upstream.address)
    );
    let gateway = Gateway::with_shards(1, &rest);
    requests(&gateway, 8);
    until("the first break", || broken.load(Ordering::SeqCst) == 1);
    requests(&gateway, 8);
    until("the second break", || broken.load(Ordering::SeqCst) == 2);
    until("16 are written", || written(&gateway, "redis") == 16);
    assert_eq!(ids(&redis).len(), 16);
}

#[test]
#[ignore = "needs redis-server: run scripts/test"]
fn what_redis_reads_late_of_a_broken_connection_doubles_no_record() {
    let (redis, upstream) = (Redis::start(), upstream());
    let (at, transactions) = reading_late(redis.at, ["RPUSH"; 2]);
    let rest = format!(
        "{}analytics: {{ redis: {{ url: \"redis://{at}\", form: json }} }}\n",
        to(upstream.address)
    );
    let gateway = Gateway::with_shards(1, &rest);
    requests(&gateway, 8);
    until("the late one", || transactions.load(Ordering::SeqCst) == 2);
    until("8 are written", || written(&gateway, "redis") == 8);
    assert_eq!(ids(&redis).len(), 8);
}

#[test]
#[ignore = "needs PostgreSQL: run scripts/test"]
fn a_record_that_postgresql_refuses_is_lost_alone_and_not_shown() {
    let upstream = upstream();
    let postgresql = Postgresql::start(&[]).unwrap();
    let spool = tempfile::tempdir().unwrap();
    let gateway = to_postgresql(&upstream, &postgresql, (USER, PASSWORD), spool.path());
    requests(&gateway, 4);
    until("4 are written", || written(&gateway, "postgresql") == 4);
    let narrower = "ALTER TABLE plimsoll_analytics ADD CONSTRAINT narrow CHECK (path <> '/hidden')";
    postgresql.ask(narrower).unwrap();
    let mut client = gateway.connect();
    for number in 0..21 {
        let path = if number == 7 { "/hidden" } else { "/" };
        assert_eq!(client.get(path).status(), 200);
    }
    until("20 more are written", || {
        written(&gateway, "postgresql") == 24
    });
    assert_eq!(lost(&gateway, "postgresql"), 1);
    let rows = postgresql.ask("SELECT count(*) FROM plimsoll_analytics");
    assert_eq!(rows.unwrap(), "24");
    gateway.tell_to_stop();
    let told = gateway.join().join("\n");
    assert!(told.contains("violates check constraint"), "{told}");
    assert!(!told.contains("hidden"), "{told}");
}

#[test]
#[ignore = "needs PostgreSQL: run scripts/test"]
fn whoever_may_insert_alone_needs_a_table_and_no_right_to_make_it() {
    let upstream = upstream();
    let postgresql = Postgresql::start(&[]).unwrap();
    let made = [
        "REVOKE CREATE ON SCHEMA public FROM PUBLIC",
        "CREATE ROLE writer LOGIN PASSWORD 'w'",
    ];
    for statement in made {
        postgresql.ask(statement).unwrap();
    }
    for (who, count) in [((USER, PASSWORD), 4), (("writer", "w"), 8)] {
        let spool = tempfile::tempdir().unwrap();
        let gateway = to_postgresql(&upstream, &postgresql, who, spool.path());
        requests(&gateway, 4);
        until("4 are written", || written(&gateway, "postgresql") == 4);
        let rows = postgresql.ask("SELECT count(*) FROM plimsoll_analytics");
        assert_eq!(rows.unwrap(), count.to_string());
        let grant = "GRANT INSERT ON plimsoll_analytics TO writer";
        postgresql.ask(grant).unwrap();
    }
}

/// A collector's answers to requests, and the ids of those it took.
#[derive(Default)]
struct Collector {
    refuses: AtomicBool,
    took: Mutex<HashSet<String>>,
}

impl Collector {
    fn answer(&self, request: &Message) -> &'static str {
        let request = as_json("/v1/logs", request);
        let records = &request["resourceLogs"][0]["scopeLogs"][0]["logRecords"];
        let records = records.as_array().unwrap();
        if self.refuses.load(Ordering::SeqCst) {
            return "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
        }
        if records.len() > 2 {
            return "HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n";
        }
        for record in records {
            let id = record["attributes"][0]["value"]["stringValue"].as_str();
            let id = id.unwrap().to_owned();
            assert!(self.took.lock().unwrap().insert(id), "a record came twice");
        }
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
    }
}

#[test]
fn what_a_collector_refuses_holds_nothing_else_up() {
    let collector = Arc::new(Collector::default());
    let answering = Arc::clone(&collector);
    let at = Upstream::start(move |mut peer, _| {
        while let Some(request) = peer.request() {
            peer.send(answering.answer(&request));
        }
    });
    let rest = format!(
        "{}analytics: {{ otlp: {{ endpoint: \"http://{}\" }} }}\n",
        to(upstream().address),
        at.address
    );
    let gateway = Gateway::with_shards(1, &rest);
    collector.refuses.store(true, Ordering::SeqCst);
    requests(&gateway, 4);
    until("4 are lost", || lost(&gateway, "otlp") == 4);
    collector.refuses.store(false, Ordering::SeqCst);
    requests(&gateway, 16);
    until("16 are written", || written(&gateway, "otlp") == 16);
    assert_eq!(collector.took.lock().unwrap().len(), 16);
    assert_eq!(lost(&gateway, "otlp"), 4);
    gateway.tell_to_stop();
    let told = gateway.join().join("\n");
    assert!(told.contains("answered with status 400"), "{told}");
    assert!(!told.contains("takes no records"), "{told}");
}
