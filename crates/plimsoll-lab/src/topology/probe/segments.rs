//! TCP segments sent and sent again, from `/proc/<pid>/net/snmp`. They are those of the network namespace in which the process is,
//! of whichever process in it: on a shared one, the target's own are among them.

use crate::kernel_file;

/// Totals of a network namespace since it exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Segments {
    /// Segments sent, without those sent again.
    sent: u64,
    /// Segments sent again, those of handshakes included.
    again: u64,
}

impl Segments {
    /// The totals now; `None` when the process is gone.
    pub(super) fn read(pid: u32) -> Option<Self> {
        parse(&kernel_file::read(format!("/proc/{pid}/net/snmp")).ok()?)
    }

    /// Segments sent again since `before`, and segments sent in all.
    pub(super) fn since(self, before: Self) -> (u64, u64) {
        let again = self.again.saturating_sub(before.again);
        (again, self.sent.saturating_sub(before.sent) + again)
    }
}

/// Two lines per protocol: names, and values in the same order (RFC 4022: `tcpOutSegs` excludes retransmitted octets only).
fn parse(snmp: &str) -> Option<Segments> {
    let mut lines = snmp.lines().filter_map(|line| line.strip_prefix("Tcp: "));
    let (names, values) = (lines.next()?, lines.next()?);
    let value = |wanted: &str| {
        let mut pairs = names.split(' ').zip(values.split(' '));
        pairs.find(|(name, _)| *name == wanted)?.1.parse().ok()
    };
    Some(Segments {
        sent: value("OutSegs")?,
        again: value("RetransSegs")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captured_text() {
        let text = |sent, again| {
            format!(
                "Ip: Forwarding\nIp: 1\nTcp: RtoAlgorithm MaxConn OutSegs RetransSegs InErrs\nTcp: 1 -1 {sent} {again} 0\n"
            )
        };
        let before = parse(&text(100, 2)).unwrap();
        let after = parse(&text(298, 4)).unwrap();
        assert_eq!(after.since(before), (2, 200));
        assert_eq!(parse("Ip: Forwarding\n"), None);
    }

    #[test]
    fn this_process_has_a_namespace() {
        assert!(Segments::read(std::process::id()).is_some());
    }
}
