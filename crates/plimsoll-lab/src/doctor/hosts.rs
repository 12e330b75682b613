//! Whether a network of hosts can be made here, with its faults, and file systems for components.

use super::Fact;
use crate::topology::network::{Missing, check};

const NAME: &str = "hosts";

/// Makes each part once, in namespaces that end with the try.
pub(super) fn look() -> Fact {
    judge(&check())
}

fn judge(missing: &[Missing]) -> Fact {
    let Some(first) = missing.first() else {
        return Fact::ok(NAME, "a network of hosts can be made");
    };
    let findings: Vec<&str> = missing.iter().map(|one| one.what.as_str()).collect();
    Fact::limits(
        NAME,
        findings.join("; "),
        "experiments with `network` or `disk`",
        first.remedy,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Judgement;

    #[test]
    fn all_that_is_missing_is_found_and_the_first_is_remedied() {
        assert_eq!(judge(&[]).judgement, Judgement::Ok);
        let missing = |what: &str, remedy| Missing {
            what: what.to_owned(),
            remedy,
        };
        let fact = judge(&[
            missing("no ip", "install it"),
            missing("no nft", "that too"),
        ]);
        assert_eq!(fact.finding, "no ip; no nft");
        match fact.judgement {
            Judgement::Limits { remedy, .. } => assert_eq!(remedy, "install it"),
            other => panic!("{other:?}"),
        }
    }
}
