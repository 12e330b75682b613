//! Holds our story of some bytes against another: the same in every split, the same as hyper's but for named differences.

use crate::differences::{
    CLOSES_BEYOND_ASCII, KEEPS_ALIVE_BEYOND_ASCII, Looser, STRICTER, Stricter, TAKEN_BY_US_ONLY,
    asks_beyond_ascii,
};
use crate::ours::{Cuts, decode_requests, decode_responses, read_requests, read_responses};
use crate::story::{End, Message, Story};
use crate::{hyper_reads_requests, hyper_reads_response};
use plimsoll_http::{Limits, ProtocolError};

/// Requests: in pieces and at once they are the same, and hyper sees them too.
///
/// # Panics
/// With a finding.
pub fn check_requests(bytes: &[u8], limits: Limits, cuts: Cuts) {
    let ours = decode_requests(bytes, limits);
    same_in_pieces(&ours, &read_requests(bytes, limits, cuts));
    let theirs = hyper_reads_requests(bytes);
    if let Err(finding) = agree(bytes, &limits, &ours, &theirs) {
        panic!("{finding}\nours: {ours:#?}\nhyper's: {theirs:#?}");
    }
}

/// Responses: in pieces and at once they are the same, and hyper sees the first final one too.
///
/// # Panics
/// With a finding.
pub fn check_responses(bytes: &[u8], limits: Limits, to_head: bool, cuts: Cuts) {
    let mut ours = decode_responses(bytes, limits, to_head);
    same_in_pieces(&ours, &read_responses(bytes, limits, to_head, cuts));
    let theirs = hyper_reads_response(bytes, to_head);
    let is_final = |message: &Message| message.start.status == 101 || message.start.status >= 200;
    if let Some(last) = ours.messages.iter().position(is_final)
        && ours.messages[last].complete
    {
        // hyper asked once: what follows is not for it.
        ours.messages.truncate(last + 1);
        ours.end = End::Closing;
    }
    for message in &mut ours.messages {
        // Of interim responses hyper tells no reason, and of others none with bytes beyond ASCII.
        if !is_final(message) || !message.start.reason.is_ascii() {
            message.start.reason.clear();
        }
    }
    if let Err(finding) = agree(bytes, &limits, &ours, &theirs) {
        panic!("{finding}\nours: {ours:#?}\nhyper's: {theirs:#?}");
    }
}

fn same_in_pieces(whole: &Story, pieces: &Story) {
    let end = |story: &Story| match &story.end {
        End::Refused(error, _) => format!("{error:?}"),
        other => format!("{other:?}"),
    };
    assert_eq!(
        whole.messages, pieces.messages,
        "in pieces it is another story"
    );
    assert_eq!(end(whole), end(pieces), "in pieces it ends otherwise");
}

/// Message by message up to the first difference, which must have a name: the name is given.
fn agree(
    bytes: &[u8],
    limits: &Limits,
    ours: &Story,
    theirs: &Story,
) -> Result<Option<&'static str>, String> {
    for index in 0_usize.. {
        let before = index.checked_sub(1).map(|last| &ours.messages[last]);
        let pair = (ours.messages.get(index), theirs.messages.get(index));
        let (our, their) = match pair {
            (None, None) => return Ok(None),
            (None, Some(their)) => return named_refusal(bytes, limits, ours, their),
            (Some(our), None) => return named_acceptance(before, our, theirs),
            (Some(our), Some(their)) => (our, their),
        };
        if (&our.start, &our.fields) != (&their.start, &their.fields) {
            return Err(format!("head {index} is another"));
        }
        match (our.complete, their.complete) {
            (true, true) if (&our.body, &our.trailers) == (&their.body, &their.trailers) => {}
            (true, true) => return Err(format!("body {index} is another")),
            (true, false) => return named_acceptance(None, our, theirs),
            (false, true) => return named_refusal(bytes, limits, ours, their),
            (false, false) => {
                let (shorter, longer) = if our.body.len() < their.body.len() {
                    (&our.body, &their.body)
                } else {
                    (&their.body, &our.body)
                };
                return if longer.starts_with(shorter) {
                    Ok(None)
                } else {
                    Err(format!("body {index} begins otherwise"))
                };
            }
        }
    }
    Ok(None)
}

/// hyper took what we did not: a rule must say why.
fn named_refusal(
    bytes: &[u8],
    limits: &Limits,
    ours: &Story,
    their: &Message,
) -> Result<Option<&'static str>, String> {
    let End::Refused(error, at) = ours.end else {
        let last = ours.messages.last();
        if last.is_some_and(|last| asks_beyond_ascii(last, "close")) {
            return Ok(Some(CLOSES_BEYOND_ASCII));
        }
        return Err("hyper takes what we neither take nor refuse".to_owned());
    };
    let refusal = Stricter {
        rest: &bytes[at..],
        limits,
        their,
    };
    let is_response = their.start.method.is_empty();
    if is_response && matches!(error, ProtocolError::Host | ProtocolError::Expectation) {
        return Err("a response is refused for a field of requests".to_owned());
    }
    let mut rules = STRICTER.iter().filter(|rule| rule.error == error);
    match rules.find(|rule| (rule.holds)(&refusal)) {
        Some(rule) => Ok(Some(rule.case)),
        None => Err(format!(
            "no rule says why we refuse this: {error:?} at {at}"
        )),
    }
}

/// We took what hyper did not, behind the message `before`: a rule must say why.
fn named_acceptance(
    before: Option<&Message>,
    our: &Message,
    theirs: &Story,
) -> Result<Option<&'static str>, String> {
    let End::RefusedByOracle(error) = &theirs.end else {
        let is_old = |message: &Message| message.start.version == 0;
        let keeps = |message: &Message| asks_beyond_ascii(message, "keep-alive");
        if before.is_some_and(|message| is_old(message) && keeps(message)) {
            return Ok(Some(KEEPS_ALIVE_BEYOND_ASCII));
        }
        return Err("we take what hyper neither takes nor refuses".to_owned());
    };
    let acceptance = Looser { error, our };
    match TAKEN_BY_US_ONLY
        .iter()
        .find(|rule| (rule.holds)(&acceptance))
    {
        Some(rule) => Ok(Some(rule.case)),
        None => Err(format!(
            "no rule says why we take what hyper refuses: {error}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The name of the difference between us and hyper, or the finding.
    fn difference(bytes: &str) -> String {
        let bytes = bytes.as_bytes();
        let limits = Limits::default();
        let ours = decode_requests(bytes, limits);
        let agreed = agree(bytes, &limits, &ours, &hyper_reads_requests(bytes));
        agreed.map_or_else(|finding| finding, |name| name.unwrap_or("none").to_owned())
    }

    #[test]
    fn differences_have_names() {
        let cases = [
            (
                "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\nHost: a\r\n\r\n",
                "none",
            ),
            ("GET / HTTP/1.1\r\n\r\n", "missing"),
            ("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", "with a path"),
            ("GET / HTTP/1.1\nHost: a\n\n", "a line ended by LF alone"),
            (
                "GET /\\`<> HTTP/1.1\r\nHost: a\r\n\r\n",
                "characters that must be encoded",
            ),
            (
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1 \r\na\r\n0\r\n\r\n",
                "a space behind the size",
            ),
            (
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nHost: b\r\n\r\n",
                "Content-Length as a trailer",
            ),
            (
                "GET / HTTP/1.1\r\nHost: a\r\nConnection: é, close\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
                CLOSES_BEYOND_ASCII,
            ),
            (
                "GET / HTTP/1.0\r\nHost: a\r\nConnection: é, keep-alive\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
                KEEPS_ALIVE_BEYOND_ASCII,
            ),
        ];
        for (input, expected) in cases {
            assert_eq!(difference(input), expected, "{input:?}");
        }
    }

    /// The oracle is worth nothing if it agrees with everything.
    #[test]
    fn what_has_no_name_is_a_finding() {
        let bytes = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\na";
        let limits = Limits::default();
        let theirs = hyper_reads_requests(bytes);
        let change = |change: fn(&mut Story)| {
            let mut ours = decode_requests(bytes, limits);
            change(&mut ours);
            agree(bytes, &limits, &ours, &theirs)
        };
        assert_eq!(change(|_| ()), Ok(None));
        let changes: [fn(&mut Story); 6] = [
            |ours| ours.messages[0].body.push(b'b'),
            |ours| ours.messages[0].start.path.push('b'),
            |ours| drop(ours.messages[0].fields.remove("host")),
            |ours| ours.messages[0].complete = false,
            |ours| ours.messages.push(Message::default()),
            |ours| {
                ours.messages.clear();
                ours.end = End::Refused(ProtocolError::Host, 0);
            },
        ];
        for (index, changed) in changes.into_iter().enumerate() {
            assert!(change(changed).is_err(), "change {index} went unnoticed");
        }
    }
}
