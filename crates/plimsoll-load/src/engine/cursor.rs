//! An iteration's way through its program: from exchange to exchange, and over everything between them in no time.

use super::shard_state::ShardState;
use crate::clock::Nanos;
use crate::plan::Span;
use crate::results::recorder::Side;
use crate::scenario::{Feeder, Instruction, Memory};

/// The next thing that an iteration does.
#[derive(Debug, Clone, Copy)]
pub(super) enum Next {
    /// The exchange of this step.
    Step(usize),
    /// It waits.
    Pause(Span),
}

/// Where an iteration is.
#[derive(Debug)]
pub(super) struct Cursor<'a> {
    program: &'a [Instruction],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// At the beginning.
    pub(super) fn new(program: &'a [Instruction]) -> Self {
        Self { program, at: 0 }
    }

    /// Begins: takes the way, if the program begins with a choice, and deals the rows that are needed on it.
    ///
    /// # Errors
    /// The place of a feeder that has no row left.
    pub(super) fn begin(&mut self, feeders: &[Feeder], memory: &mut Memory) -> Result<(), usize> {
        if let Some(Instruction::Choose(choices)) = self.program.first() {
            self.at = choices.choose(memory);
        }
        if let Some(Instruction::Deal(needed)) = self.program.get(self.at) {
            self.at += 1;
            let needed = needed
                .iter()
                .filter(|place| feeders[**place].is_dealt_when_needed());
            for place in needed {
                memory.deal(*place, feeders)?;
            }
        }
        Ok(())
    }

    /// Goes on to the next exchange or pause; `None` at the end. `due` is where the iteration should be `now`: at its intended start, at the
    /// end of its last exchange or at that of a pause.
    pub(super) fn next(
        &mut self,
        shard_state: &ShardState,
        memory: &mut Memory,
        side: Side,
        now: Nanos,
        due: Nanos,
    ) -> Option<Next> {
        loop {
            let instruction = self.program.get(self.at)?;
            self.at += 1;
            match instruction {
                Instruction::Step(step) => return Some(Next::Step(*step)),
                Instruction::Pause(span) => return Some(Next::Pause(*span)),
                Instruction::Jump(to) => self.at = *to,
                // Only iterations' beginnings are: that is over.
                Instruction::Deal(_) => {}
                Instruction::Choose(choices) => self.at = choices.choose(memory),
                Instruction::Unless(test, to) => {
                    if !test.holds(&shard_state.program.feeders, memory) {
                        self.at = *to;
                    }
                }
                Instruction::Enter { place, times } => memory.loops[*place] = *times,
                Instruction::Again { place, from } => {
                    memory.loops[*place] -= 1;
                    if memory.loops[*place] > 0 {
                        self.at = *from;
                    }
                }
                Instruction::Open(group) => memory.passes.open(*group, due),
                Instruction::Close => {
                    if let Some(pass) = memory.passes.close() {
                        shard_state.record(now).grouped(side, pass, due);
                    }
                }
            }
        }
    }
}

/// The iteration ends wherever it is, and so do the groups around it.
pub(super) fn leave_all(
    shard_state: &ShardState,
    memory: &mut Memory,
    side: Side,
    now: Nanos,
    due: Nanos,
) {
    while let Some(pass) = memory.passes.close() {
        shard_state.record(now).grouped(side, pass, due);
    }
}
