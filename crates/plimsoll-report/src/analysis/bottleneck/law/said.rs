//! A server's own statistics, as evidence beside whatever cause lies in it.

use crate::analysis::bottleneck::case::Point;
use crate::record::{Cause, ServerStatistics};
use plimsoll_base::units::{format_bytes, format_number};

/// Less than this of what is looked for in memory is worth a line when it is not found there.
const FEW_HITS: f64 = 0.9;

/// Adds what the server that a cause lies in says of itself and is out of the ordinary.
pub(in crate::analysis::bottleneck) fn add(point: &Point, cause: &mut Cause) {
    let component = cause.component.as_deref();
    let seen = component.and_then(|name| point.component(name));
    if let Some(seen) = seen {
        cause.evidence.extend(lines(&seen.server));
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts for people")]
fn lines(server: &ServerStatistics) -> Vec<String> {
    let some = |count: Option<u64>| count.filter(|count| *count > 0);
    let number = |count: u64| format_number(count as f64);
    let hits = server.hit_share().filter(|share| *share < FEW_HITS);
    let lines = [
        some(server.deadlocks).map(|count| format!("it broke {} deadlocks", number(count))),
        some(server.evicted_keys).map(|count| {
            format!(
                "it threw out {} keys, since `maxmemory` is reached",
                number(count)
            )
        }),
        some(server.temporary_bytes).map(|bytes| {
            format!(
                "queries wrote {} of temporary files: `work_mem` is too small for them",
                format_bytes(bytes as f64)
            )
        }),
        some(server.checkpoints_requested).map(|count| {
            format!(
                "{} checkpoints were needed before their time",
                number(count)
            )
        }),
        hits.map(|share| {
            format!(
                "it found {} of what it looked for in its memory",
                super::percent(share)
            )
        }),
    ];
    lines.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_out_of_the_ordinary_is_said() {
        let usual = ServerStatistics {
            deadlocks: Some(0),
            hits: Some(99),
            misses: Some(1),
            ..ServerStatistics::default()
        };
        assert_eq!(lines(&usual), [""; 0]);
        let unusual = ServerStatistics {
            deadlocks: Some(2),
            evicted_keys: Some(1_200),
            temporary_bytes: Some(4 << 20),
            checkpoints_requested: Some(3),
            hits: Some(1),
            misses: Some(1),
            ..ServerStatistics::default()
        };
        insta::assert_snapshot!(lines(&unusual).join("\n"), @r"
        it broke 2 deadlocks
        it threw out 1,200 keys, since `maxmemory` is reached
        queries wrote 4 MiB of temporary files: `work_mem` is too small for them
        3 checkpoints were needed before their time
        it found 50 % of what it looked for in its memory
        ");
    }
}
