//! The body of a chunked message and whatever follows it, in a request and in a response.

#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_fuzz::compare::{check_requests, check_responses};
use plimsoll_fuzz::ours::Cuts;
use plimsoll_http::Limits;

const REQUEST: &[u8] = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

fuzz_target!(|bytes: &[u8]| {
    // Small, so that what the fuzzer writes can exceed them.
    let limits = Limits {
        body_bytes: 300,
        trailer_bytes: 120,
        fields: 6,
        ..Limits::default()
    };
    check_requests(&[REQUEST, bytes].concat(), limits, Cuts::from_seed(1));
    check_responses(
        &[RESPONSE, bytes].concat(),
        limits,
        false,
        Cuts::from_seed(1),
    );
});
