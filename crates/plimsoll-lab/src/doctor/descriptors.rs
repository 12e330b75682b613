//! Descriptors that a process may hold: every connection takes one at each end.

use super::Fact;
use plimsoll_base::units::format_number;
use rustix::process::{Resource, getrlimit};

const NAME: &str = "descriptors";
/// Connections of an experiment that is called large here.
const ENOUGH: u64 = 10_000;

pub(super) fn look() -> Fact {
    let limit = getrlimit(Resource::Nofile);
    judge(limit.current, limit.maximum)
}

/// Soft and hard limit; `None` is no limit.
fn judge(soft: Option<u64>, hard: Option<u64>) -> Fact {
    let finding = format!(
        "{} at once; up to {}, which the generator takes",
        said(soft),
        said(hard)
    );
    match soft {
        Some(soft) if soft < ENOUGH => Fact::limits(
            NAME,
            finding,
            format!(
                "components that hold more than about {} connections",
                // Criterion 6 wants a tenth left.
                said(Some(soft / 10 * 9))
            ),
            match hard {
                Some(hard) if hard <= soft => {
                    "raise the hard limit (limits.conf, LimitNOFILE=)".to_owned()
                }
                Some(hard) => format!("`ulimit -n {hard}` in the shell that starts it"),
                None => "`ulimit -n unlimited` in the shell that starts it".to_owned(),
            },
        ),
        _ => Fact::ok(NAME, finding),
    }
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn said(limit: Option<u64>) -> String {
    limit.map_or_else(
        || "as many as wanted".to_owned(),
        |limit| format_number(limit as f64),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Judgement;

    #[test]
    fn a_low_limit_says_how_to_raise_it() {
        let check = |soft, hard, expected: &str| match judge(soft, hard).judgement {
            Judgement::Limits { what, remedy } => assert_eq!(format!("{what}: {remedy}"), expected),
            other => assert_eq!((other, expected), (Judgement::Ok, "")),
        };
        check(Some(1_048_576), Some(1_048_576), "");
        check(None, None, "");
        check(
            Some(1024),
            Some(524_288),
            "components that hold more than about 918 connections: `ulimit -n 524288` in the shell that starts it",
        );
        check(
            Some(1024),
            Some(1024),
            "components that hold more than about 918 connections: raise the hard limit (limits.conf, LimitNOFILE=)",
        );
    }
}
