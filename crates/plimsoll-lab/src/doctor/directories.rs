//! Permission to write where runs are recorded and where components get their private files.

use super::Fact;
use std::io;
use std::path::Path;

const NAME: &str = "directories";

pub(super) fn look() -> Fact {
    let here = tempfile::tempdir_in(Path::new(".")).map(drop);
    let temporary = tempfile::tempdir().map(drop);
    judge(here, temporary)
}

fn judge(here: io::Result<()>, temporary: io::Result<()>) -> Fact {
    match (here, temporary) {
        (Ok(()), Ok(())) => Fact::ok(NAME, "this one and the temporary one can be written"),
        (_, Err(error)) => Fact::limits(
            NAME,
            format!("the temporary one cannot be written: {error}"),
            "every run: components keep private files there",
            "set TMPDIR to a directory of yours",
        ),
        (Err(error), Ok(())) => Fact::limits(
            NAME,
            format!("this one cannot be written: {error}"),
            "runs without `--out`: they are recorded in `runs/` here",
            "start it elsewhere, or name a directory with `--out`",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Judgement;

    #[test]
    fn what_cannot_be_written_is_named() {
        let refused = || Err(io::ErrorKind::PermissionDenied.into());
        let check = |here, temporary, expected: &str| match judge(here, temporary).judgement {
            Judgement::Limits { what, .. } => assert!(what.starts_with(expected), "{what}"),
            other => assert_eq!((other, expected), (Judgement::Ok, "")),
        };
        check(Ok(()), Ok(()), "");
        check(refused(), Ok(()), "runs without");
        check(Ok(()), refused(), "every run");
    }
}
