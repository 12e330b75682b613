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

/// The checks that ask [`Bench::wants`] for each of their rows.
pub static WITH_ROWS: [&str; 5] = [
    faults::CHECK.name,
    robustness::MOCK.name,
    robustness::GATEWAY.name,
    robustness::NGINX.name,
    robustness::GENERATOR.name,
];

/// Whether rows can be chosen among in each of these checks.
///
/// # Errors
/// [`Error::Asked`]: one is carried out as a whole.
pub fn have_rows(checks: &[&Check]) -> Result<(), Error> {
    let is_whole = |check: &&&Check| !WITH_ROWS.contains(&check.name);
    let Some(whole) = checks.iter().find(is_whole) else {
        return Ok(());
    };
    Err(Error::Asked(format!(
        "--rows: {} has none to choose among; --only {} have",
        whole.name,
        WITH_ROWS.join(", ")
    )))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_not_asked_of_a_check_without() {
        assert!(have_rows(&[&faults::CHECK, &robustness::GATEWAY]).is_ok());
        let refused = have_rows(&[&robustness::MOCK, &freeze::CHECK]).unwrap_err();
        let words = refused.to_string();
        assert!(words.contains("--rows: freeze has none"), "{words}");
        assert!(words.contains("robust-generator"), "{words}");
        let all: Vec<_> = CHECKS.iter().map(|check| check.name).collect();
        assert!(WITH_ROWS.iter().all(|name| all.contains(name)));
    }
}
