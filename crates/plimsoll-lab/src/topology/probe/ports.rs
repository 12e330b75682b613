//! Local ports for outgoing connections: how many of a network namespace's are taken, from `/proc/<pid>/net/sockstat` and the kernel's
//! setting.
//!
//! Listeners and accepted connections are among those counted, so the share is an upper bound; where both ends are on this host each
//! connection counts twice. The setting is that of the namespace in which the lab is.

use crate::kernel_file;

const RANGE: &str = "/proc/sys/net/ipv4/ip_local_port_range";

/// How many ports there are; `None`: the kernel does not say.
pub(super) fn there_are() -> Option<u64> {
    parse_range(&kernel_file::read(RANGE).ok()?)
}

/// Connections that hold a port in the namespace of `pid`, lately closed ones included.
pub(super) fn taken(pid: u32) -> Option<u64> {
    parse_taken(&kernel_file::read(format!("/proc/{pid}/net/sockstat")).ok()?)
}

fn parse_range(text: &str) -> Option<u64> {
    let mut ends = text.split_ascii_whitespace().map(str::parse::<u64>);
    let (low, high) = (ends.next()?.ok()?, ends.next()?.ok()?);
    Some(high.checked_sub(low)? + 1)
}

/// `TCP: inuse 102 orphan 0 tw 391 …`
fn parse_taken(sockstat: &str) -> Option<u64> {
    let line = sockstat
        .lines()
        .find_map(|line| line.strip_prefix("TCP:"))?;
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let value = |name: &str| -> Option<u64> {
        let pair = words.chunks_exact(2).find(|pair| pair[0] == name)?;
        pair[1].parse().ok()
    };
    Some(value("inuse")? + value("tw")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captured_text() {
        assert_eq!(parse_range("32768\t60999\n"), Some(28_232));
        assert_eq!(parse_range(""), None);
        let text = "sockets: used 122\nTCP: inuse 102 orphan 0 tw 391 alloc 102 mem 45\nUDP: inuse 0 mem 0\n";
        assert_eq!(parse_taken(text), Some(493));
        assert_eq!(parse_taken("UDP: inuse 0\n"), None);
    }
}
