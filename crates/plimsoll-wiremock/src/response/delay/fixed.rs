//! `{"type": "fixed", "milliseconds": n}`.

use crate::reader::problem::StubProblem;
use crate::reader::{Object, Problems};

/// Always the same delay.
#[derive(Debug, Clone)]
pub struct Fixed(u64);

impl Fixed {
    pub fn read(object: &mut Object<'_>, problems: &mut Problems) -> Option<Self> {
        let Some(node) = object.get("milliseconds") else {
            problems.push(StubProblem::invalid(
                &object.pointer,
                "\"milliseconds\" is missing",
            ));
            return None;
        };
        node.milliseconds(problems).map(Self)
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "beyond 2^53 ms every delay is cut to the longest anyway"
    )]
    pub fn milliseconds(&self) -> f64 {
        self.0 as f64
    }
}
