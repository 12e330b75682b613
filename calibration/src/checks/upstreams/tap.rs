//! A relay between the gateway and its upstream that keeps what passes: which requests went out, whole, and which the upstream says it saw.

use crate::bench::Error;
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

/// A running relay. It goes on until this process ends; its connections end with theirs.
pub(super) struct Tap {
    address: SocketAddr,
    links: Arc<Mutex<Vec<Link>>>,
}

/// One connection of the gateway's.
#[derive(Debug, Clone, Default)]
struct Link {
    sent: Vec<u8>,
    answered: Vec<u8>,
    /// It was found to disagree, which is told once.
    forgotten: bool,
}

/// The bytes of a link in one direction.
type Side = fn(&mut Link) -> &mut Vec<u8>;

/// The bytes that went out on a connection.
#[derive(Debug, Default, PartialEq, Eq)]
struct Sent {
    /// Method and target of every whole request.
    whole: Vec<String>,
    /// Whether there is a part of another behind them.
    part: bool,
}

impl Tap {
    /// A relay to this upstream.
    pub(super) fn start(upstream: SocketAddr) -> Result<Self, Error> {
        let failed = || Error::when("starting a relay");
        let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(failed())?;
        let address = listener.local_addr().map_err(failed())?;
        let links = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&links);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if relay(&stream, upstream, &kept).is_err() {
                    // The gateway finds its connection closed.
                }
            }
        });
        Ok(Self { address, links })
    }

    /// Where the gateway finds its upstream.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whether every upstream connection saw what it was sent; what it did not, otherwise.
    pub(super) fn agrees(&self) -> Result<(), String> {
        let links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        let mut open = links.iter().filter(|link| !link.forgotten);
        open.try_for_each(|link| agree(&link.sent, &link.answered))
    }

    /// Leaves out from now on what does not agree.
    pub(super) fn forget(&self) {
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        for link in links.iter_mut() {
            link.forgotten |= agree(&link.sent, &link.answered).is_err();
        }
    }

    /// How many whole requests went out, how many were answered as seen, and how many were refused.
    pub(super) fn counts(&self) -> (usize, usize, usize) {
        let links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        let sent = links
            .iter()
            .map(|link| requests(&link.sent).map_or(0, |sent| sent.whole.len()));
        let answers: Vec<Option<String>> = links
            .iter()
            .flat_map(|link| answers(&link.answered))
            .collect();
        let seen = answers.iter().flatten().count();
        (sent.sum(), seen, answers.len() - seen)
    }
}

/// Relays one connection in two threads.
fn relay(
    gateway: &TcpStream,
    upstream: SocketAddr,
    links: &Arc<Mutex<Vec<Link>>>,
) -> io::Result<()> {
    let upstream = TcpStream::connect(upstream)?;
    let index = {
        let mut links = links.lock().unwrap_or_else(PoisonError::into_inner);
        links.push(Link::default());
        links.len() - 1
    };
    let ways: [(&TcpStream, &TcpStream, Side); 2] = [
        (gateway, &upstream, |link| &mut link.sent),
        (&upstream, gateway, |link| &mut link.answered),
    ];
    for (from, to, side) in ways {
        let (mut from, mut to) = (from.try_clone()?, to.try_clone()?);
        let links = Arc::clone(links);
        std::thread::spawn(move || {
            let mut piece = [0; 16 * 1024];
            while let Ok(read @ 1..) = from.read(&mut piece) {
                let mut links = links.lock().unwrap_or_else(PoisonError::into_inner);
                side(&mut links[index]).extend_from_slice(&piece[..read]);
                drop(links);
                if to.write_all(&piece[..read]).is_err() {
                    break;
                }
            }
            if to.shutdown(Shutdown::Write).is_err() {
                // It is closed already.
            }
        });
    }
    Ok(())
}

/// Checks an upstream that was sent these bytes and answered so; the error says what is wrong: it must have answered every request, and
/// nothing else. What it refused, for a method that it does not know for instance, it does not name.
fn agree(sent: &[u8], answered: &[u8]) -> Result<(), String> {
    let sent = requests(sent)?;
    let answers = answers(answered);
    // A part of a request may be answered, or not.
    let more = answers.len().checked_sub(sent.whole.len());
    let one_by_one = answers
        .iter()
        .zip(&sent.whole)
        .all(|(seen, sent)| seen.as_ref().is_none_or(|seen| seen == sent));
    if one_by_one && more.is_some_and(|more| more <= usize::from(sent.part)) {
        return Ok(());
    }
    Err(format!(
        "{:?} went out{}, and {answers:?} were answered",
        sent.whole,
        if sent.part {
            ", and a part of another"
        } else {
            ""
        }
    ))
}

/// Takes apart what the gateway writes, which has one form: nothing else is understood here.
fn requests(mut rest: &[u8]) -> Result<Sent, String> {
    let mut sent = Sent::default();
    while !rest.is_empty() {
        let Some(end) = find(rest, b"\r\n\r\n") else {
            sent.part = true;
            return Ok(sent);
        };
        let (head, after) = rest.split_at(end + 4);
        // A value may have bytes beyond ASCII.
        let head = String::from_utf8_lossy(head);
        let line = head.split("\r\n").next().unwrap_or_default();
        let words: Vec<&str> = line.split(' ').collect();
        let [method, target, "HTTP/1.1"] = words[..] else {
            return Err(format!("`{line}` went out"));
        };
        let values = |name: &str| -> Vec<&str> {
            let lines = head.split("\r\n").filter_map(|line| line.split_once(": "));
            let named = lines.filter(|(own, _)| own.eq_ignore_ascii_case(name));
            named.map(|(_, value)| value).collect()
        };
        let body = match (
            &values("content-length")[..],
            &values("transfer-encoding")[..],
        ) {
            ([], []) => Some(0),
            ([length], []) => {
                let length = length
                    .parse()
                    .map_err(|_| format!("a length of {length}"))?;
                (after.len() >= length).then_some(length)
            }
            ([], ["chunked"]) => chunked(after)?,
            (lengths, codings) => return Err(format!("{lengths:?} and {codings:?} went out")),
        };
        let Some(body) = body else {
            sent.part = true;
            return Ok(sent);
        };
        sent.whole.push(format!("{method} {target}"));
        rest = &after[body..];
    }
    Ok(sent)
}

/// How long a chunked body is, with its trailers; `None`: there is more to come.
fn chunked(bytes: &[u8]) -> Result<Option<usize>, String> {
    let mut at = 0;
    loop {
        let Some(line) = find(&bytes[at..], b"\r\n") else {
            return Ok(None);
        };
        let digits = String::from_utf8_lossy(&bytes[at..at + line]).into_owned();
        let size = usize::from_str_radix(&digits, 16);
        let size = size.map_err(|_| format!("a chunk of `{digits}` went out"))?;
        at += line + 2;
        if size == 0 {
            break;
        }
        let Some(end) = bytes.get(at + size..at + size + 2) else {
            return Ok(None);
        };
        if end != b"\r\n" {
            return Err("a chunk that does not end went out".to_owned());
        }
        at += size + 2;
    }
    loop {
        let Some(line) = find(&bytes[at..], b"\r\n") else {
            return Ok(None);
        };
        at += line + 2;
        if line == 0 {
            return Ok(Some(at));
        }
    }
}

/// The upstream's final answers, each with the request that it says it saw, or without one, if it refused it. No body holds what looks like an
/// answer.
fn answers(answered: &[u8]) -> Vec<Option<String>> {
    let text = String::from_utf8_lossy(answered);
    let mut answers = Vec::new();
    for answer in text.split("HTTP/1.").skip(1) {
        let status = answer.get(2..5).unwrap_or_default();
        let is_final = answer.as_bytes().get(1) == Some(&b' ')
            && status.len() == 3
            && status.bytes().all(|byte| byte.is_ascii_digit())
            && !status.starts_with('1');
        if !is_final {
            continue;
        }
        let mut fields = answer
            .split("\r\n")
            .filter_map(|line| line.split_once(": "));
        let seen = fields.find(|(name, _)| name.eq_ignore_ascii_case("x-seen"));
        let seen = seen.map(|(_, value)| value.trim().to_owned());
        answers.push(seen.filter(|seen| !seen.is_empty()));
    }
    answers
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

#[cfg(test)]
mod tests {
    use super::*;

    const POST: &str =
        "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
    const GET: &str = "GET /b HTTP/1.1\r\nHost: a\r\n\r\n";

    fn answer(seen: &str) -> String {
        format!("HTTP/1.1 200 OK\r\nX-Seen: {seen}\r\nContent-Length: 4\r\n\r\nfine")
    }

    #[test]
    fn requests_are_taken_apart_by_their_framing() {
        let whole = |text: &str| requests(text.as_bytes()).map(|sent| (sent.whole, sent.part));
        let both = vec!["POST /a".to_owned(), "GET /b".to_owned()];
        assert_eq!(whole(&format!("{POST}{GET}")), Ok((both.clone(), false)));
        assert_eq!(whole(&format!("{POST}{GET}PO")), Ok((both, true)));
        assert_eq!(whole(&POST[..POST.len() - 2]), Ok((vec![], true)));
        assert!(whole("GET /b HTTP/1.0\r\n\r\n").is_err());
        let beyond = requests(b"GET /b HTTP/1.1\r\nX: \xff\r\n\r\n");
        assert_eq!(beyond.map(|sent| sent.whole.len()), Ok(1));
        let two = "GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na";
        assert!(whole(two).is_err());
        assert!(whole(&POST.replace("3\r\n", "x\r\n")).is_err());
    }

    #[test]
    fn an_upstream_that_sees_other_requests_disagrees() {
        let check = |sent: &str, answered: &str, agrees: bool| {
            let found = agree(sent.as_bytes(), answered.as_bytes());
            assert_eq!(found.is_ok(), agrees, "{sent} {answered} {found:?}");
        };
        let (one, two) = (answer("POST /a"), answer("GET /b"));
        let both = format!("{POST}{GET}");
        check(&both, &format!("{one}{two}"), true);
        check(POST, &format!("HTTP/1.1 100 Continue\r\n\r\n{one}"), true);
        // It waits for more, or has seen one more, another, or what is none.
        check(&both, &one, false);
        check(POST, &format!("{one}{}", answer("GET /smuggled")), false);
        check(&both, &format!("{two}{one}"), false);
        let refused = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
        check(POST, &format!("{one}{refused}"), false);
        check("", refused, false);
        // What it refuses is one request all the same.
        check(POST, refused, true);
        check(&both, &format!("{one}{refused}"), true);
        // One that breaks off may be answered, or refused.
        let part = format!("{GET}POST /a HTTP/1.1\r\nContent-Length: 9\r\n\r\n0");
        check(&part, &two, true);
        check(&part, &format!("{two}{refused}"), true);
        check(&part, &format!("{two}{}", answer("POST /a")), true);
        check(&part, &format!("{two}{refused}{refused}"), false);
    }
}
