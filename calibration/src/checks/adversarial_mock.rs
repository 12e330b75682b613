//! The cost of strangers' requests to the mock: for each matcher, helper and page an input that is deep, wide or long, once as the mock
//! runs and once counted by callgrind, each beside a harmless request to the same mock.

mod inputs;

use super::Check;
use crate::bar::Bar;
use crate::bench::{Bench, Error};
use crate::cost_of::instructions_of::Callgrind;
use crate::cost_of::{self, Cost};
use crate::memory_of::Memory;
use crate::mock::Mock;
use inputs::{Asked, Input};
use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

pub const CHECK: Check = Check {
    name: "adversarial-mock",
    about: "deep, wide and long requests to the mock: their memory and their instructions",
    run,
};

/// Bytes of an input, about; some say themselves that they are smaller.
const SIZES: (usize, usize) = (1_000_000, 100_000);
/// How long an answer may take, counted by callgrind, too. The bar of ten million instructions a millisecond is far below.
const ANSWER: Duration = Duration::from_secs(180);

fn run(bench: &Bench) -> Result<Vec<Bar>, Error> {
    Callgrind::find()?;
    let size = bench.pick(SIZES.0, SIZES.1);
    let inputs = inputs::all(size);
    fn what(input: &Input) -> &str {
        &input.what
    }
    let cost = |input: &Input| cost(bench, input);
    Ok(cost_of::bars(bench, CHECK.name, inputs, what, cost))
}

fn cost(bench: &Bench, input: &Input) -> Result<Cost, Error> {
    let memory = memory(bench, input)?;
    let harmless = instructions(bench, input, None)?;
    Ok(Cost {
        input: input.bytes(),
        memory,
        instructions: instructions(bench, input, Some(&input.asked))? - harmless,
    })
}

/// Bytes by which the mock grows at the most.
fn memory(bench: &Bench, input: &Input) -> Result<f64, Error> {
    let mock = Mock::start_with(bench, &input.stubs, &input.flags())?;
    exchange(mock.address, &inputs::harmless())?;
    let before = mock.memory(Memory::LargestResident)?;
    for asked in input.before.iter().chain([&input.asked]) {
        exchange(mock.address, asked)?;
    }
    let after = mock.memory(Memory::LargestResident)?;
    mock.stop()?;
    Ok((after - before) * 1024.0)
}

/// Instructions of a mock from its start to its end, with one more request or without.
fn instructions(bench: &Bench, input: &Input, more: Option<&Asked>) -> Result<f64, Error> {
    let counted = Callgrind::below(&bench.directory()?);
    let mock = Mock::start_under(bench, &counted.words(), &input.stubs, &input.flags())?;
    let harmless = inputs::harmless();
    for asked in [&harmless].into_iter().chain(&input.before).chain(more) {
        exchange(mock.address, asked)?;
    }
    mock.stop()?;
    counted.total()
}

/// One request on a connection of its own, and the answer to its end. By hand, for some inputs are larger than a library sends or reads.
fn exchange(address: SocketAddr, asked: &Asked) -> Result<(), Error> {
    let answered = answer(address, asked);
    let status = answered.map_err(|e| Error::at_server("asking the mock", e))?;
    if status.is_empty() {
        let words = format!("{} got no answer", asked.path());
        return Err(Error::Measured(words));
    }
    Ok(())
}

fn answer(address: SocketAddr, asked: &Asked) -> io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(ANSWER))?;
    stream.set_write_timeout(Some(ANSWER))?;
    stream.write_all(&asked.bytes())?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Ok(answer)
}
