//! Criterion 13: enough blocks of a comparison are valid. A block in which the load was not offered as planned is left out with all
//! of its arms; when more than a third go, what remains is a selection rather than a sample.

use crate::record::{Effect, ValidityRow};

const LIMIT: f64 = 2.0 / 3.0;

/// Judges one arm's blocks: `void` of `planned` were left out. `None` when nothing was left out.
#[must_use]
pub fn judge(arm: &str, planned: usize, void: usize) -> Option<ValidityRow> {
    if void == 0 {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "numbers of blocks are small")]
    let share = (planned - void) as f64 / planned as f64;
    let ok = share >= LIMIT;
    Some(ValidityRow {
        criterion: 13,
        name: "blocks used".to_owned(),
        arm: arm.to_owned(),
        value: Some(share),
        limit: LIMIT,
        unit: "share".to_owned(),
        ok,
        effect: if ok { Effect::None } else { Effect::Invalid },
        affects: Vec::new(),
        advice: format!(
            "{void} of {planned} blocks were left out because the generator fell behind its plan in them{}",
            if ok {
                "."
            } else {
                ": lower the rate or give the generator a processor of its own."
            }
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::judge;

    #[test]
    fn a_third_may_go() {
        assert_eq!(judge("a", 6, 0), None);
        assert!(judge("a", 6, 2).unwrap().ok);
        assert!(!judge("a", 6, 3).unwrap().ok);
    }
}
