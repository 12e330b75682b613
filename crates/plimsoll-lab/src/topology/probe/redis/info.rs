//! The answer to `INFO`: lines of a name and a value (redis.io, command `INFO`).

use crate::topology::probe::exported::Exported;
use plimsoll_report::record::ServerStatistics;
use std::collections::HashMap;

/// Names and values.
pub(super) struct Info<'a>(HashMap<&'a str, &'a str>);

impl<'a> Info<'a> {
    pub(super) fn parse(text: &'a str) -> Self {
        let lines = text.lines().map(str::trim_end);
        let fields = lines.filter(|line| !line.starts_with('#'));
        Self(fields.filter_map(|line| line.split_once(':')).collect())
    }

    fn count(&self, name: &str) -> Option<u64> {
        self.0.get(name)?.parse().ok()
    }

    fn number(&self, name: &str) -> Option<f64> {
        self.0.get(name)?.parse().ok()
    }

    /// The sum of two times, where both are said.
    fn sum(&self, one: &str, other: &str) -> Option<f64> {
        Some(self.number(one)? + self.number(other)?)
    }

    /// The answer in this project's terms. Its own connection is one of the clients, and left out of them.
    ///
    /// # Errors
    /// That it is none of Redis's, in words.
    #[expect(clippy::cast_precision_loss, reason = "numbers of clients, and sizes")]
    pub(super) fn exported(&self) -> Result<Exported, String> {
        let cpu_s = self.sum("used_cpu_sys", "used_cpu_user");
        let cpu_s = Some(cpu_s.ok_or("its answer to INFO has no used_cpu_sys and used_cpu_user")?);
        let clients = self.count("connected_clients");
        let limit = self.count("maxclients").filter(|limit| *limit > 0);
        let memory = self.number("maxmemory").filter(|most| *most > 0.0);
        let used = self.number("used_memory");
        Ok(Exported {
            cpu_s,
            main_thread_s: self.sum("used_cpu_sys_main_thread", "used_cpu_user_main_thread"),
            in_loop_s: self
                .number("eventloop_duration_sum")
                .map(|micros| micros * 1e-6),
            loops: self.number("eventloop_cycles"),
            rss_bytes: self.number("used_memory_rss"),
            server: ServerStatistics {
                connections: clients.map(|all| all.saturating_sub(1) as f64),
                connections_limit: limit,
                connections_share: clients
                    .zip(limit)
                    .map(|(all, limit)| all as f64 / limit as f64),
                connections_rejected: self.count("rejected_connections"),
                blocked_clients: self.number("blocked_clients"),
                data_memory_share: used.zip(memory).map(|(used, most)| used / most),
                operations: self.count("total_commands_processed"),
                hits: self.count("keyspace_hits"),
                misses: self.count("keyspace_misses"),
                evicted_keys: self.count("evicted_keys"),
                ..ServerStatistics::default()
            },
            ..Exported::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captured_text() {
        let text = "# Clients\r\nconnected_clients:5\r\nmaxclients:10\r\nblocked_clients:2\r\n\r\n# Memory\r\nused_memory:600\r\nused_memory_rss:900\r\nmaxmemory:1200\r\n# Stats\r\ntotal_commands_processed:70\r\nrejected_connections:1\r\nevicted_keys:3\r\nkeyspace_hits:8\r\nkeyspace_misses:2\r\neventloop_cycles:4\r\neventloop_duration_sum:2000000\r\n# CPU\r\nused_cpu_sys:1.5\r\nused_cpu_user:2.5\r\nused_cpu_sys_main_thread:1.0\r\nused_cpu_user_main_thread:2.0\r\n";
        let exported = Info::parse(text).exported().unwrap();
        let server = ServerStatistics {
            connections: Some(4.0),
            connections_limit: Some(10),
            connections_share: Some(0.5),
            connections_rejected: Some(1),
            blocked_clients: Some(2.0),
            data_memory_share: Some(0.5),
            operations: Some(70),
            hits: Some(8),
            misses: Some(2),
            evicted_keys: Some(3),
            ..ServerStatistics::default()
        };
        let expected = Exported {
            cpu_s: Some(4.0),
            main_thread_s: Some(3.0),
            in_loop_s: Some(2.0),
            loops: Some(4.0),
            rss_bytes: Some(900.0),
            server,
            ..Exported::default()
        };
        assert_eq!(exported, expected);
    }

    /// Without a limit of memory, and of a version that says nothing of its main thread.
    #[test]
    fn what_is_not_said_is_not_known() {
        let text = "used_cpu_sys:1\r\nused_cpu_user:2\r\nmaxmemory:0\r\nused_memory:5\r\n";
        let exported = Info::parse(text).exported().unwrap();
        assert_eq!(exported.main_thread_s, None);
        assert_eq!(exported.server, ServerStatistics::default());
        let told = Info::parse("a:1\r\n").exported().unwrap_err();
        assert!(told.contains("used_cpu_sys"), "{told}");
    }
}
