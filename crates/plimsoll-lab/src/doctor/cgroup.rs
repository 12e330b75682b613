//! Whether a control group can be made that limits processor time: `cpu_quota` needs one.

use super::Fact;
use crate::error::LabError;
use crate::topology::cgroup;
use std::fs;
use std::io;

const NAME: &str = "control groups";

/// Makes a group of its own, and removes it.
pub(super) fn look() -> Fact {
    let name = format!("plimsoll-doctor-{}", std::process::id());
    judge(
        cgroup::limit(&name, None)
            .map(|group| fs::create_dir(&group.dir).and_then(|()| fs::remove_dir(&group.dir))),
    )
}

fn judge(tried: Result<io::Result<()>, LabError>) -> Fact {
    let limits = |finding: String| {
        Fact::limits(
            NAME,
            finding,
            "experiments with `cpu_quota`: they are refused",
            "run as root, or in a group that is delegated to you (`systemd-run --user -p Delegate=cpu`)",
        )
    };
    match tried {
        Ok(Ok(())) => Fact::ok(NAME, "can be made"),
        Ok(Err(error)) => limits(format!("cannot be made: {error}")),
        Err(error) => limits(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Judgement;

    #[test]
    fn no_place_and_no_permission_are_told_apart() {
        let check = |tried, ok: bool, finding: &str| {
            let fact = judge(tried);
            assert_eq!(
                (fact.judgement == Judgement::Ok, fact.finding.as_str()),
                (ok, finding)
            );
        };
        check(Ok(Ok(())), true, "can be made");
        let refused = Ok(Err(io::ErrorKind::PermissionDenied.into()));
        check(refused, false, "cannot be made: permission denied");
        let none = Err(LabError::Environment("no hierarchy".to_owned()));
        check(none, false, "no hierarchy");
    }
}
