//! A request that comes by HTTP/2 with any list of fields, and what an upstream of HTTP/1.1 gets of it.

#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_fuzz::http2::check;

fuzz_target!(|bytes: &[u8]| check(bytes));
