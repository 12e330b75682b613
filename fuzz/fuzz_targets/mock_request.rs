//! A request's body before the mock: matched with every kind of pattern, rendered with every kind of template, its memory counted.

#![no_main]

use libfuzzer_sys::fuzz_target;
use peak_alloc::PeakAlloc;
use plimsoll_fuzz::mock::{Stub, check, stubs};

#[global_allocator]
static COUNTED: PeakAlloc = PeakAlloc;

thread_local! {
    static STUBS: Vec<Stub> = stubs();
}

fn measure(run: &dyn Fn()) -> usize {
    COUNTED.reset_peak_usage();
    let before = COUNTED.current_usage();
    run();
    COUNTED.peak_usage().saturating_sub(before)
}

fuzz_target!(|bytes: &[u8]| STUBS.with(|stubs| check(stubs, bytes, measure)));
