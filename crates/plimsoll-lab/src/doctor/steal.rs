//! Processor time that the hypervisor gives to other guests, over a short look.

use super::Fact;
use crate::topology::probe::MachineTimes;

const NAME: &str = "steal";
/// Of the whole time: the limit of criterion 5 over a run.
const LIMIT: f64 = 0.01;

/// A look under way.
pub(super) struct Watch(Option<MachineTimes>);

impl Watch {
    pub(super) fn start() -> Self {
        Self(MachineTimes::read())
    }

    pub(super) fn end(self) -> Fact {
        match (self.0, MachineTimes::read()) {
            (Some(before), Some(after)) => judge(after.since(before)),
            _ => Fact::unknown(NAME, "the kernel does not say"),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "ticks of a second")]
fn judge((stolen, all): (u64, u64)) -> Fact {
    let share = stolen as f64 / all.max(1) as f64;
    let finding = format!("{:.1} % of a second", share * 100.0);
    if share <= LIMIT {
        return Fact::ok(NAME, finding);
    }
    Fact::limits(
        NAME,
        finding,
        "percentiles: another guest runs while an arrival is due (criterion 5)",
        "a host with fewer neighbours or processors of its own",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Judgement;

    #[test]
    fn more_than_a_hundredth_is_too_much() {
        let check = |times, ok: bool| assert_eq!(judge(times).judgement == Judgement::Ok, ok);
        check((0, 200), true);
        check((2, 200), true);
        check((3, 200), false);
        check((0, 0), true);
    }
}
