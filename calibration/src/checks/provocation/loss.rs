//! One packet in a hundred is lost, by nftables in a network namespace of the run's own.

use super::{Provocation, SECONDS, ports::isolated};
use crate::bench::{Bench, Error, Outcome};
use serde_json::json;

pub const PROVOCATION: Provocation = Provocation {
    what: "1 % loss",
    criteria: &[6],
    provoke,
};

const SETUP: &str = "PATH=$PATH:/usr/sbin; ip link set lo up && \
    nft 'table inet loss { chain in { type filter hook input priority 0; numgen random mod 100 == 0 drop; }; }' && exec \"$@\"";

fn provoke(bench: &Bench) -> Result<Outcome, Error> {
    isolated(
        bench,
        SETUP,
        "/json/valid",
        json!({ "rate": "500/s", "duration": format!("{SECONDS}s") }),
    )
}
