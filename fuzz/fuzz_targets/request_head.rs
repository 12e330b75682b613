//! One request head, whatever follows it.

#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_fuzz::compare::check_requests;
use plimsoll_fuzz::ours::Cuts;
use plimsoll_http::Limits;

fuzz_target!(|bytes: &[u8]| check_requests(bytes, Limits::default(), Cuts::from_seed(1)));
