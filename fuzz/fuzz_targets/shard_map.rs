//! A shard map and identities: where the map puts each, and where a search of every entry does.

#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_fuzz::shard_map::{Case, check};

fuzz_target!(|bytes: &[u8]| check(&Case::of(bytes)));
