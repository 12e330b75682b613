//! A number of iterations in the closed model: exactly so many, and the load ends with the last.

use super::rig::{Answer, Server, plan, run};
use std::time::Duration;

#[test]
fn so_many_iterations_and_no_more() {
    let server = Server::start(|_| Answer::Status(200));
    for (shards, number) in [(1, 203), (2, 203), (2, 2)] {
        let before = server.requests();
        let mut plan = plan(server.address);
        plan.shards = shards;
        plan.duration = Duration::from_secs(3600);
        plan.scenarios[0].iterations = Some(number);
        let outcome = run(plan);
        assert_eq!(outcome.accounts.measured.sent, number);
        assert_eq!(server.requests() - before, number);
        assert!(outcome.accounts.ended_s < 60.0);
    }
}
