//! All that one virtual user remembers: values, the rows it was dealt, cookies, counters.
//!
//! A program without any of these leaves everything empty, and an empty memory owns no memory.

use super::answer::Head;
use super::cookie::{Jar, Moment};
use super::feeder::{Dealt, Feeder};
use super::iteration::Iteration;
use super::passes::Passes;
use crate::clock::{Nanos, nanos};
use crate::plan::Span;
use jiff::Timestamp;
use plimsoll_base::random::{Draw, Stream};

/// A request as far as it is made, for values of its fields that refer to it.
#[derive(Debug, Default)]
pub(crate) struct Sending {
    pub(crate) target: Vec<u8>,
    pub(crate) body: Vec<u8>,
}

/// Memory of one virtual user.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    seed: u64,
    pub(super) iteration: Iteration,
    draws: Draws,
    /// By slot; `None` until something is extracted into it.
    slots: Vec<Slot>,
    /// By feeder: the row of this iteration.
    pub(super) rows: Vec<u32>,
    /// By counter.
    pub(super) counters: Vec<u64>,
    /// By loop of the program: rounds left.
    pub(crate) loops: Vec<u32>,
    /// The groups that the iteration is in.
    pub(crate) passes: Passes,
    pub(crate) jar: Jar,
    pub(super) sending: Sending,
    /// The request that was rendered last.
    pub(super) request: Vec<u8>,
    scratch: Vec<u8>,
}

/// The random sequences of an iteration, each begun when it is first asked for. Where none was, they are not touched when an iteration begins.
#[derive(Debug, Default)]
struct Draws {
    has_any: bool,
    data: Option<Draw>,
    ways: Option<Draw>,
    pauses: Option<Draw>,
}

impl Draws {
    fn forget(&mut self) {
        if self.has_any {
            *self = Self::default();
        }
    }

    /// The sequence in a place, of this stream and for the iteration of this number.
    fn of(
        &mut self,
        place: fn(&mut Self) -> &mut Option<Draw>,
        stream: Stream,
        seed: u64,
        number: u64,
    ) -> &mut Draw {
        self.has_any = true;
        place(self).get_or_insert_with(|| Draw::new(seed, stream, number))
    }
}

#[derive(Debug, Default, Clone)]
struct Slot {
    value: Vec<u8>,
    is_set: bool,
}

/// How much of each kind a program needs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub(crate) slots: usize,
    pub(crate) feeders: usize,
    pub(crate) counters: usize,
    pub(crate) loops: usize,
    /// So many groups at once.
    pub(crate) groups: usize,
}

impl Memory {
    /// The memory of a user that has done nothing yet.
    pub(crate) fn new(seed: u64, sizes: Sizes) -> Self {
        Self {
            seed,
            slots: vec![Slot::default(); sizes.slots],
            rows: vec![0; sizes.feeders],
            counters: vec![0; sizes.counters],
            loops: vec![0; sizes.loops],
            passes: Passes::with_room(sizes.groups),
            ..Self::default()
        }
    }

    /// Forgets what belongs to an iteration, and deals the next one its rows; says which feeder has none left.
    ///
    /// # Errors
    /// The first feeder that is at its end.
    pub(crate) fn begin(&mut self, iteration: Iteration, feeders: &[Feeder]) -> Result<(), usize> {
        self.iteration = iteration;
        self.draws.forget();
        self.passes.clear();
        for slot in &mut self.slots {
            slot.is_set = false;
        }
        let all = feeders.iter().enumerate();
        all.filter(|(_, feeder)| !feeder.is_dealt_when_needed())
            .try_for_each(|(place, _)| self.deal(place, feeders))
    }

    /// Deals this iteration its row of the feeder at a place.
    ///
    /// # Errors
    /// The place, if it is at its end.
    pub(crate) fn deal(&mut self, place: usize, feeders: &[Feeder]) -> Result<(), usize> {
        match feeders[place].deal(self.seed, place, self.iteration) {
            Dealt::Row(row) => self.rows[place] = row,
            Dealt::End => return Err(place),
        }
        Ok(())
    }

    /// Random values of this iteration for data.
    pub(super) fn data(&mut self) -> &mut Draw {
        let number = self.iteration.number;
        self.draws
            .of(|draws| &mut draws.data, Stream::Data, self.seed, number)
    }

    /// Random values of this iteration for the ways that it takes.
    pub(crate) fn ways(&mut self) -> &mut Draw {
        let number = self.iteration.number;
        self.draws
            .of(|draws| &mut draws.ways, Stream::Ways, self.seed, number)
    }

    /// How long this iteration's next pause is.
    pub(crate) fn pause(&mut self, span: Span) -> Nanos {
        if let Span::Constant(length) = span {
            return nanos(length);
        }
        let number = self.iteration.number;
        nanos(
            span.next(
                self.draws
                    .of(|draws| &mut draws.pauses, Stream::Pauses, self.seed, number),
            ),
        )
    }

    /// Keeps the cookies of an answer.
    pub(crate) fn keep_cookies(&mut self, head: Head<'_>, host: &str, now: Nanos) {
        let Self { jar, sending, .. } = self;
        head.each_field("set-cookie", |field| {
            let at = Moment {
                host,
                target: &sending.target,
                now,
                wall: Timestamp::now(),
            };
            jar.store(field, at);
        });
    }

    /// Content of a slot; nothing, if nothing was put there in this iteration.
    pub(super) fn slot(&self, slot: usize) -> &[u8] {
        let slot = &self.slots[slot];
        if slot.is_set { &slot.value } else { &[] }
    }

    /// Whether something was put into a slot in this iteration.
    pub(super) fn is_set(&self, slot: usize) -> bool {
        self.slots[slot].is_set
    }

    /// Puts a value into a slot.
    pub(super) fn set(&mut self, slot: usize, value: &[u8]) {
        let slot = &mut self.slots[slot];
        slot.value.clear();
        slot.value.extend_from_slice(value);
        slot.is_set = true;
    }

    /// A buffer for a moment; give it back.
    pub(super) fn take_scratch(&mut self) -> Vec<u8> {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        scratch
    }

    pub(super) fn give_back(&mut self, scratch: Vec<u8>) {
        self.scratch = scratch;
    }
}
