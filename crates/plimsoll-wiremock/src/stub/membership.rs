//! A stub mapping's `scenarioName`, `requiredScenarioState` and `newScenarioState`.

use crate::reader::problem::StubProblem;
use crate::reader::{Object, Problems};
use crate::stub::state::Membership;

pub(super) fn read(object: &mut Object<'_>, problems: &mut Problems) -> Option<Membership> {
    let mut text = |name| object.get(name).and_then(|node| node.text(problems));
    let scenario = text("scenarioName");
    let (required, new) = (text("requiredScenarioState"), text("newScenarioState"));
    if scenario.is_none() && (required.is_some() || new.is_some()) {
        let message = "a state needs a \"scenarioName\" whose state it is";
        problems.push(StubProblem::invalid(&object.pointer, message));
    }
    Some(Membership {
        scenario: scenario?,
        required,
        new,
    })
}
