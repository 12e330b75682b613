//! Whether `nft` can be used in a network namespace: calibration loses packets with it.

use super::Fact;
use super::namespaces::succeeds;

const NAME: &str = "nft";

pub(super) fn look() -> Fact {
    let installed = succeeds(&["nft", "--version"]);
    let usable = succeeds(&["unshare", "--net", "nft", "list", "ruleset"]);
    judge(installed, usable)
}

fn judge(installed: Option<bool>, usable: Option<bool>) -> Fact {
    let limits = |finding: &str, remedy: &str| {
        Fact::limits(
            NAME,
            finding,
            "calibration: its check of lost packets",
            remedy,
        )
    };
    match (installed, usable) {
        (_, Some(true)) => Fact::ok(NAME, "works in a network namespace"),
        (None, _) => limits("is not installed", "install nftables"),
        (Some(_), _) => limits("does not work in a network namespace", "run it as root"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Judgement;

    #[test]
    fn each_reason_has_its_remedy() {
        let check = |installed, usable, expected: &str| match judge(installed, usable).judgement {
            Judgement::Limits { remedy, .. } => assert_eq!(remedy, expected),
            other => assert_eq!((other, expected), (Judgement::Ok, "")),
        };
        check(Some(true), Some(true), "");
        check(Some(true), Some(false), "run it as root");
        check(Some(true), None, "run it as root");
        check(None, Some(false), "install nftables");
    }
}
