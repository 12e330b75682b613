//! The codec under the table of odd messages that the servers are driven with: cut anywhere, it says the same, and what the
//! gateway refuses or breaks off for its framing is a typed error here, which is what the generator sees.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../plimsoll/tests/strictness/case.rs"]
mod case;

use case::{Case, load};
use plimsoll_http::decode::{Event, Head, MessageDecoder, RequestDecoder, ResponseDecoder};
use plimsoll_http::{Fields, Limits, ProtocolError};
use std::path::Path;

fn cases(role: &str) -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let topics = load(&root.join("../plimsoll/tests/strictness/cases").join(role));
    topics.into_iter().flat_map(|topic| topic.cases).collect()
}

/// Result of decoding all bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Decoded {
    heads: usize,
    ends: usize,
    body: Vec<u8>,
    trailers: Vec<(String, Vec<u8>)>,
    error: Option<ProtocolError>,
    /// Whether there was a message and the bytes end where one may end.
    is_whole: bool,
}

fn list(fields: &Fields) -> impl Iterator<Item = (String, Vec<u8>)> {
    fields
        .iter()
        .map(|(name, value)| (name.to_owned(), value.to_vec()))
}

/// Decodes `input`, of which the bytes behind `cut` come later.
fn decode<H: Head>(mut decoder: MessageDecoder<H>, input: &[u8], cut: usize) -> Decoded {
    let mut decoded = Decoded {
        heads: 0,
        ends: 0,
        body: Vec::new(),
        trailers: Vec::new(),
        error: None,
        is_whole: false,
    };
    let (mut start, mut end) = (0, cut);
    loop {
        let step = match decoder.decode(&input[start..end]) {
            Ok(step) => step,
            Err(error) => {
                decoded.error = Some(error);
                return decoded;
            }
        };
        match step.event {
            Event::NeedMore if end == input.len() => {
                let between = decoded.heads == decoded.ends && start + step.consumed == end;
                decoded.is_whole = decoded.heads > 0 && (between || decoder.may_end_here());
                return decoded;
            }
            Event::NeedMore => end = input.len(),
            Event::Head => decoded.heads += 1,
            Event::Interim => {}
            Event::Data(range) => decoded.body.extend_from_slice(&input[start..end][range]),
            Event::End => {
                decoded.ends += 1;
                decoded.trailers.extend(list(decoder.trailers()));
            }
        }
        start += step.consumed;
    }
}

/// Decodes at every cut; all must say the same.
fn decode_everywhere<H: Head>(case: &Case, decoder: impl Fn() -> MessageDecoder<H>) -> Decoded {
    let input = &case.message;
    let whole = decode(decoder(), input, input.len());
    // Long messages are long in one place: cuts every 97 bytes find what there is.
    let step = if input.len() > 2048 { 97 } else { 1 };
    for cut in (0..input.len()).step_by(step) {
        assert_eq!(
            decode(decoder(), input, cut),
            whole,
            "{} at {cut}",
            case.name
        );
    }
    whole
}

#[test]
fn requests_are_the_same_wherever_they_are_cut() {
    for case in cases("requests") {
        let decoded = decode_everywhere(&case, || RequestDecoder::new(Limits::default()));
        let refused = [
            "400 close",
            "413 close",
            "414 close",
            "417 close",
            "431 close",
            "505 close",
        ];
        if refused.contains(&case.expect.as_str()) {
            let status = decoded.error.map(ProtocolError::status);
            let expected = case.expect.split(' ').next().unwrap().parse().ok();
            // What has not ended is refused because of the bytes that follow it.
            assert!(
                status == expected || !decoded.is_whole,
                "{}: {decoded:?}",
                case.name
            );
        }
    }
}

#[test]
fn bad_responses_are_typed_errors() {
    for case in cases("responses") {
        let to_head = case
            .more
            .get("method")
            .is_some_and(|method| method == "HEAD");
        let decoder = || {
            let mut decoder = ResponseDecoder::new(Limits::default());
            decoder.expect(to_head);
            decoder
        };
        let decoded = decode_everywhere(&case, decoder);
        let refused = case.expect.contains("502") || case.expect.contains("broken");
        let taken_here = case.more.get("codec").is_some_and(|word| word == "takes");
        let first_is_good = decoded.ends > 0 || (decoded.error.is_none() && decoded.is_whole);
        assert_eq!(
            first_is_good,
            !refused || taken_here,
            "{}: {decoded:?}",
            case.name
        );
        if !first_is_good {
            assert!(
                decoded.error.is_some() || !decoded.is_whole,
                "{}: {decoded:?}",
                case.name
            );
        }
    }
}
