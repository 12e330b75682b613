//! Whether a network namespace can be made: a network of one's own, in which to bound ports or lose packets on purpose.

use super::Fact;
use std::process::{Command, Stdio};

const NAME: &str = "namespaces";

/// Makes one, as long as `true` takes.
pub(super) fn look() -> Fact {
    judge(succeeds(&["unshare", "--net", "true"]))
}

/// Whether a command ends well; `None` when there is no such program.
pub(super) fn succeeds(command: &[&str]) -> Option<bool> {
    let (program, arguments) = command.split_first()?;
    let quiet = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    quiet.ok().map(|status| status.success())
}

fn judge(made: Option<bool>) -> Fact {
    let limits = |finding: &str, remedy: &str| {
        Fact::limits(
            NAME,
            finding,
            "calibration: its checks of ports and of lost packets",
            remedy,
        )
    };
    match made {
        Some(true) => Fact::ok(NAME, "a network namespace can be made"),
        Some(false) => limits("a network namespace cannot be made", "run it as root"),
        None => limits("there is no program `unshare`", "install util-linux"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Judgement;

    #[test]
    fn each_reason_has_its_remedy() {
        let check = |made, expected: &str| match judge(made).judgement {
            Judgement::Limits { remedy, .. } => assert_eq!(remedy, expected),
            other => assert_eq!((other, expected), (Judgement::Ok, "")),
        };
        check(Some(true), "");
        check(Some(false), "run it as root");
        check(None, "install util-linux");
    }

    #[test]
    fn a_command_succeeds_fails_or_is_missing() {
        assert_eq!(succeeds(&["true"]), Some(true));
        assert_eq!(succeeds(&["false"]), Some(false));
        assert_eq!(succeeds(&["plimsoll-no-such-program"]), None);
    }
}
