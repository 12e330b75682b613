//! The client role: every response case from a scripted upstream to our gateway, and what becomes of the connection it came on.

use crate::case::{Case, Topic, load};
use crate::exchange::{Delivery, Response, send, split, write};
use crate::ours::{PATIENCE, gateway};
use std::io::Read as _;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex, mpsc};

/// The topics of the client role.
pub fn topics() -> Vec<Topic> {
    load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/strictness/cases/responses"))
}

/// The upstream's answer to the next request for `/case`.
struct Script {
    message: Vec<u8>,
    cut: bool,
    delivery: Delivery,
    sent: mpsc::Sender<()>,
}

/// An upstream that answers `/case` by script, and everything else with the number of the connection.
struct Upstream {
    address: SocketAddr,
    script: Arc<Mutex<Option<Script>>>,
}

impl Upstream {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let script = Arc::new(Mutex::new(None));
        let shared = Arc::clone(&script);
        std::thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || serve(stream.unwrap(), number, &shared));
            }
        });
        Self { address, script }
    }

    /// Has the script played to a client of `gateway`; gives what the client received, and what became of the connection: the
    /// next request is answered on a `new` one or on the same (`reused`), or not as it must be (`poisoned`).
    fn play(
        &self,
        gateway: SocketAddr,
        case: &Case,
        delivery: Delivery,
    ) -> (Vec<Response>, &'static str) {
        let before = ask(gateway, "GET", "/number").1;
        let (sent, was_sent) = mpsc::channel();
        *self.script.lock().unwrap() = Some(Script {
            message: case.message.clone(),
            cut: case.cut,
            delivery,
            sent,
        });
        let method = case.more.get("method").map_or("GET", String::as_str);
        let (responses, _) = ask(gateway, method, "/case");
        was_sent.recv_timeout(PATIENCE).unwrap();
        let (after, number) = ask(gateway, "GET", "/number");
        let sound = after.len() == 1 && after[0].status == 200 && number.parse::<usize>().is_ok();
        let fate = match (sound, number == before) {
            (false, _) => "poisoned",
            (true, true) => "reused",
            (true, false) => "new",
        };
        (responses, fate)
    }
}

/// One request over a client connection of its own; also the last body, as text.
fn ask(gateway: SocketAddr, method: &str, path: &str) -> (Vec<Response>, String) {
    let request = format!("{method} {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    let received = send(
        gateway,
        request.as_bytes(),
        false,
        Delivery::Whole,
        PATIENCE,
    );
    let responses = split(&received.expect("an end"), method == "HEAD");
    let body = responses.last().map_or(&[][..], |last| &last.body);
    let body = String::from_utf8_lossy(body).into_owned();
    (responses, body)
}

fn serve(mut stream: TcpStream, number: usize, script: &Mutex<Option<Script>>) {
    stream.set_nodelay(true).unwrap();
    while let Some(head) = read_head(&mut stream) {
        if !head.contains(" /case ") {
            let body = number.to_string();
            let answer = format!(
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            );
            write(&mut stream, answer.as_bytes(), Delivery::Whole);
            continue;
        }
        let script = script.lock().unwrap().take().expect("a script");
        write(&mut stream, &script.message, script.delivery);
        if script.cut {
            // The gateway may have closed first.
            stream.shutdown(Shutdown::Both).ok();
        }
        script.sent.send(()).unwrap();
    }
}

/// A request's head; the gateway's test requests have no bodies.
fn read_head(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if !matches!(stream.read(&mut byte), Ok(1)) {
            return None;
        }
        head.push(byte[0]);
    }
    Some(String::from_utf8(head).unwrap())
}

/// The statuses that the client saw, or that its answer broke off: how much of it came before is a matter of time.
fn told(responses: &[Response]) -> String {
    if responses.is_empty() {
        return "broken".to_owned();
    }
    let words = responses.iter().map(|response| match response.complete {
        true => response.status.to_string(),
        false => "broken".to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn responses_are_relayed_or_refused_as_the_table_says() {
    let upstream = Upstream::start();
    let gateway = gateway(upstream.address);
    let mut problems = Vec::new();
    for case in topics().iter().flat_map(|topic| &topic.cases) {
        for delivery in [Delivery::Whole, Delivery::Pieces] {
            let (responses, fate) = upstream.play(gateway.address, case, delivery);
            let observed = format!("{} {fate}", told(&responses));
            if observed != case.expect {
                problems.push(format!(
                    "{}, {delivery:?}: {observed}, not {}",
                    case.name, case.expect
                ));
            }
            if let Some(body) = case.more.get("body")
                && responses.last().map(|last| &last.body[..]) != Some(body.as_bytes())
            {
                problems.push(format!("{}, {delivery:?}: not the body", case.name));
            }
        }
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}
