//! The connection tracker: how full its table is, and packets that it dropped. Absent where the kernel has none.
//!
//! Counts and limit are those of the network namespace in which the lab is; drops those of the process's own.

use crate::kernel_file;

const NUMBERS: &str = "/proc/sys/net/netfilter/nf_conntrack_";

/// The share of its table that is full.
#[expect(clippy::cast_precision_loss, reason = "a share")]
pub(super) fn share() -> Option<f64> {
    let number = |what: &str| -> Option<u64> {
        let text = kernel_file::read(format!("{NUMBERS}{what}")).ok()?;
        text.trim().parse().ok()
    };
    let limit = number("max").filter(|limit| *limit > 0)?;
    Some(number("count")? as f64 / limit as f64)
}

/// Packets dropped for want of room since boot.
pub(super) fn drops(pid: u32) -> Option<u64> {
    parse(&kernel_file::read(format!("/proc/{pid}/net/stat/nf_conntrack")).ok()?)
}

/// A line of names, then one of hexadecimal numbers per processor.
fn parse(text: &str) -> Option<u64> {
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next()?.split_ascii_whitespace().collect();
    let columns: Vec<usize> = ["insert_failed", "drop"]
        .iter()
        .filter_map(|wanted| names.iter().position(|name| name == wanted))
        .collect();
    let of_line = |line: &str| -> u64 {
        let numbers: Vec<&str> = line.split_ascii_whitespace().collect();
        let wanted = columns.iter().filter_map(|column| numbers.get(*column));
        wanted
            .filter_map(|number| u64::from_str_radix(number, 16).ok())
            .sum()
    };
    (!columns.is_empty()).then(|| lines.map(of_line).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captured_text() {
        let text = "entries  clashres insert insert_failed drop early_drop\n00000000  00000000 00000000 00000001 0000000a 00000000\n00000000  00000000 00000000 00000000 00000002 00000000\n";
        assert_eq!(parse(text), Some(13));
        assert_eq!(parse("entries\n00000000\n"), None);
    }
}
