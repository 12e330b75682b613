//! A request's body before the mock: matched with every kind of pattern, rendered with every kind of template, its memory counted.

#![no_main]

use libfuzzer_sys::fuzz_target;
use peakmem_alloc::{INSTRUMENTED_SYSTEM, PeakMemAlloc, PeakMemAllocTrait as _};
use plimsoll_fuzz::mock::{Stub, check, stubs};
use std::alloc::System;

#[global_allocator]
static COUNTED: &PeakMemAlloc<System> = &INSTRUMENTED_SYSTEM;

thread_local! {
    static STUBS: Vec<Stub> = stubs();
}

fn measure(run: &dyn Fn()) -> usize {
    COUNTED.reset_peak_memory();
    run();
    COUNTED.get_peak_memory()
}

fuzz_target!(|bytes: &[u8]| STUBS.with(|stubs| check(stubs, bytes, measure)));
