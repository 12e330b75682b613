//! The generator's ceiling on this host as a fact beside the others.

use super::Fact;
use crate::ceiling::Stored;

const NAME: &str = "ceiling";

impl Stored {
    /// The ceiling as a fact beside the others.
    #[must_use]
    pub fn fact(&self) -> Fact {
        let measure = "`plimsoll doctor --calibrate`, which takes about half a minute";
        let warning = "the warning before a run whose rate is too high for this host";
        match self {
            Self::Absent => Fact::limits(NAME, "not measured", warning, measure),
            Self::Ignored(why) => Fact::limits(NAME, format!("ignored: {why}"), warning, measure),
            Self::Usable(ceiling) => Fact::ok(NAME, ceiling.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Judgement;

    #[test]
    fn one_that_was_not_measured_limits() {
        let absent = Stored::Absent.fact();
        assert!(matches!(absent.judgement, Judgement::Limits { .. }));
    }
}
