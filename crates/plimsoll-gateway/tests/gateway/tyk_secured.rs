//! Targets of Tyk's files over TLS, and in HTTP/2 without it: who is believed, what is told of the others, and what cannot be said of them.

use crate::http2::{echo_over, echo_over_http2};
use crate::support::{Gateway, Upstream as Plain};
use crate::tyk::{Files, ask};
use crate::upstream_tls::{OK, Peer, Shows, Upstream};
use plimsoll_http::tls::{Clients, Identity, ServerSettings, ServerTls};
use plimsoll_testbed::authority::{Authority, Issued};
use rustls::SupportedProtocolVersion;
use rustls::version::{TLS12, TLS13};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::Command;

const PROXYING: &str = "{\n    \"error\": \"There was a problem proxying the request\"\n}";
/// Set where a test runs in a process of its own.
const OWN_PROCESS: &str = "PLIMSOLL_TEST_OWN_PROCESS";

/// In a process of its own: the file of the authorities that the host trusts, which has none yet. Otherwise nothing, when the `test` has
/// passed in such a process.
fn trusted_by_the_host(test: &str) -> Option<PathBuf> {
    if std::env::var_os(OWN_PROCESS).is_some() {
        return Some(std::env::var_os("SSL_CERT_FILE").unwrap().into());
    }
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("authorities.pem");
    std::fs::write(&file, "").unwrap();
    let ran = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test])
        .env(OWN_PROCESS, "1")
        .env("SSL_CERT_FILE", file)
        .env_remove("SSL_CERT_DIR")
        .output()
        .unwrap();
    let told = String::from_utf8(ran.stdout).unwrap();
    assert!(ran.status.success(), "{told}");
    assert!(told.contains("1 passed"), "{told}");
    None
}

fn start(own: &Issued) -> Upstream {
    Upstream::start(&Shows { own, clients: None }, echo)
}

fn speaking(versions: &[&'static SupportedProtocolVersion], own: &Issued) -> Upstream {
    Upstream::speaking(versions, &Shows { own, clients: None }, |peer, _| {
        peer.send(OK);
    })
}

fn echo(peer: &mut Peer, head: &str) {
    let body = head.replace('\r', "");
    let length = body.len();
    peer.send(&format!(
        "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}"
    ));
}

fn at(host: &str, upstream: &Upstream) -> Value {
    json!(format!("https://{host}:{}/", upstream.address.port()))
}

/// An API whose `proxy` says this.
fn api(files: &Files, id: &str, proxy: Value) {
    files.api(id, json!({ "proxy": proxy }));
}

fn told(files: &Files) -> String {
    files.open(false).map(|_| ()).unwrap_err()
}

fn is_refused(gateway: &Gateway, path: &str, status: u16) {
    let answer = ask(gateway, path, "");
    let got = (answer.status(), answer.body_text());
    assert_eq!(got, (status, PROXYING.to_owned()), "{path}");
}

#[test]
fn servers_are_believed_by_the_hosts_authorities_and_the_targets_name() {
    let test = "tyk_secured::servers_are_believed_by_the_hosts_authorities_and_the_targets_name";
    let Some(trusted) = trusted_by_the_host(test) else {
        return;
    };
    let files = Files::new();
    api(&files, "a", json!({ "target_url": "https://localhost:9/" }));
    let without = told(&files);
    let expected = "this host has no store of authorities to verify `https` by";
    assert!(
        without.contains("proxy.target_url") && without.contains(expected),
        "{without}"
    );

    let authority = Authority::new().unwrap();
    std::fs::write(&trusted, authority.certificate()).unwrap();
    let own = authority.issue(&["localhost"]).unwrap();
    let (upstream, misnamed) = (start(&own), start(&own));
    let stranger = start(&Authority::new().unwrap().issue(&["localhost"]).unwrap());
    let named = at("localhost", &upstream);
    api(&files, "a", json!({ "target_url": named }));
    let kept = json!({ "target_url": named, "preserve_host_header": true });
    api(&files, "kept", kept);
    let listed = json!({ "enable_load_balancing": true, "target_list": [named] });
    api(&files, "listed", listed);
    let wrong = json!({ "target_url": at("127.0.0.1", &misnamed) });
    api(&files, "misnamed", wrong);
    let foreign = at("localhost", &stranger);
    api(&files, "stranger", json!({ "target_url": foreign }));
    let gateway = files.start();
    let first = ask(&gateway, "/a/x", "").body_text();
    let host = format!("\nHost: localhost:{}\n", upstream.address.port());
    assert!(
        first.starts_with("GET /x HTTP/1.1\n") && first.contains(&host),
        "{first}"
    );
    // The name is the target's, whatever `Host` is forwarded.
    let preserved = ask(&gateway, "/kept/x", "").body_text();
    assert!(preserved.contains("\nHost: a\n"), "{preserved}");
    assert_eq!(ask(&gateway, "/listed/x", "").status(), 200);
    is_refused(&gateway, "/misnamed/", 500);
    is_refused(&gateway, "/stranger/", 500);
    is_refused(&files.start_with(1, true), "/stranger/", 502);
    assert_eq!((misnamed.requests(), stranger.requests()), (0, 0));
    whoever_answers_is_believed_where_that_is_written(&files, &stranger);
    versions_are_the_apis_or_those_of_the_gateway(&files, &own);
    http2_is_spoken_with_who_agrees_where_it_is_offered(&own, &upstream);
}

fn whoever_answers_is_believed_where_that_is_written(files: &Files, stranger: &Upstream) {
    let skips = json!({ "ssl_insecure_skip_verify": true });
    let foreign = at("localhost", stranger);
    let proxy = json!({ "target_url": foreign, "transport": skips });
    api(files, "skipping", proxy);
    let gateway = files.start();
    assert_eq!(ask(&gateway, "/skipping/", "").status(), 200);
    is_refused(&gateway, "/stranger/", 500);
    gateway.tell_to_stop();
    let warned =
        "upstream `skipping` is `insecure`: the certificates of its endpoints are not verified";
    let lines = gateway.join();
    let count = lines.iter().filter(|line| line.starts_with(warned)).count();
    assert_eq!(count, 1, "{lines:?}");
    files.conf(json!({ "proxy_ssl_insecure_skip_verify": true }));
    assert_eq!(ask(&files.start(), "/stranger/", "").status(), 200);
    files.conf(json!({}));
}

fn versions_are_the_apis_or_those_of_the_gateway(files: &Files, own: &Issued) {
    let (old, new) = (speaking(&[&TLS12], own), speaking(&[&TLS13], own));
    let versions =
        |oldest: u16, newest: u16| json!({ "ssl_min_version": oldest, "ssl_max_version": newest });
    let (old, new) = (at("localhost", &old), at("localhost", &new));
    for (id, target, transport) in [
        ("old", &old, versions(0, 0)),
        ("new", &new, versions(0, 0)),
        ("old-by-771", &old, versions(771, 771)),
        ("old-by-772", &old, versions(772, 0)),
        ("new-by-771", &new, versions(0, 771)),
    ] {
        let proxy = json!({ "target_url": target, "transport": transport });
        api(files, id, proxy);
    }
    let gateway = files.start();
    for path in ["/old/", "/new/", "/old-by-771/"] {
        assert_eq!(ask(&gateway, path, "").status(), 200, "{path}");
    }
    is_refused(&gateway, "/old-by-772/", 500);
    is_refused(&gateway, "/new-by-771/", 500);
    files.conf(json!({ "proxy_ssl_min_version": 772 }));
    let problem = told(files);
    assert!(problem.contains("no version is left"), "{problem}");
    for id in ["old-by-771", "new-by-771"] {
        api(
            files,
            id,
            json!({ "transport": { "ssl_max_version": 772 } }),
        );
    }
    let gateway = files.start();
    assert_eq!(ask(&gateway, "/new/", "").status(), 200);
    is_refused(&gateway, "/old/", 500);
}

fn http2_is_spoken_with_who_agrees_where_it_is_offered(own: &Issued, old: &Upstream) {
    let tls = ServerTls::new(ServerSettings {
        identity: &Identity::from_pem(&own.certificate, &own.key).unwrap(),
        clients: Clients::Anybody,
        alpn: &[b"h2"],
    });
    let new = echo_over(Some(tls.unwrap()));
    let files = Files::new();
    let target = format!("https://localhost:{}/", new.port());
    api(&files, "new", json!({ "target_url": target }));
    let listed =
        json!({ "enable_load_balancing": true, "target_list": [target, at("localhost", old)] });
    api(&files, "listed", listed);
    is_refused(&files.start(), "/new/", 500);
    files.conf(json!({ "proxy_enable_http2": true }));
    let gateway = files.start();
    for _ in 0..2 {
        let answer = ask(&gateway, "/new/x", "");
        let got = (answer.status(), answer.field("x-scheme"));
        assert_eq!(got, (200, Some("https")));
    }
    let by_http2 = (0..4).filter(|_| {
        let answer = ask(&gateway, "/listed/x", "");
        assert_eq!(answer.status(), 200);
        answer.field("x-scheme").is_some()
    });
    assert_eq!(by_http2.count(), 2);
}

#[test]
fn http2_in_clear_is_spoken_to_one_target_and_not_to_those_of_a_list() {
    let (new, old) = (echo_over_http2(), Plain::echo().address);
    let files = Files::new();
    api(
        &files,
        "one",
        json!({ "target_url": format!("h2c://{new}/") }),
    );
    let listed = json!({ "enable_load_balancing": true, "target_list": [format!("h2c://{old}"), format!("http://{old}")] });
    api(&files, "listed", listed);
    let gateway = files.start();
    let answer = ask(&gateway, "/one/x", "");
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.field("x-scheme"), Some("http"));
    for _ in 0..2 {
        assert_eq!(ask(&gateway, "/listed/x", "").status(), 200);
    }
    let (_, _, notes) = files.open(false).unwrap();
    let noted = "proxy.target_list[0]: in a list `h2c` is plain `http`";
    assert!(notes.iter().any(|note| note.contains(noted)), "{notes:?}");
}

const SPOKEN: &str = "TLS 1.2 and 1.3 alone are spoken: write `771` or `772`";
const CIPHERS: &str = "ciphers are not chosen: leave it out";
const NAMES: &str = "here certificates are verified, by the names that they are for: leave it out";
const PINS: &str = "here certificates are verified by the authorities of the host (`SSL_CERT_FILE` names others): leave it out";
const SHOWN: &str = "upstreams are shown no certificate: leave it out, or write a `gateway.yaml`";

/// Settings that `tyk.conf` may not have, where that is told, and how.
#[rustfmt::skip]
const NOT_IN_CONF: [(&str, &str, &str); 6] = [
    (r#"{ "proxy_ssl_min_version": 769 }"#, "proxy_ssl_min_version", SPOKEN),
    (r#"{ "proxy_ssl_max_version": 770 }"#, "proxy_ssl_max_version", SPOKEN),
    (r#"{ "proxy_ssl_ciphers": ["TLS_RSA_WITH_AES_128_GCM_SHA256"] }"#, "proxy_ssl_ciphers", CIPHERS),
    (r#"{ "ssl_force_common_name_check": true }"#, "ssl_force_common_name_check", NAMES),
    (r#"{ "security": { "pinned_public_keys": { "*": "id" } } }"#, "security.pinned_public_keys", PINS),
    (r#"{ "security": { "certificates": { "upstream": { "*": "id" } } } }"#, "security.certificates.upstream", SHOWN),
];

/// Settings that a definition may not have.
#[rustfmt::skip]
const NOT_IN_DEFINITIONS: [(&str, &str, &str); 10] = [
    (r#"{ "proxy": { "transport": { "ssl_min_version": 768 } } }"#, "proxy.transport.ssl_min_version", SPOKEN),
    (r#"{ "proxy": { "transport": { "ssl_max_version": 769 } } }"#, "proxy.transport.ssl_max_version", SPOKEN),
    (r#"{ "proxy": { "transport": { "ssl_min_version": 772, "ssl_max_version": 771 } } }"#, "proxy.transport", "no version is left"),
    (r#"{ "proxy": { "transport": { "ssl_ciphers": ["x"] } } }"#, "proxy.transport.ssl_ciphers", CIPHERS),
    (r#"{ "proxy": { "transport": { "ssl_force_common_name_check": true } } }"#, "proxy.transport.ssl_force_common_name_check", NAMES),
    (r#"{ "proxy": { "transport": { "proxy_url": "http://p" } } }"#, "proxy.transport.proxy_url", "without a proxy"),
    (r#"{ "upstream_certificates": { "a": "id" } }"#, "upstream_certificates", SHOWN),
    (r#"{ "pinned_public_keys": { "a": "id" } }"#, "pinned_public_keys", PINS),
    (r#"{ "proxy": { "target_url": "tyk://other/" } }"#, "proxy.target_url", "no API calls another from within here"),
    (r#"{ "proxy": { "enable_load_balancing": true, "target_list": ["https://a", "http://b"] } }"#, "proxy.target_list[1]", "some targets of this API are `https` and some are not"),
];

#[test]
fn what_would_restrict_and_is_not_done_is_refused_by_its_name() {
    let check = |conf: &str, api: &str, at: &str, expected: &str| {
        let files = Files::new();
        files.conf(serde_json::from_str(conf).unwrap());
        files.api("a", serde_json::from_str(api).unwrap());
        let told = told(&files);
        let line = told.lines().find(|line| line.contains(at));
        let line = line.unwrap_or_else(|| panic!("{at}: {told}"));
        assert!(line.contains(expected), "{line}");
    };
    for (conf, at, expected) in NOT_IN_CONF {
        check(conf, "{}", at, expected);
    }
    for (api, at, expected) in NOT_IN_DEFINITIONS {
        check("{}", api, at, expected);
    }
}
