//! The requests of the cases, sent to hyper, nginx and HAProxy. Their behaviour is recorded for the document and changes with their versions:
//! the test wants only that they run, and that what all must refuse or take is so.

use crate::case::Case;
use crate::exchange::Delivery;
use crate::observed::{Observed, PEERS, is_update, save};
use crate::requests::{key, observe, topics};
use crate::{foreign, hyper_server};
use std::net::SocketAddr;
use std::process::Command;
use std::sync::Mutex;
use std::time::Duration;

/// How long a peer may wait for bytes that do not come before it counts as hanging.
const PATIENCE: Duration = Duration::from_secs(1);

fn version(program: &str) -> String {
    let output = Command::new(program).arg("-v").output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    let starts = |word: &&str| word.starts_with(|first: char| first.is_ascii_digit());
    let word = text.split([' ', '/', '\n']).find(starts).unwrap();
    word.split('-').next().unwrap().to_owned()
}

/// hyper's version, from the lock file.
fn hyper_version() -> String {
    let lock = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.lock");
    let text = std::fs::read_to_string(lock).unwrap();
    let (_, after) = text.split_once("name = \"hyper\"\nversion = \"").unwrap();
    after.split('"').next().unwrap().to_owned()
}

/// Every case to every server, several at a time because some wait in vain.
fn outcomes(servers: [SocketAddr; 3]) -> Observed {
    let topics = topics();
    let cases: Vec<(String, &Case)> = topics
        .iter()
        .flat_map(|topic| {
            let cases = topic.cases.iter();
            cases.map(move |case| (key(topic, case), case))
        })
        .collect();
    let observed = Mutex::new(Observed::default());
    std::thread::scope(|scope| {
        for part in cases.chunks(cases.len().div_ceil(16)) {
            let observed = &observed;
            scope.spawn(move || {
                for (key, case) in part {
                    let row =
                        servers.map(|server| observe(server, case, Delivery::Whole, PATIENCE));
                    let mut observed = observed.lock().unwrap();
                    observed.outcomes.insert(key.clone(), row);
                }
            });
        }
    });
    observed.into_inner().unwrap()
}

#[test]
#[ignore = "needs nginx and haproxy: run scripts/test"]
fn peers_take_what_is_plain_and_refuse_what_is_garbage() {
    let tolerant = hyper_server::start();
    let nginx = foreign::nginx(tolerant);
    let haproxy = foreign::haproxy(tolerant);
    let mut observed = outcomes([tolerant, nginx.address, haproxy.address]);
    let versions = [
        hyper_version(),
        version("/usr/sbin/nginx"),
        version("/usr/sbin/haproxy"),
    ];
    observed.versions = PEERS.map(str::to_owned).into_iter().zip(versions).collect();
    if is_update() {
        save(&observed);
    }
    for (case, expected) in [
        ("Content-Length: plain", "200 open"),
        ("Transfer-Encoding: chunked", "200 open"),
        (
            "What follows on the same connection: two requests at once",
            "200 200 open",
        ),
        ("Content-Length: two that differ", "400 close"),
        ("The request line: garbage", "400 close"),
    ] {
        assert_eq!(observed.outcomes[case], [expected; 3], "{case}");
    }
}
