//! Packets that the network's interrupts could not carry, from `/proc/net/softnet_stat`: one line of hexadecimal numbers per processor.

use crate::kernel_file;

/// Totals over all processors since boot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Softnet {
    /// Packets dropped because a processor's queue was full.
    pub(super) dropped: u64,
    /// Rounds that ended with packets left over.
    pub(super) squeezed: u64,
}

impl Softnet {
    /// The totals now; `None` when the kernel does not say.
    pub(super) fn read() -> Option<Self> {
        Some(parse(&kernel_file::read("/proc/net/softnet_stat").ok()?))
    }

    /// Counts added after `before`.
    pub(super) fn since(self, before: Self) -> Self {
        Self {
            dropped: self.dropped.saturating_sub(before.dropped),
            squeezed: self.squeezed.saturating_sub(before.squeezed),
        }
    }
}

/// Processed, dropped, time_squeeze (net/core/net-procfs.c).
fn parse(text: &str) -> Softnet {
    let mut totals = Softnet::default();
    for line in text.lines() {
        let mut numbers = line
            .split_ascii_whitespace()
            .skip(1)
            .map(|number| u64::from_str_radix(number, 16).unwrap_or(0));
        totals.dropped += numbers.next().unwrap_or(0);
        totals.squeezed += numbers.next().unwrap_or(0);
    }
    totals
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captured_text() {
        let text = "06b60b6f 0000002e 0000001b 00000000\n071462a2 00000000 0000001e 00000000\n";
        let expected = Softnet {
            dropped: 46,
            squeezed: 57,
        };
        assert_eq!(parse(text), expected);
        assert_eq!(expected.since(expected), Softnet::default());
    }
}
