//! Generators in a closed loop over HTTP/2, 10 connections with 10 streams each.

use super::{Comparison, Round};
use crate::client::{Kind, Protocol};
use crate::figures::row::Bar;
use crate::rows::closed::{Closed, compare};

pub const COMPARISON: Comparison = Comparison {
    name: "http2",
    about: "generators over HTTP/2, 10 connections of 10 streams, as fast as answers come",
    round: Round {
        starts: 5,
        leads: 3,
        measured_times: 3,
    },
    run: |bench| compare(bench, &CLOSED),
};

const CLOSED: Closed = Closed {
    work: "generator, closed, HTTP/2",
    protocol: Protocol::Http2,
    peer: Kind::Oha,
    shown: &[Kind::H2load],
    bar: Bar::new(1.0, 0.8),
};
