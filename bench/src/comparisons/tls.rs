//! Generators in a closed loop over TLS 1.3 with connections that are kept.

use super::{Comparison, Round};
use crate::client::{Kind, Protocol};
use crate::figures::row::Bar;
use crate::rows::closed::{Closed, compare};

pub const COMPARISON: Comparison = Comparison {
    name: "tls",
    about: "generators over TLS 1.3, 50 users, as fast as answers come",
    round: Round {
        starts: 4,
        leads: 2,
        measured_times: 2,
    },
    run: |bench| compare(bench, &CLOSED),
};

const CLOSED: Closed = Closed {
    work: "generator, closed, TLS 1.3",
    protocol: Protocol::Tls,
    peer: Kind::Wrk,
    shown: &[],
    bar: Bar::new(1.1, 0.95),
};
