//! A whole connection that arrives in pieces. The first byte chooses the pieces and the limits and, if it is odd, that the rest are
//! responses.

#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_fuzz::compare::{check_requests, check_responses};
use plimsoll_fuzz::ours::Cuts;
use plimsoll_http::Limits;

fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else {
        return;
    };
    let small = Limits {
        head_bytes: 300,
        fields: 8,
        target_bytes: 60,
        body_bytes: 600,
        trailer_bytes: 120,
    };
    let limits = if first & 2 == 0 {
        Limits::default()
    } else {
        small
    };
    let cuts = Cuts::from_seed(first >> 2);
    if first & 1 == 0 {
        check_requests(rest, limits, cuts);
    } else {
        check_responses(rest, limits, false, cuts);
    }
});
