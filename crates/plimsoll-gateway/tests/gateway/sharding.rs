//! Routes by who the client is: each request comes to the shard that the map has for its certificate, and to no other.

use crate::secured::{Realm, Secured};
use crate::support::{Gateway, PATIENCE, Upstream};
use std::io::Read as _;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};

const REQUIRED: &str = "clients: required, ca: ca.pem, crl: ca.crl";

/// Three upstreams that answer with their names, and routes of both kinds.
fn rest(more: &str) -> String {
    let named = |name: &'static str| {
        let upstream = Upstream::start(move |mut peer, _| {
            while peer.request().is_some() {
                peer.send(&format!(
                    "HTTP/1.1 200 OK\r\nX-Shard: claimed\r\nContent-Length: 2\r\n\r\n{name}"
                ));
            }
        });
        upstream.address
    };
    format!(
        "upstreams:\n  eu: {{ endpoints: [\"http://{}\"] }}\n  us: {{ endpoints: [\"http://{}\"] }}\n  ap: {{ endpoints: [\"http://{}\"] }}\nroutes:\n  - {{ path: /, sharded: true, upgrades: [websocket] }}\n  - {{ path: /open, upstream: ap, allow_weaker_auth: true }}\nshard_map: {{ file: shards.yaml, debug: true{more} }}\n",
        named("eu"),
        named("us"),
        named("ap")
    )
}

fn map(version: u64, entries: &str) -> String {
    format!(
        "version: 1\nmap_version: {version}\nshards: {{ eu: {{ upstream: eu }}, us: {{ upstream: us }}, ap: {{ upstream: ap }} }}\n{entries}"
    )
}

fn start(realm: &Realm, clients: &str, more: &str, entries: &str) -> Gateway {
    let text = map(1, entries);
    realm
        .files
        .lock()
        .unwrap()
        .insert("shards.yaml".to_owned(), text.into());
    realm.gateway(clients, &rest(more))
}

#[test]
fn a_client_comes_to_its_shard_and_one_without_is_told_why() {
    let realm = Realm::new();
    let gateway = start(
        &realm,
        "clients: optional, ca: ca.pem",
        "",
        "exact: [{ uri: 'urn:ann', shard: us }]\nprefix: [{ uri: 'urn:eu/', shard: eu }]\n",
    );
    let address = gateway.address("main");
    let connect = |uri: &str| realm.caller(Some(&realm.issue(uri))).connect(address);
    let mut ann = connect("urn:ann");
    let answer = ann.get("/x");
    assert_eq!(answer.body_text(), "us");
    assert_eq!(answer.field("x-shard"), Some("us"));
    assert_eq!(answer.field("x-shard-map-version"), Some("1"));
    assert!(!answer.head.contains("claimed"), "{}", answer.head);
    assert_eq!(connect("urn:eu/7").get("/").body_text(), "eu");
    assert_eq!(ann.get("/open/x").body_text(), "ap");
    let mut unknown = connect("urn:bob");
    assert_eq!(
        unknown.get("/").refusal(),
        "403 no shard is assigned to URI urn:bob"
    );
    let mut nobody = realm.caller(None).connect(address);
    let answer = nobody.get("/");
    assert_eq!(
        answer.refusal(),
        "401 this route needs a client certificate"
    );
    assert_eq!(answer.field("www-authenticate"), Some("ClientCertificate"));
    assert_eq!(nobody.get("/open").body_text(), "ap");
}

#[test]
fn a_new_map_holds_for_connections_that_are_open() {
    let realm = Realm::new();
    let gateway = start(
        &realm,
        REQUIRED,
        "",
        "exact: [{ uri: 'urn:ann', shard: us }]\n",
    );
    let own = realm.issue("urn:ann");
    let mut ann = realm.caller(Some(&own)).connect(gateway.address("main"));
    assert_eq!(ann.get("/").body_text(), "us");
    gateway.write(
        "shards.yaml",
        &map(2, "exact: [{ uri: 'urn:ann', shard: eu }]\n"),
    );
    let refusal = gateway.reload().refusal();
    assert!(
        refusal.starts_with("422 shards.yaml:4:9: URI urn:ann would move from `us` to `eu`"),
        "{refusal}"
    );
    assert_eq!(ann.get("/").body_text(), "us");
    gateway.rewrites("shards.yaml", &map(2, ""));
    assert_eq!(
        ann.get("/").refusal(),
        "403 no shard is assigned to URI urn:ann"
    );
    gateway.rewrites(
        "shards.yaml",
        &map(3, "exact: [{ uri: 'urn:ann', shard: eu }]\n"),
    );
    assert_eq!(ann.get("/").body_text(), "eu");
    assert_eq!(gateway.metric("shard_map_version"), 3);
}

#[test]
fn what_changes_data_waits_for_the_end_of_its_move_and_what_reads_does_not() {
    let realm = Realm::new();
    let gateway = start(
        &realm,
        REQUIRED,
        "",
        "exact: [{ uri: 'urn:ann', shard: us }]\n",
    );
    let address = gateway.address("main");
    let caller = realm.caller(Some(&realm.issue("urn:ann")));
    let mut reader = caller.connect(address);
    let frozen = "exact: [{ uri: 'urn:ann', shard: us, moving: { to: eu, phase: frozen } }]\n";
    gateway.rewrites("shards.yaml", &map(2, frozen));
    let post = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi";
    let mut writers: Vec<Secured> = (0..3).map(|_| caller.connect(address)).collect();
    for writer in &mut writers {
        writer.send(post);
    }
    gateway.reaches("requests_held", 3);
    assert_eq!(reader.get("/").body_text(), "us");
    gateway.rewrites(
        "shards.yaml",
        &map(3, "exact: [{ uri: 'urn:ann', shard: eu }]\n"),
    );
    for writer in &mut writers {
        assert_eq!(writer.response(false).body_text(), "eu");
    }
    assert_eq!(reader.get("/").body_text(), "eu");
}

#[test]
fn a_move_that_does_not_end_is_an_answer_in_the_end() {
    let realm = Realm::new();
    let frozen = "exact: [{ uri: 'urn:ann', shard: us, moving: { to: eu, phase: frozen } }]\n";
    let gateway = start(&realm, REQUIRED, ", hold: 50ms", frozen);
    let caller = realm.caller(Some(&realm.issue("urn:ann")));
    let mut writer = caller.connect(gateway.address("main"));
    let answer = writer.ask("DELETE / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(
        (answer.status(), answer.field("retry-after")),
        (503, Some("1"))
    );
    assert_eq!(writer.get("/").body_text(), "us");
    // What is said in another protocol may change data, too.
    let offer = "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
    assert_eq!(writer.ask(offer).status(), 503);
}

#[test]
fn a_tunnel_from_before_the_freeze_holds_up_the_end_of_the_move() {
    let upstream = Upstream::start(|mut peer, _| {
        peer.read_head().unwrap();
        peer.send(
            "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
        );
        while matches!(peer.stream.read(&mut [0]), Ok(1..)) {}
    });
    let realm = Realm::new();
    let text = map(1, "exact: [{ uri: 'urn:ann', shard: us }]\n");
    realm
        .files
        .lock()
        .unwrap()
        .insert("shards.yaml".to_owned(), text.into());
    let at = upstream.address;
    let rest = format!(
        "upstreams:\n  us: {{ endpoints: [\"http://{at}\"] }}\n  eu: {{ endpoints: [\"http://{at}\"] }}\n  ap: {{ endpoints: [\"http://{at}\"] }}\nroutes: [{{ path: /, sharded: true, upgrades: [websocket] }}]\nshard_map: {{ file: shards.yaml }}\n",
    );
    let gateway = realm.gateway(REQUIRED, &rest);
    let caller = realm.caller(Some(&realm.issue("urn:ann")));
    let mut tunnel = caller.connect(gateway.address("main"));
    let offer = "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
    assert_eq!(tunnel.ask(offer).status(), 101);
    let frozen = "exact: [{ uri: 'urn:ann', shard: us, moving: { to: eu, phase: frozen } }]\n";
    gateway.rewrites("shards.yaml", &map(2, frozen));
    let ends = map(3, "exact: [{ uri: 'urn:ann', shard: eu }]\n");
    gateway.write("shards.yaml", &ends);
    let refusal = gateway.reload().refusal();
    assert!(refusal.contains("began before"), "{refusal}");
    drop(tunnel);
    assert!((0..10_000).any(|_| gateway.reload().status() == 200));
}

/// Where the client's data is at a step.
fn place(step: u64) -> &'static str {
    ["eu", "us"][usize::try_from(step / 2 % 2).unwrap()]
}

/// A map's entries at a step: the client's shard alternates, and between two of them it is frozen.
fn entries(step: u64) -> String {
    let moving = match step % 2 {
        0 => String::new(),
        _ => format!(", moving: {{ to: {}, phase: frozen }}", place(step + 1)),
    };
    let shard = place(step);
    format!(
        "exact: [{{ uri: 'urn:ann', shard: {shard}{moving} }}, {{ uri: 'urn:bob', shard: ap }}]\n"
    )
}

/// Reloads of map, lists and routes while clients with certificates ask on kept and on fresh connections, with fields that claim another
/// identity: none fails and none comes to another shard than a map had for it that was served by during its exchange.
#[test]
fn reloads_under_load_lose_and_misdirect_nobody() {
    const RELOADS: u64 = 40;
    let realm = Realm::new();
    let gateway = start(&realm, REQUIRED, "", &entries(0));
    let address = gateway.address("main");
    let certificates = [realm.issue("urn:ann"), realm.issue("urn:bob")];
    let revoked = realm.issue("urn:eve");
    let (asked, acknowledged) = (AtomicU64::new(0), AtomicU64::new(0));
    let over = AtomicBool::new(false);
    let ask = |client: &mut Secured, method: &str| {
        let claim =
            "X-Shard: us\r\nX-Forwarded-Client-Cert: URI=urn:bob\r\nClient-Cert: :AA==:\r\n";
        let answer = client.ask(&format!(
            "{method} / HTTP/1.1\r\nHost: a\r\n{claim}Content-Length: 0\r\n\r\n"
        ));
        assert_eq!(answer.status(), 200, "{}", answer.body_text());
        answer.body_text()
    };
    let requests: u64 = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..4)
            .map(|number| {
                let (realm, own) = (&realm, &certificates[number % 2]);
                let (asked, acknowledged, over, ask) = (&asked, &acknowledged, &over, &ask);
                scope.spawn(move || {
                    let caller = realm.caller(Some(own));
                    let mut kept = caller.connect(address);
                    let mut count = 0;
                    while !over.load(Ordering::SeqCst) {
                        let oldest = acknowledged.load(Ordering::SeqCst);
                        let method = if count % 2 == 0 { "GET" } else { "POST" };
                        let by = match count % 8 {
                            7 => ask(&mut caller.connect(address), method),
                            _ => ask(&mut kept, method),
                        };
                        let newest = asked.load(Ordering::SeqCst);
                        let allowed = |step: u64| place(step) == by;
                        match number % 2 {
                            0 => assert!(
                                (oldest..=newest).any(allowed),
                                "{by} at {oldest}..={newest}"
                            ),
                            _ => assert_eq!(by, "ap"),
                        }
                        count += 1;
                    }
                    count
                })
            })
            .collect();
        for step in 1..=RELOADS {
            asked.store(step, Ordering::SeqCst);
            gateway.write("shards.yaml", &map(step + 1, &entries(step)));
            let list: &[_] = if step % 3 == 0 { &[&revoked] } else { &[] };
            gateway.write("ca.crl", &realm.authority.revoked(list, 2099).unwrap());
            // A move does not end while a request is under way that began before it.
            let mut tries = (0..10_000).map(|_| gateway.reload());
            if !tries.any(|answer| answer.status() == 200) {
                break;
            }
            acknowledged.store(step, Ordering::SeqCst);
        }
        over.store(true, Ordering::SeqCst);
        assert_eq!(acknowledged.load(Ordering::SeqCst), RELOADS);
        // Nobody waits for a move that does not come.
        gateway.rewrites("shards.yaml", &map(RELOADS + 2, &entries(RELOADS)));
        clients.into_iter().map(|c| c.join().unwrap()).sum()
    });
    assert!(requests > RELOADS, "{requests}");
}

#[test]
fn what_was_begun_before_the_move_ends_where_it_began() {
    let uri = |what: &str| format!("{{ uri: 'urn:c/{what}', shard: us }}");
    let frozen = |what: &str| {
        format!("{{ uri: 'urn:c/{what}', shard: us, moving: {{ to: eu, phase: frozen }} }}")
    };
    let moved = |what: &str| format!("{{ uri: 'urn:c/{what}', shard: eu }}");
    let exact = |entry: String| format!("exact: [{entry}]\n");
    let prefix = |entry: String| format!("prefix: [{entry}]\n");
    let namesake = "exact: [{ uri: 'urn:c/', shard: ap }]\n";
    let nobody = String::new();
    for maps in [
        // By its name, and by what that begins with.
        [exact(uri("7/x")), exact(frozen("7/x")), exact(moved("7/x"))],
        [prefix(uri("")), prefix(frozen("")), prefix(moved(""))],
        // One of many whose move goes on.
        [
            prefix(uri("")),
            prefix(frozen("")),
            prefix(frozen("")) + &exact(moved("7/x")),
        ],
        [
            prefix(uri("")),
            prefix(frozen("")),
            prefix(format!("{}, {}", frozen(""), moved("7/"))),
        ],
        // Somebody has for a name what those begin with who move.
        [uri(""), frozen(""), moved("")].map(|entry| namesake.to_owned() + &prefix(entry)),
        // Who was taken out is not forgotten, as long as anything of it is under way.
        [exact(uri("7/x")), nobody.clone(), exact(moved("7/x"))],
        [prefix(uri("")), nobody, "default: eu\n".to_owned()],
    ] {
        ends_where_it_began(&maps);
    }
}

/// A client, `urn:c/7/x`, changes something in `us` when the first of these maps holds; the second is taken over meanwhile, the third, by which
/// it is in `eu`, when that has ended.
fn ends_where_it_began([before, between, after]: &[String; 3]) {
    let (asked, is_asked) = mpsc::channel();
    let (answer, may_answer) = mpsc::channel::<()>();
    let may_answer = Arc::new(Mutex::new(may_answer));
    let slow = Upstream::start(move |mut peer, _| {
        while peer.request().is_some() {
            asked.send(()).unwrap();
            may_answer.lock().unwrap().recv().unwrap();
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nold");
        }
    });
    let realm = Realm::new();
    let text = map(1, before);
    realm
        .files
        .lock()
        .unwrap()
        .insert("shards.yaml".to_owned(), text.into());
    let fast = Upstream::answering("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nnew");
    let rest = format!(
        "upstreams:\n  us: {{ endpoints: [\"http://{}\"] }}\n  eu: {{ endpoints: [\"http://{}\"] }}\n  ap: {{ endpoints: [\"http://{}\"] }}\nroutes: [{{ path: /, sharded: true }}]\nshard_map: {{ file: shards.yaml }}\n",
        slow.address, fast.address, fast.address
    );
    let gateway = realm.gateway(REQUIRED, &rest);
    let caller = realm.caller(Some(&realm.issue("urn:c/7/x")));
    let mut busy = caller.connect(gateway.address("main"));
    busy.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
    is_asked.recv_timeout(PATIENCE).unwrap();
    gateway.rewrites("shards.yaml", &map(2, between));
    // Its data may still be changed there: the move cannot end.
    gateway.write("shards.yaml", &map(3, after));
    assert_eq!(
        gateway.reload().refusal(),
        "422 1 requests that may change what is moved began before it was frozen or removed: reload again when they have ended",
        "{after}"
    );
    answer.send(()).unwrap();
    assert_eq!(busy.response(false).body_text(), "old");
    let moved = (0..10_000).any(|_| gateway.reload().status() == 200);
    assert!(moved, "{after}");
    assert_eq!(busy.get("/").body_text(), "new");
}

#[test]
fn whoever_is_new_in_the_map_waits_for_nobody() {
    let (asked, is_asked) = mpsc::channel();
    let upstream = Upstream::start(move |mut peer, _| {
        while let Some(request) = peer.request() {
            match request.head.starts_with("GET") {
                true => peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
                false => asked.send(()).unwrap(),
            }
        }
    });
    let realm = Realm::new();
    let ann = "{ uri: 'urn:ann', shard: us }";
    let text = map(1, &format!("exact: [{ann}]\n"));
    let mut files = realm.files.lock().unwrap();
    files.insert("shards.yaml".to_owned(), text.into());
    drop(files);
    let at = upstream.address;
    let rest = format!(
        "upstreams:\n  us: {{ endpoints: [\"http://{at}\"] }}\n  eu: {{ endpoints: [\"http://{at}\"] }}\n  ap: {{ endpoints: [\"http://{at}\"] }}\nroutes: [{{ path: /, sharded: true }}]\nshard_map: {{ file: shards.yaml }}\ntimeouts: {{ drain: 300ms }}\n",
    );
    let gateway = realm.gateway(REQUIRED, &rest);
    let address = gateway.address("main");
    let connect = |uri: &str| realm.caller(Some(&realm.issue(uri))).connect(address);
    let mut ann_waits = connect("urn:ann");
    ann_waits.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
    is_asked.recv_timeout(PATIENCE).unwrap();
    for (version, shard) in [(2, "eu"), (3, "eu")] {
        let entries = format!("exact: [{ann}, {{ uri: 'urn:bob', shard: {shard} }}]\n");
        gateway.rewrites("shards.yaml", &map(version, &entries));
    }
    assert_eq!(connect("urn:bob").get("/").status(), 200);
}

#[test]
fn clients_keep_the_names_that_the_map_has_for_them() {
    let realm = Realm::new();
    let entries = "exact: [{ uri: 'urn:ann', shard: us }]\n";
    let text = map(1, entries);
    let mut files = realm.files.lock().unwrap();
    files.insert("shards.yaml".to_owned(), text.into());
    drop(files);
    let rest = rest("");
    let ordered = |order: &str| {
        let rest = format!("{rest}identity: {{ order: [{order}] }}\n");
        Realm::text(REQUIRED, &rest)
    };
    let gateway = realm.gateway(REQUIRED, &rest);
    // What holds without a word.
    gateway.becomes(ordered("uri, dns, issuer_cn, sha256"));
    gateway.rewrite(ordered("issuer_cn, uri"));
    let refused = gateway.reload().refusal();
    insta::assert_snapshot!(refused, @"422 gateway.yaml:12:13: identity.order: clients would go by other names, and at once to whichever shards the map has for those, while their data may change: leave it as it was, or restart the gateway when all data is where it is looked for then");
    let own = realm.issue("urn:ann");
    let mut ann = realm.caller(Some(&own)).connect(gateway.address("main"));
    assert_eq!(ann.get("/").body_text(), "us");
    // Also when a reload has taken the map away.
    let without = rest.replace(
        "  - { path: /, sharded: true, upgrades: [websocket] }\n",
        "",
    );
    let (without, _) = without.split_once("shard_map:").unwrap();
    let unmapped = format!("{without}identity: {{ order: [issuer_cn, uri] }}\n");
    gateway.becomes(Realm::text(REQUIRED, &unmapped));
    gateway.rewrite(ordered("issuer_cn, uri"));
    assert_eq!(gateway.reload().refusal(), refused);
    gateway.becomes(Realm::text(REQUIRED, &rest));
    assert_eq!(ann.get("/").body_text(), "us");
}

#[test]
fn a_map_that_was_taken_away_has_not_been_forgotten() {
    let realm = Realm::new();
    let entries = "exact: [{ uri: 'urn:ann', shard: us }]\n";
    let text = map(3, entries);
    let mut files = realm.files.lock().unwrap();
    files.insert("shards.yaml".to_owned(), text.into());
    drop(files);
    let rest = rest("");
    let gateway = realm.gateway(REQUIRED, &rest);
    let without = rest.replace(
        "  - { path: /, sharded: true, upgrades: [websocket] }\n",
        "",
    );
    let (without, _) = without.split_once("shard_map:").unwrap();
    gateway.becomes(Realm::text(REQUIRED, without));
    gateway.rewrite(Realm::text(REQUIRED, &rest));
    gateway.write(
        "shards.yaml",
        &map(4, "exact: [{ uri: 'urn:ann', shard: eu }]\n"),
    );
    let refusal = gateway.reload().refusal();
    assert!(
        refusal.contains("would move from `us` to `eu`"),
        "{refusal}"
    );
    gateway.write("shards.yaml", &map(2, entries));
    let refusal = gateway.reload().refusal();
    assert!(
        refusal.contains("map version 3 is served already"),
        "{refusal}"
    );
    gateway.rewrites("shards.yaml", &map(4, entries));
}
