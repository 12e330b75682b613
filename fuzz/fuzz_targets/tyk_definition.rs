//! A Tyk API definition: read, judged and compiled as at start, and held against the page about Tyk's fields.

#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_fuzz::tyk::{check, text};

fuzz_target!(|bytes: &[u8]| check(&text(bytes)));
