//! A client's certificate: what it says and whom it identifies, as the gateway reads it and as another library does.

#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_fuzz::certificate::{check, der};

fuzz_target!(|bytes: &[u8]| check(&der(bytes)));
