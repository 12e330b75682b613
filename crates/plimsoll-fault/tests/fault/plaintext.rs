//! Clients that ask for a server by the absolute target of a request in plaintext.

use crate::connect::{ask, serving};
use crate::serving::{connect, echo, echoed, rest, server};
use plimsoll_testbed::port::Refusing;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::Command;

/// A server that answers each request with the request. It closes no connection, whatever it is asked.
fn mirror() -> SocketAddr {
    server(|client| {
        let mut reader = BufReader::new(client);
        while let Some((head, body)) = message(&mut reader) {
            let text = format!("{head}{body}");
            let length = text.len();
            let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{text}");
            reader.get_mut().write_all(answer.as_bytes()).unwrap();
        }
    })
}

/// Head and body of a request; none at the end of the connection. Allows a body where that is asked for.
fn message(reader: &mut BufReader<TcpStream>) -> Option<(String, String)> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    if head.contains("Expect: 100-continue") {
        let go = b"HTTP/1.1 100 Continue\r\n\r\n";
        reader.get_mut().write_all(go).unwrap();
    }
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("Content-Length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    reader.read_exact(&mut body).ok()?;
    Some((head, String::from_utf8(body).unwrap()))
}

/// The output of curl through this proxy, and its exit code.
fn curl(proxy: SocketAddr, arguments: &[&str]) -> (String, Option<i32>) {
    let mut command = Command::new("curl");
    command.args(["--silent", "--max-time", "20", "--noproxy", ""]);
    command.arg("--proxy").arg(proxy.to_string());
    let output = command.args(arguments).output().unwrap();
    (
        String::from_utf8(output.stdout).unwrap(),
        output.status.code(),
    )
}

fn get(server: SocketAddr) -> String {
    format!("GET http://{server}/x HTTP/1.1\r\nHost: {server}\r\n\r\n")
}

#[test]
fn curl_gets_what_the_server_says_through_its_toxics() {
    let server = mirror();
    let serving = serving(&[server]);
    let proxy = serving.address("connect");
    let url = format!("http://{server}/a/b?c=d");
    let (said, code) = curl(proxy, &["--header", "Proxy-Own: x", &url]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.starts_with("GET /a/b?c=d HTTP/1.1\r\n"), "{said}");
    assert!(said.contains(&format!("Host: {server}\r\n")), "{said}");
    assert!(said.contains("Connection: close\r\n"), "{said}");
    assert!(!said.contains("Proxy-Connection"), "{said}");
    let name = server.to_string();
    assert_eq!(serving.turns(&name, "answered"), 1);
    let toxic = r#"{"type": "limit_data", "attributes": {"bytes": 0}}"#;
    serving.add(&name, toxic);
    let (said, code) = curl(proxy, &[&url]);
    // Empty reply from server.
    assert_eq!((&*said, code), ("", Some(52)));
}

#[test]
fn curl_reaches_several_servers_with_one_connection_each() {
    let servers = [mirror(), mirror()];
    let serving = serving(&servers);
    let urls: Vec<String> = [0, 1, 0, 0, 1]
        .iter()
        .zip(0..)
        .map(|(of, number): (&usize, u32)| format!("http://{}/{number}", servers[*of]))
        .collect();
    let arguments: Vec<&str> = urls.iter().map(|url| &**url).collect();
    let (said, code) = curl(serving.address("connect"), &arguments);
    assert_eq!(code, Some(0), "{said}");
    let asked: Vec<String> = said
        .lines()
        .filter_map(|line| line.strip_prefix("Host: "))
        .zip(said.lines().filter_map(|line| line.strip_prefix("GET ")))
        .map(|(host, path)| format!("http://{host}{}", path.trim_end_matches(" HTTP/1.1")))
        .collect();
    assert_eq!(asked, urls);
    assert_eq!(serving.turns(&servers[0].to_string(), "connections"), 3);
}

#[test]
fn curl_uploads_what_has_to_be_asked_for_first() {
    let server = mirror();
    let serving = serving(&[server]);
    let url = format!("http://{server}/");
    let body = "0123456789".repeat(200_000);
    let file = std::env::temp_dir().join(format!("plimsoll-upload-{}", std::process::id()));
    std::fs::write(&file, &body).unwrap();
    let upload = format!("@{}", file.display());
    let arguments = ["--data-binary", &*upload, &*url];
    let (said, code) = curl(serving.address("connect"), &arguments);
    std::fs::remove_file(&file).unwrap();
    assert_eq!(code, Some(0));
    assert!(said.contains("Expect: 100-continue"));
    assert!(said.ends_with(&format!("\r\n\r\n{body}")));
}

#[test]
fn python_posts_to_several_servers() {
    let servers = [mirror(), mirror()];
    let serving = serving(&servers);
    let program = r#"
import sys, urllib.request
proxy, *urls = sys.argv[1:]
opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": proxy}))
for url in urls:
    print(opener.open(url, b"body of " + url.encode(), 20).read().decode())
"#;
    let mut command = Command::new("python3");
    command
        .args(["-c", program])
        .arg(format!("http://{}", serving.address("connect")));
    command.args(servers.iter().map(|server| format!("http://{server}/p")));
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}");
    for server in servers {
        let host = format!("Host: {server}\r\n");
        assert!(said.contains(&host), "{said}");
        let body = format!("\r\n\r\nbody of http://{server}/p\n");
        assert!(said.contains(&body), "{said}");
    }
}

/// The next request may be for another server, which this one is not to see.
#[test]
fn a_connection_has_one_exchange() {
    let servers = [mirror(), mirror()];
    let serving = serving(&servers);
    let both = format!("{}{}", get(servers[0]), get(servers[1]));
    let mut client = connect(serving.address("connect"));
    client.write_all(both.as_bytes()).unwrap();
    let answer = String::from_utf8(rest(&mut client)).unwrap();
    assert_eq!(answer.matches("HTTP/1.1 200 OK").count(), 1, "{answer}");
    assert_eq!(answer.matches("GET /x").count(), 1, "{answer}");
    serving.wait_for(&servers[0].to_string(), "open", 0);
}

#[test]
fn an_upgraded_connection_is_a_tunnel() {
    let switching = server(|client| {
        let mut reader = BufReader::new(client);
        let (head, _) = message(&mut reader).unwrap();
        assert!(head.contains("Connection: upgrade\r\nUpgrade: echo\r\n"));
        let switched = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\n\r\n";
        reader.get_mut().write_all(switched).unwrap();
        let mut bytes = [0; 5];
        reader.read_exact(&mut bytes).unwrap();
        reader.get_mut().write_all(&bytes).unwrap();
    });
    let serving = serving(&[switching]);
    let request = format!(
        "GET http://{switching}/ HTTP/1.1\r\nHost: {switching}\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n"
    );
    let (mut client, head) = ask(&serving, &request);
    assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
    assert_eq!(echoed(&mut client, b"hello"), b"hello");
}

#[test]
fn other_requests_are_refused() {
    let nobody = Refusing::hold().unwrap();
    let away = nobody.address;
    let serving = serving(&[away]);
    for (request, status, why) in [
        (&*get(away), 502, ""),
        (&*get(echo()), 403, "--allow"),
        (
            "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n",
            403,
            "--allow a.test:80",
        ),
        (
            "GET https://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n",
            400,
            "CONNECT",
        ),
        ("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n", 400, "HTTP_PROXY"),
    ] {
        let (mut client, head) = ask(&serving, request);
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{head}");
        let said = String::from_utf8(rest(&mut client)).unwrap();
        assert!(said.contains(why), "{said}");
    }
}
