//! How many new connections may wait for a listener of ours to accept them.

use super::Fact;
use crate::kernel_file;
use plimsoll_base::units::format_number;

const NAME: &str = "backlog";
/// A load's connections arrive at once; this many are a large one.
const ENOUGH: u32 = 1024;

pub(super) fn look() -> Fact {
    let limit = kernel_file::read("/proc/sys/net/core/somaxconn").ok();
    match limit.and_then(|limit| limit.trim().parse().ok()) {
        Some(limit) => judge(limit),
        None => Fact::unknown(NAME, "the kernel does not say how many may wait"),
    }
}

fn judge(limit: u32) -> Fact {
    let finding = format!(
        "{} may wait per listener (somaxconn)",
        format_number(f64::from(limit))
    );
    if limit >= ENOUGH {
        return Fact::ok(NAME, finding);
    }
    Fact::limits(
        NAME,
        finding,
        "starts with more connections than that: some wait a second for their second SYN",
        format!("`sysctl net.core.somaxconn={ENOUGH}` or more"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Judgement;

    #[test]
    fn a_short_queue_limits() {
        let check = |limit, ok: bool| assert_eq!(judge(limit).judgement == Judgement::Ok, ok);
        check(4096, true);
        check(128, false);
    }
}
