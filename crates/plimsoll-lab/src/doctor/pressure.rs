//! Other work on this host, over a short look: the share of time in which something waited for a processor.

use super::Fact;
use crate::kernel_file;
use tokio::time::Instant;

const NAME: &str = "pressure";
/// The limit of criterion 4 for the generator's threads.
const LIMIT: f64 = 0.05;

/// A look under way.
pub(super) struct Watch(Instant, Option<u64>);

impl Watch {
    pub(super) fn start() -> Self {
        Self(Instant::now(), waited())
    }

    pub(super) fn end(self) -> Fact {
        match (self.1, waited()) {
            (Some(before), Some(after)) => {
                let waited = after.saturating_sub(before);
                #[expect(clippy::cast_precision_loss, reason = "microseconds of a second")]
                judge(waited as f64 * 1e-6 / self.0.elapsed().as_secs_f64())
            }
            _ => Fact::unknown(NAME, "the kernel keeps no account of it"),
        }
    }
}

/// Microseconds since boot in which at least one task waited.
fn waited() -> Option<u64> {
    parse(&kernel_file::read("/proc/pressure/cpu").ok()?)
}

/// The total of the line `some`, as the kernel's documentation of pressure stall information has it.
fn parse(pressure: &str) -> Option<u64> {
    let line = pressure.lines().find(|line| line.starts_with("some "))?;
    let (_, total) = line.split_once("total=")?;
    total.trim().parse().ok()
}

fn judge(share: f64) -> Fact {
    let finding = format!(
        "something waited for a processor in {:.0} % of a second",
        share * 100.0
    );
    if share <= LIMIT {
        return Fact::ok(NAME, finding);
    }
    Fact::limits(
        NAME,
        finding,
        "everything: other work takes processors from generator and target (criterion 4)",
        "end it, or wait until it has ended",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Judgement;

    #[test]
    fn captured_text() {
        let text = "some avg10=59.83 avg60=62.68 avg300=66.50 total=3329843930\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n";
        assert_eq!(parse(text), Some(3_329_843_930));
        assert_eq!(parse(""), None);
    }

    #[test]
    fn other_work_is_named() {
        let check = |share, ok: bool| assert_eq!(judge(share).judgement == Judgement::Ok, ok);
        check(0.01, true);
        check(0.6, false);
    }
}
