//! Swaps over mutual TLS, in front of shards: who comes by HTTP/2 and who by HTTP/1.1 is answered by its own shard, whoever serves.

use super::{Place, received, start};
use crate::program::{Server, Workspace};
use plimsoll_testbed::authority::{Authority, Names};
use serde_json::Value;
use std::cell::Cell;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};

/// Who has a shard, which is called like it, and how it comes.
const CLIENTS: [(&str, &str); 2] = [("eu", "protocol: http2, streams: 4, "), ("us", "")];

/// A mock that answers nobody but this shard's clients.
fn shard(workspace: &Workspace, name: &str) -> Server {
    let stub = serde_json::json!({
        "request": {
            "urlPattern": ".*",
            "headers": { "X-Forwarded-Client-Cert": { "contains": format!("URI=urn:client/{name}") } },
        },
        "response": { "status": 200, "body": name },
    });
    workspace.write(&format!("{name}/mappings/own.json"), &stub.to_string());
    let counters = format!("{name}.counters");
    let mock = ["mock", "--port", "0", "--root-dir", name];
    Server::start(workspace, &[&mock[..], &["--counters", &counters]].concat())
}

/// Certificates for everybody, and a gateway's files in front of these shards.
fn write(workspace: &Workspace, shards: [SocketAddr; 2]) {
    let authority = Authority::new().unwrap();
    workspace.write("ca.pem", authority.certificate());
    let own = authority.issue(&["localhost"]).unwrap();
    let clients = CLIENTS.map(|(name, _)| {
        let uri = format!("urn:client/{name}");
        let names = Names {
            common_name: "client",
            uris: &[&uri],
            hosts: &[],
        };
        (name, authority.issue_for(names).unwrap())
    });
    for (name, issued) in [("gateway", own)].into_iter().chain(clients) {
        workspace.write(&format!("{name}.pem"), &issued.certificate);
        workspace.write(&format!("{name}.key"), &issued.key);
    }
    let [eu, us] = shards;
    workspace.write(
        "gateway.yaml",
        &format!(
            "version: 1\nlisteners:\n  main:\n    address: \"127.0.0.1:0\"\n    \
             tls: {{ certificate: gateway.pem, key: gateway.key, clients: required, ca: ca.pem }}\n\
             http2: {{ streams: 16 }}\nidentity: {{ forward: [xfcc] }}\nshard_map: {{ file: shards.yaml, debug: true }}\n\
             upstreams: {{ eu: {{ endpoints: [\"http://{eu}\"] }}, us: {{ endpoints: [\"http://{us}\"] }} }}\n\
             routes: [{{ path: /, sharded: true }}]\n"
        ),
    );
    workspace.write(
        "shards.yaml",
        "version: 1\nmap_version: 1\nshards: { eu: { upstream: eu }, us: { upstream: us } }\n\
         exact: [{ uri: \"urn:client/eu\", shard: eu }, { uri: \"urn:client/us\", shard: us }]\n",
    );
}

/// Loads the gateway as this client, until this says of a line of its progress that it is enough; what became of the requests.
fn load(
    workspace: &Workspace,
    (name, how): (&str, &str),
    gateway: SocketAddr,
    is_enough: impl Fn() -> bool,
) -> Value {
    let port = gateway.port();
    workspace.write(
        &format!("{name}.yaml"),
        &format!(
            "version: 1\nname: swapped\ncomponents:\n  gateway: {{ external: \"https://localhost:{port}\", probe: none }}\n\
             scenario: [{{ get: /asked, check: {{ status: 200, header: {{ X-Shard: {{ equals: {name} }} }} }} }}]\n\
             load: {{ rate: 200/s, connections: 4, {how}warmup: 0s, duration: 60s, \
             tls: {{ ca: ca.pem, cert: {name}.pem, key: {name}.key }} }}\nhosts: {{ localhost: 127.0.0.1 }}\n"
        ),
    );
    let (file, out) = (format!("{name}.yaml"), format!("{name}.d"));
    let args = ["run", &file, "--out", &out, "--no-ui"];
    let interrupted = workspace.run_until(&args, |line| line.contains("/s good") && is_enough());
    interrupted.ended_with(130);
    workspace.json(&format!("{name}.d/summary.json"))["arms"]["main"].clone()
}

#[test]
fn every_client_stays_on_its_shard() {
    let workspace = Workspace::new();
    let shards = CLIENTS.map(|(name, _)| shard(&workspace, name));
    write(&workspace, shards.each_ref().map(Server::main));
    let (gateway, place): (Server, Place<'_>) = start(&workspace, "2");
    let (address, over) = (gateway.main(), AtomicBool::new(false));
    let [eu, us] = CLIENTS;
    let arms = std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            let is_over = || over.load(Ordering::SeqCst);
            load(&workspace, us, address, is_over)
        });
        let swaps = Cell::new(0);
        let arm = load(&workspace, eu, address, || {
            if swaps.get() == 3 {
                over.store(true, Ordering::SeqCst);
                return true;
            }
            place.swap();
            swaps.set(swaps.get() + 1);
            false
        });
        [arm, other.join().unwrap()]
    });
    assert_eq!(gateway.ended(), Some(0));
    place.says("drains", 3);
    for ((name, _), arm) in CLIENTS.into_iter().zip(arms) {
        let [sent, in_flight, failed] =
            ["sent", "in_flight", "failed"].map(|key| arm[key].as_u64().unwrap());
        let answered = arm["outcomes"]["answered"]["200"].as_u64().unwrap();
        assert_eq!((failed, answered + in_flight), (0, sent), "{name}: {arm}");
        assert!(answered > 100, "{name}: {arm}");
        let check = &arm["checks"][format!("header X-Shard equals {name}")];
        assert_eq!(check["passed"], answered, "{name}: {arm}");
        let received = received(&workspace, &format!("{name}.counters"));
        assert!(
            (answered..=sent).contains(&received),
            "{name}: {received} of {arm}"
        );
    }
}
