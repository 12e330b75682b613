//! Our servers with hardly any descriptors: who finds no room is told so, and there is room again afterwards.

use crate::program::{Server, Workspace, get};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Leaves room for some clients and not for all.
const DESCRIPTORS: u32 = 64;
const CLIENTS: usize = 100;

#[test]
fn a_mock_turns_away_clients_for_whom_it_has_no_descriptor() {
    let workspace = Workspace::new();
    let arguments = ["mock", "--port", "0", "--shards", "2"];
    let mock = Server::start_with_descriptors(&workspace, DESCRIPTORS, &arguments);
    check(mock);
}

#[test]
fn a_gateway_turns_away_clients_for_whom_it_has_no_descriptor() {
    let workspace = Workspace::new();
    let mock = Server::start(&workspace, &["mock", "--port", "0"]);
    let config = format!(
        "version: 1\nlisteners: {{ main: {{ address: \"127.0.0.1:0\" }} }}\n\
         upstreams: {{ mock: {{ endpoints: [\"http://{}\"] }} }}\nroutes: [{{ path: /, upstream: mock }}]\n",
        mock.main()
    );
    workspace.write("gateway.yaml", &config);
    let arguments = ["gateway", "--config", "gateway.yaml", "--shards", "2"];
    let gateway = Server::start_with_descriptors(&workspace, DESCRIPTORS, &arguments);
    check(gateway);
}

/// Every client gets an answer, some a refusal; when they are gone, a new one is served.
fn check(server: Server) {
    let clients: Vec<TcpStream> = (0..CLIENTS)
        .map(|_| TcpStream::connect(server.main()).unwrap())
        .collect();
    let mut counts = [0, 0];
    for client in &clients {
        match status(client) {
            Some(200) => counts[0] += 1,
            // A client that had said something already may see the connection end instead.
            Some(503) | None => counts[1] += 1,
            other => panic!("{other:?}"),
        }
    }
    assert!(counts.iter().all(|count| *count > 5), "{counts:?}");
    drop(clients);
    assert!(
        (0..10_000).any(|_| serves(server.main())),
        "there is no room afterwards"
    );
    assert_eq!(server.stop(), Some(0));
}

/// One request on an open connection; `None` if that ends first.
fn status(mut client: &TcpStream) -> Option<u16> {
    client
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    client
        .write_all(b"GET /json/valid HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .ok()?;
    let mut line = [0; 12];
    client.read_exact(&mut line).ok()?;
    std::str::from_utf8(&line[9..]).unwrap().parse().ok()
}

/// Whether a new client is served.
fn serves(server: SocketAddr) -> bool {
    let stream = TcpStream::connect(server).unwrap();
    let served = status(&stream) == Some(200);
    drop(stream);
    served && get(server, "/json/valid").starts_with("HTTP/1.1 ")
}
