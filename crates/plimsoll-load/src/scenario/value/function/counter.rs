//! `counter(name)`, which every user counts for itself, and `global(name)`, which all users count together: 1, 2, 3 and so on.
//!
//! A counter of a user's own does not depend on how users are spread over shards. Which user gets which number of a global one is
//! a matter of who comes first; only that each number is given once is certain.

use super::{Arguments, Function};
use crate::scenario::memory::Memory;
use crate::scenario::value::number;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Debug, Clone)]
pub(in crate::scenario) enum Counter {
    /// At its place in the user's memory.
    Own(usize),
    /// Shared by all shards; it is the only thing that they share, and each number must be given once.
    Shared(Arc<AtomicU64>),
}

const DEFAULT: &str = "";

pub(super) fn compile(arguments: Arguments<'_>) -> Result<Function, String> {
    let name = name(&arguments, "counter(name)")?;
    let place = arguments.names.counter(name);
    Ok(Function::Counter(Counter::Own(place)))
}

pub(super) fn compile_shared(arguments: Arguments<'_>) -> Result<Function, String> {
    let name = name(&arguments, "global(name)")?;
    let counter = arguments.names.shared_counter(name);
    Ok(Function::Counter(Counter::Shared(counter)))
}

fn name<'a>(arguments: &Arguments<'a>, form: &str) -> Result<&'a str, String> {
    if arguments.count(0, 1, form)? == 0 {
        return Ok(DEFAULT);
    }
    arguments
        .word(0)
        .ok_or_else(|| format!("a counter has a name that is written out: write `{form}`"))
}

impl Counter {
    pub(super) fn render(&self, memory: &mut Memory, out: &mut Vec<u8>) {
        let value = match self {
            Self::Own(place) => {
                memory.counters[*place] += 1;
                memory.counters[*place]
            }
            Self::Shared(counter) => counter.fetch_add(1, Ordering::Relaxed) + 1,
        };
        number(out, value);
    }
}
