//! Random changes of the request cases, the same ones on every run, with hyper as oracle: whatever our mock takes, hyper takes
//! as the same requests; and nothing that the gateway lets through makes the mock see a request that the client did not see
//! answered.

use crate::case::Case;
use crate::exchange::{CANARY, Delivery, outcome, send};
use crate::hyper_server;
use crate::ours::{Mock, PATIENCE, gateway, is_in_step};
use crate::requests::topics;
use plimsoll_base::random::{Draw, Stream};

/// How many changed messages are sent.
const MESSAGES: u64 = 1500;

/// Where we and hyper differ on purpose: it opens a tunnel, it wants characters encoded that stubs may match (as it does quotes anywhere in a
/// target), and it reads no option beside one beyond ASCII.
const MEANT: [&[u8]; 3] = [
    b"CONNECT ",
    b"GET /a<b>",
    b"GET /ok HTTP/1.0\r\nHost: a\r\nConnection: \xe9",
];

/// Pieces of which parsers make much.
const PIECES: [&[u8]; 24] = [
    b"\r\n",
    b"\n",
    b"\r",
    b" ",
    b"\t",
    b"\0",
    b":",
    b",",
    b";",
    b"0",
    b"1",
    b"f",
    b"+",
    b"\x0b",
    b"\x80",
    b"\"",
    b"\\",
    b"%",
    b"\r\n\r\n",
    b"0\r\n\r\n",
    b"Content-Length: 3\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Connection: close\r\n",
    b"Host: a\r\n",
];

fn below(draw: &mut Draw, bound: usize) -> usize {
    usize::try_from(draw.below(bound as u64)).unwrap()
}

/// Makes one or two changes.
fn mutate(message: &mut Vec<u8>, draw: &mut Draw) {
    for _ in 0..=draw.below(2) {
        let at = below(draw, message.len() + 1);
        let until = at + below(draw, (message.len() - at).min(8) + 1);
        let piece = PIECES[below(draw, PIECES.len())];
        match draw.below(4) {
            0 => drop(message.splice(at..at, piece.iter().copied())),
            1 => drop(message.splice(at..until, piece.iter().copied())),
            2 => drop(message.drain(at..until)),
            _ => {
                let copy = message[at..until].to_vec();
                drop(message.splice(at..at, copy));
            }
        }
    }
}

#[test]
fn whatever_is_taken_is_taken_by_hyper_as_the_same_requests() {
    let topics = topics();
    let is_seed = |case: &&Case| {
        let is_meant = MEANT.iter().any(|start| case.message.starts_with(start));
        (1..1000).contains(&case.message.len()) && !is_meant
    };
    // What is refused as it stands is mostly refused when changed: the good ones are the better seeds.
    let seeds: Vec<&Case> = topics
        .iter()
        .flat_map(|topic| &topic.cases)
        .filter(is_seed)
        .filter(|case| case.expect == "200 open" || case.name.len() % 4 == 0)
        .collect();
    let mock = Mock::start();
    let gateway = gateway(mock.running.address);
    let hyper = hyper_server::start();
    let mut taken = 0;
    let mut problems = Vec::new();
    for index in 0..MESSAGES {
        let mut draw = Draw::new(1, Stream::Data, index);
        let mut message = seeds[below(&mut draw, seeds.len())].message.clone();
        mutate(&mut message, &mut draw);
        let to_head = message.starts_with(b"HEAD ");
        message.extend_from_slice(CANARY.as_bytes());
        let ask = |server, cut| {
            let received = send(server, &message, cut, Delivery::Whole, PATIENCE);
            outcome(received.as_deref(), to_head).replace("100 ", "")
        };
        // Cut, so that a body that never comes is no reason to wait.
        let ours = ask(mock.running.address, true);
        let shown = String::from_utf8_lossy(&message).into_owned();
        if ours.ends_with("open") && !ours.contains(['4', '5']) {
            taken += 1;
            let theirs = ask(hyper, false);
            let quoted = shown.lines().next().is_some_and(|line| line.contains('"'));
            if theirs != ours && !quoted {
                problems.push(format!("mock {ours}, hyper {theirs}: {shown:?}"));
            }
        }
        let before = mock.smuggled();
        let through = ask(gateway.address, true);
        let wanted = through.split(' ').filter(|word| *word == "404").count() as u64;
        if !is_in_step(gateway.address) || mock.smuggled() - before > wanted {
            problems.push(format!("smuggled through the gateway: {shown:?}"));
        }
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
    assert!(taken > MESSAGES / 20, "only {taken} messages were taken");
}
