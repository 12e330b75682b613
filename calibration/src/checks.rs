//! The list of checks. A new one is its file and its line in [`CHECKS`].

mod added;
mod adversarial_files;
mod adversarial_mock;
mod annual;
mod capacity;
mod causes;
mod clean;
mod clients;
mod closes;
mod counts;
mod delays;
mod dependencies;
mod faults;
mod flat;
mod freeze;
mod gains;
mod grpc;
mod h2spec;
mod in_flight;
mod journal;
mod left_behind;
mod lognormal;
mod memory;
mod outages;
mod peers;
mod provocation;
mod redis_away;
mod reloads;
mod robustness;
mod same;
mod sham;
mod single_server;
mod slopes;
mod steady;
mod swap;
mod testssl;
mod toxics;
mod tyk_files;
mod upstreams;
mod used_up;
mod websocket;
mod wiremock_acceptance;
mod witness;

use crate::bar::Bar;
use crate::bench::{Bench, Error};

/// One check.
pub struct Check {
    /// Its name for `--only`.
    pub name: &'static str,
    /// A line about it for the terminal.
    pub about: &'static str,
    /// Carries it out.
    pub run: fn(&Bench) -> Result<Vec<Bar>, Error>,
}

/// Every check, cheap ones first.
pub static CHECKS: [Check; 46] = [
    counts::CHECK,
    freeze::CHECK,
    peers::CHECK,
    tyk_files::CHECK,
    lognormal::CHECK,
    delays::CHECK,
    clients::CHECK,
    toxics::CHECK,
    faults::CHECK,
    left_behind::CHECK,
    wiremock_acceptance::CHECK,
    h2spec::CHECK,
    grpc::CHECK,
    websocket::CHECK,
    upstreams::CHECK,
    testssl::CHECK,
    in_flight::CHECK,
    journal::CHECK,
    memory::CHECK,
    adversarial_mock::CHECK,
    adversarial_files::CHECK,
    flat::CHECK,
    swap::CHECK,
    reloads::CHECK,
    closes::CHECK,
    redis_away::CHECK,
    robustness::MOCK,
    robustness::GATEWAY,
    robustness::NGINX,
    robustness::GENERATOR,
    provocation::CHECK,
    causes::CHECK,
    capacity::CHECK,
    used_up::CHECK,
    slopes::CHECK,
    gains::CHECK,
    dependencies::CHECK,
    same::CHECK,
    steady::CHECK,
    outages::CHECK,
    sham::CHECK,
    annual::CHECK,
    witness::CHECK,
    added::CHECK,
    clean::CHECK,
    single_server::CHECK,
];
