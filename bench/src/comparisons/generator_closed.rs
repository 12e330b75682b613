//! Generators in a closed loop over HTTP/1.1 in clear.

use super::{Comparison, Round};
use crate::client::{Kind, Protocol};
use crate::figures::row::Bar;
use crate::rows::closed::{Closed, compare};

pub const COMPARISON: Comparison = Comparison {
    name: "generator-closed",
    about: "generators, 50 users, as fast as answers come",
    round: Round {
        starts: 8,
        leads: 4,
        measured_times: 4,
    },
    run: |bench| compare(bench, &CLOSED),
};

/// Against wrk, the leanest.
const CLOSED: Closed = Closed {
    work: "generator, closed",
    protocol: Protocol::Clear,
    peer: Kind::Wrk,
    shown: &[Kind::H2load, Kind::Oha, Kind::Hey],
    bar: Bar::new(1.0, 0.9),
};
