//! Requests of clients whose data moves: both shards get them, the old one answers, and whatever becomes of the copy harms nobody.

use crate::departures::{answering, reset};
use crate::http2::{in_runtime, post};
use crate::http2_secured::connect;
use crate::secured::Realm;
use crate::support::{Gateway, PATIENCE, Upstream};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, mpsc};

const REQUIRED: &str = "clients: required, ca: ca.pem, crl: ca.crl";
const MIRRORING: &str =
    "exact: [{ uri: 'urn:ann', shard: eu, moving: { to: us, phase: mirroring } }]\n";
/// A configuration with a mirror, open for more entries to follow.
const LISTED: &str =
    "exact:\n  - { uri: 'urn:ann', shard: eu, moving: { to: us, phase: mirroring } }\n";
const FROZEN: &str = "exact: [{ uri: 'urn:ann', shard: eu, moving: { to: us, phase: frozen } }]\n";
const MOVED: &str = "exact: [{ uri: 'urn:ann', shard: us }]\n";

/// Requests to an upstream, in their order: method, path, body.
type Asked = Arc<Mutex<Vec<String>>>;

/// An upstream that answers with `status` and its name.
fn recording(name: &'static str, status: u16) -> (SocketAddr, Asked) {
    let asked = Asked::default();
    let noted = Arc::clone(&asked);
    let upstream = Upstream::start(move |mut peer, _| {
        while let Some(request) = peer.request() {
            let line = request.head.lines().next().unwrap();
            let line = line.strip_suffix(" HTTP/1.1").unwrap();
            let note = match request.field("x-shard-mirror") {
                None => format!("{line} {}", request.body_text()),
                Some(owner) => format!("{line} {} of {owner}", request.body_text()),
            };
            noted.lock().unwrap().push(note);
            let length = name.len();
            peer.send(&format!(
                "HTTP/1.1 {status} Said\r\nContent-Length: {length}\r\n\r\n{name}"
            ));
        }
    });
    (upstream.address, asked)
}

fn map(version: u64, entries: &str) -> String {
    format!(
        "version: 1\nmap_version: {version}\nshards: {{ eu: {{ upstream: eu }}, us: {{ upstream: us }} }}\n{entries}"
    )
}

/// A gateway in which the data of `urn:ann` moves from `eu` to `us`, with these limits of copies.
fn moving(realm: &Realm, at: [SocketAddr; 2], limits: &str) -> Gateway {
    moving_to(realm, at, "", limits)
}

/// A configuration with a mirror and more settings of the upstream `us`.
fn moving_to(realm: &Realm, [eu, us]: [SocketAddr; 2], of_us: &str, limits: &str) -> Gateway {
    let text = map(1, MIRRORING);
    let mut files = realm.files.lock().unwrap();
    files.insert("shards.yaml".to_owned(), text.into());
    drop(files);
    let rest = format!(
        "upstreams:\n  eu: {{ endpoints: [\"http://{eu}\"] }}\n  us: {{ endpoints: [\"http://{us}\"]{of_us} }}\nroutes: [{{ path: /, sharded: true }}]\nshard_map: {{ file: shards.yaml{limits} }}\nhttp2: {{}}\n"
    );
    let text = Realm::text(REQUIRED, &rest);
    Gateway::with_files(1, text, &realm.files)
}

fn result(upstream: &str, word: &str) -> String {
    format!("mirrored_requests_total{{upstream=\"{upstream}\",result=\"{word}\"}}")
}

fn noted(asked: &Asked) -> Vec<String> {
    asked.lock().unwrap().clone()
}

#[test]
fn both_shards_are_asked_in_the_same_order_and_the_old_one_answers() {
    let realm = Realm::new();
    let ((eu, at_eu), (us, at_us)) = (recording("eu", 200), recording("us", 200));
    let gateway = moving(&realm, [eu, us], "");
    let caller = realm.caller(Some(&realm.issue("urn:ann")));
    let mut client = caller.connect(gateway.address("main"));
    let requests = [
        "GET /a?b=c HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi",
        "PUT /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nch\r\n5\r\nunked\r\n0\r\n\r\n",
        "DELETE /d HTTP/1.1\r\nHost: a\r\nX-Shard-Mirror: forged\r\n\r\n",
        "POST /e HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
    ];
    for request in requests.iter().cycle().take(20) {
        let answer = client.ask(request);
        assert_eq!((answer.status(), &*answer.body_text()), (200, "eu"));
    }
    gateway.reaches(&result("us", "same"), 20);
    let owner = noted(&at_eu);
    let expected = [
        "GET /a?b=c ",
        "POST /b hi",
        "PUT /c chunked",
        "DELETE /d ",
        "POST /e ",
    ];
    assert_eq!(owner[..5], expected);
    let copies: Vec<String> = owner.iter().map(|asked| format!("{asked} of eu")).collect();
    assert_eq!(noted(&at_us), copies);
    assert_eq!(gateway.metric(&result("eu", "same")), 0);
    // Whose data does not move is not copied, and neither is what comes after the freeze.
    gateway.rewrites("shards.yaml", &map(2, FROZEN));
    assert_eq!(client.get("/after").body_text(), "eu");
    gateway.rewrites("shards.yaml", &map(3, MOVED));
    assert_eq!(client.get("/moved").body_text(), "us");
    assert_eq!(noted(&at_eu).len(), 21);
    assert_eq!(noted(&at_us).len(), 21);
}

#[test]
fn streams_of_one_connection_are_copied_in_their_order() {
    let realm = Realm::new();
    let ((eu, at_eu), (us, at_us)) = (recording("eu", 200), recording("us", 200));
    let gateway = moving(&realm, [eu, us], "");
    let own = realm.issue("urn:ann");
    in_runtime(async {
        let mut client = connect(&realm, Some(&own), &gateway).await;
        for number in 0..50 {
            let got = client.ask(post(&format!("/{number}")), "x").await.unwrap();
            assert_eq!(got.body, "eu");
        }
    });
    gateway.reaches(&result("us", "same"), 50);
    let copies: Vec<String> = noted(&at_eu)
        .iter()
        .map(|asked| format!("{asked} of eu"))
        .collect();
    assert_eq!(noted(&at_us), copies);
}

#[test]
fn what_becomes_of_a_copy_is_counted_and_harms_nobody() {
    let realm = Realm::new();
    let ((eu, _), (us, at_us)) = (recording("eu", 200), recording("us", 500));
    let gateway = moving(&realm, [eu, us], ", mirror: { body: 4 }");
    let caller = realm.caller(Some(&realm.issue("urn:ann")));
    let mut client = caller.connect(gateway.address("main"));
    let post = |length: usize| {
        let body = "x".repeat(length);
        format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n{body}")
    };
    assert_eq!(client.ask(&post(4)).status(), 200);
    gateway.reaches(&result("us", "other"), 1);
    assert_eq!(client.ask(&post(5)).status(), 200);
    gateway.reaches(&result("us", "too_large"), 1);
    assert_eq!(noted(&at_us).len(), 1);
    // An upstream that breaks off every connection.
    let broken = Upstream::start(|mut peer, _| {
        peer.request();
    });
    let gateway = moving(&realm, [eu, broken.address], "");
    let mut client = caller.connect(gateway.address("main"));
    for count in 1..=3 {
        assert_eq!(client.ask(&post(4)).status(), 200);
        gateway.reaches(&result("us", "failed"), count);
    }
    // Who knows what the owner has done with it?
    let gateway = moving(&realm, [broken.address, us], "");
    let mut client = caller.connect(gateway.address("main"));
    assert_eq!(client.ask(&post(4)).status(), 502);
    gateway.reaches(&result("us", "unanswered"), 1);
    assert_eq!(noted(&at_us).len(), 1);
}

/// An upstream that answers when it is told to, and says when it has been asked.
fn holding() -> (SocketAddr, mpsc::Receiver<()>, mpsc::Sender<()>) {
    let (asked, is_asked) = mpsc::channel();
    let (answer, may_answer) = mpsc::channel::<()>();
    let may_answer = Arc::new(Mutex::new(may_answer));
    let upstream = Upstream::start(move |mut peer, _| {
        while peer.request().is_some() {
            // Nobody may be left to hear it.
            let _heard = asked.send(());
            if may_answer.lock().unwrap().recv().is_err() {
                return;
            }
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        }
    });
    (upstream.address, is_asked, answer)
}

#[test]
fn copies_that_wait_are_limited_and_hold_up_no_client() {
    let realm = Realm::new();
    let ((eu, at_eu), (us, asked, answer)) = (recording("eu", 200), holding());
    let gateway = moving(&realm, [eu, us], ", mirror: { queue: 2 }");
    let caller = realm.caller(Some(&realm.issue("urn:ann")));
    let mut client = caller.connect(gateway.address("main"));
    for _ in 0..5 {
        assert_eq!(client.get("/").body_text(), "eu");
    }
    asked.recv_timeout(PATIENCE).unwrap();
    gateway.reaches(&result("us", "dropped"), 3);
    gateway.reaches("mirrored_requests_waiting", 2);
    assert_eq!(noted(&at_eu).len(), 5);
    for _ in 0..2 {
        answer.send(()).unwrap();
    }
    gateway.reaches(&result("us", "same"), 2);
    gateway.reaches("mirrored_requests_waiting", 0);
}

#[test]
fn a_copy_that_may_change_data_holds_up_the_end_of_the_move() {
    let realm = Realm::new();
    let ((eu, _), (us, asked, answer)) = (recording("eu", 200), holding());
    let gateway = moving(&realm, [eu, us], "");
    let caller = realm.caller(Some(&realm.issue("urn:ann")));
    let mut client = caller.connect(gateway.address("main"));
    // Only what is frozen may get its new shard.
    gateway.write("shards.yaml", &map(2, MOVED));
    let refusal = gateway.reload().refusal();
    assert!(
        refusal.contains("URI urn:ann would move from `eu` to `us`"),
        "{refusal}"
    );
    assert_eq!(
        client
            .ask("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")
            .status(),
        200
    );
    asked.recv_timeout(PATIENCE).unwrap();
    drop(client);
    gateway.rewrites("shards.yaml", &map(2, FROZEN));
    gateway.write("shards.yaml", &map(3, MOVED));
    let refusal = gateway.reload().refusal();
    assert!(refusal.contains("began before"), "{refusal}");
    answer.send(()).unwrap();
    assert!((0..10_000).any(|_| gateway.reload().status() == 200));
    gateway.reaches(&result("us", "same"), 1);
}

#[test]
fn a_copy_that_takes_too_long_is_under_way_until_it_is_answered() {
    let realm = Realm::new();
    let (asked, is_asked) = mpsc::channel();
    let (answer, may_answer) = mpsc::channel::<()>();
    let may_answer = Arc::new(Mutex::new(may_answer));
    // Each connection is served by itself: what changes nothing is never answered.
    let slow = Upstream::start(move |mut peer, _| {
        while let Some(request) = peer.request() {
            let line = request.head.lines().next().unwrap().to_owned();
            let changes = line.starts_with("POST");
            // Nobody may be left to hear it.
            let _heard = asked.send(line);
            if changes && may_answer.lock().unwrap().recv().is_ok() {
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
            }
        }
    });
    let (eu, _) = recording("eu", 200);
    let impatient = ", response_head_timeout: 50ms";
    let gateway = moving_to(&realm, [eu, slow.address], impatient, "");
    let caller = realm.caller(Some(&realm.issue("urn:ann")));
    let mut clients = [(); 2].map(|()| caller.connect(gateway.address("main")));
    let post = |path: &str| format!("POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
    for path in ["/first", "/second"] {
        assert_eq!(clients[0].ask(&post(path)).status(), 200);
    }
    let heard = || is_asked.recv_timeout(PATIENCE).unwrap();
    assert_eq!(heard(), "POST /first HTTP/1.1");
    // A copy that was begun after it has had its time, so the first has had its, too.
    assert_eq!(clients[1].get("/").status(), 200);
    assert_eq!(heard(), "GET / HTTP/1.1");
    gateway.reaches(&result("us", "failed"), 1);
    gateway.rewrites("shards.yaml", &map(2, FROZEN));
    gateway.write("shards.yaml", &map(3, MOVED));
    let refusal = gateway.reload().refusal();
    assert!(refusal.starts_with("422 2 requests"), "{refusal}");
    // The one behind it has not overtaken it.
    assert!(is_asked.try_recv().is_err());
    answer.send(()).unwrap();
    assert_eq!(heard(), "POST /second HTTP/1.1");
    answer.send(()).unwrap();
    assert!((0..10_000).any(|_| gateway.reload().status() == 200));
    gateway.reaches("mirrored_requests_waiting", 0);
}

#[test]
fn a_drain_lets_copies_end_as_long_as_it_lasts() {
    let realm = Realm::new();
    let ((eu, _), (us, asked, answer)) = (recording("eu", 200), holding());
    let gateway = moving(&realm, [eu, us], "");
    let caller = realm.caller(Some(&realm.issue("urn:ann")));
    let mut client = caller.connect(gateway.address("main"));
    for _ in 0..2 {
        assert_eq!(client.get("/").body_text(), "eu");
    }
    asked.recv_timeout(PATIENCE).unwrap();
    gateway.tell_to_stop();
    // Its clients have gone, and the gateway is there as long as copies are: the second is sent when the first is answered.
    assert!(client.ends());
    answer.send(()).unwrap();
    asked.recv_timeout(PATIENCE).unwrap();
    gateway.reaches(&result("us", "same"), 1);
    answer.send(()).unwrap();
    gateway.join();
}

#[test]
fn a_copy_has_its_place_from_the_beginning_of_its_exchange() {
    let realm = Realm::new();
    let ((eu, asked, answer), (us, at_us)) = (holding(), recording("us", 200));
    let gateway = moving(&realm, [eu, us], ", mirror: { queue: 1 }");
    let own = realm.issue("urn:ann");
    let caller = realm.caller(Some(&own));
    let mut clients = [(); 2].map(|()| caller.connect(gateway.address("main")));
    let request = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi";
    clients[0].send(request);
    asked.recv_timeout(PATIENCE).unwrap();
    gateway.reaches("mirrored_requests_waiting", 1);
    clients[1].send(request);
    asked.recv_timeout(PATIENCE).unwrap();
    answer.send(()).unwrap();
    assert!(clients[0].try_response(false).is_some());
    answer.send(()).unwrap();
    assert!(clients[1].try_response(false).is_some());
    gateway.reaches(&result("us", "same"), 1);
    gateway.reaches(&result("us", "dropped"), 1);
    assert_eq!(noted(&at_us), ["POST / hi of eu"]);
    // What is cut off while the owner has not answered is a copy of which nobody knows.
    clients[0].send(request);
    asked.recv_timeout(PATIENCE).unwrap();
    let list = realm.authority.revoked(&[&own], 2099).unwrap();
    gateway.rewrites("ca.crl", &list);
    gateway.reaches(&result("us", "unanswered"), 1);
    gateway.reaches("mirrored_requests_waiting", 0);
}

#[test]
fn copies_say_nothing_of_the_health_of_who_gets_them() {
    let realm = Realm::new();
    let ((eu, _), (us, _)) = (recording("eu", 200), recording("us", 200));
    let broken = Upstream::start(|mut peer, _| {
        peer.request();
    });
    let map = format!("{}  - {{ uri: 'urn:bob', shard: us }}\n", map(1, LISTED));
    let mut files = realm.files.lock().unwrap();
    files.insert("shards.yaml".to_owned(), map.into());
    drop(files);
    let rest = format!(
        "upstreams:\n  eu: {{ endpoints: [\"http://{eu}\"] }}\n  us: {{ endpoints: [\"http://{}\", \"http://{us}\"], eject: {{ after: 1, for: 1h }} }}\nroutes: [{{ path: /, sharded: true }}]\nshard_map: {{ file: shards.yaml }}\n",
        broken.address
    );
    let gateway = Gateway::with_files(1, Realm::text(REQUIRED, &rest), &realm.files);
    let ask = |name: &str| {
        let caller = realm.caller(Some(&realm.issue(name)));
        caller.asks(gateway.address("main"), "/").0
    };
    for count in 1..=4 {
        assert_eq!(ask("urn:ann"), 200);
        let over = || ["same", "failed"].map(|word| gateway.metric(&result("us", word)));
        assert!((0..10_000).any(|_| over().iter().sum::<u64>() == count));
    }
    assert!(gateway.metric(&result("us", "failed")) > 0);
    assert_eq!(
        gateway.metric("upstream_ejections_total{upstream=\"us\"}"),
        0
    );
    // The same of its own client's request does.
    let failed = (0..2).filter(|_| ask("urn:bob") != 200).count();
    assert_eq!(failed, 1);
    gateway.reaches("upstream_ejections_total{upstream=\"us\"}", 1);
}

#[test]
fn what_a_move_must_know_goes_on_when_its_client_has_left() {
    let check = |entries: &str, request: &str, is_copied: bool, goes_on: bool| {
        let realm = Realm::new();
        // Nor does an interim answer that finds nobody end it.
        let (eu, asked, tell) = answering(
            "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        );
        let (us, _) = recording("us", 200);
        let gateway = moving(&realm, [eu.address, us], "");
        gateway.rewrites("shards.yaml", &map(2, entries));
        let caller = realm.caller(Some(&realm.issue("urn:ann")));
        let mut client = caller.connect(gateway.address("main"));
        client.send(request);
        asked.recv_timeout(PATIENCE).unwrap();
        reset(client.stream.sock);
        // By when another client is served, its only shard has seen that.
        assert_eq!(caller.asks(gateway.address("main"), "/a/../b").0, 400);
        assert_eq!(
            gateway.metric("aborted_total{route=\"/\"}"),
            u64::from(!goes_on)
        );
        tell.send(()).unwrap();
        gateway.reaches("client_connections", 0);
        gateway.reaches(&result("us", "same"), u64::from(is_copied));
    };
    let (get, post) = (
        "GET /b HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi",
    );
    const STAYS: &str = "exact: [{ uri: 'urn:ann', shard: eu }]\n";
    check(MIRRORING, get, true, true);
    check(MIRRORING, post, true, true);
    check(STAYS, post, false, true);
    check(STAYS, get, false, false);
}
