//! How many connections this process has descriptors for.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Descriptors of a server besides its connections: standard streams, files, and some that come and go.
const OWN: u64 = 24;
/// Descriptors of one shard besides its connections: poll, wake-up, timer, listeners, the pipe of [`super::splice`].
const OF_SHARD: u64 = 10;

/// Raises the limit as far as this process may, and says how many clients it leaves room for when there may be so many connections
/// `behind` them, but no more than one for each; at least one. Beyond that a server can only let its clients wait, so it should
/// rather refuse them.
#[must_use]
pub fn connections_possible(shards: usize, behind: u64) -> u32 {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: maximum,
        maximum,
    };
    let limit = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => maximum,
        Err(_) => current,
    };
    possible(limit, shards as u64, behind)
}

/// No limit is `None`.
fn possible(limit: Option<u64>, shards: u64, behind: u64) -> u32 {
    let left = limit.map_or(u64::MAX, |limit| {
        limit.saturating_sub(OWN + OF_SHARD * shards)
    });
    let clients = left.saturating_sub(behind).max(left / 2);
    u32::try_from(clients).unwrap_or(u32::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_needs_itself_is_no_room_for_connections() {
        let check = |limit, shards, behind, expected| {
            assert_eq!(possible(limit, shards, behind), expected, "{limit:?}");
        };
        check(None, 2, 2, u32::MAX);
        check(Some(20_000), 2, 0, 19_956);
        check(Some(20_000), 2, 1_280, 18_676);
        check(Some(1_024), 2, 1_280, 490);
        check(Some(64), 2, 0, 20);
        check(Some(16), 2, 0, 1);
    }
}
