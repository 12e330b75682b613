//! One response: to a HEAD request if the first byte is `H`, which is not part of it; to a GET request otherwise.

#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_fuzz::compare::check_responses;
use plimsoll_fuzz::ours::Cuts;
use plimsoll_http::Limits;

fuzz_target!(|bytes: &[u8]| {
    if let Some((first, message)) = bytes.split_first() {
        check_responses(
            message,
            Limits::default(),
            *first == b'H',
            Cuts::from_seed(1),
        );
    }
});
