//! `GET /scenarios`, `POST /scenarios/reset`, `PUT /scenarios/{name}/state`: the states of stubs.

use super::error::AdminError;
use super::{Admin, AdminRequest};
use crate::mappings::stubs::ScenarioStubs;
use plimsoll_wiremock::reader::read_value;
use plimsoll_wiremock::reader::{Node, Problems};
use plimsoll_wiremock::request::parameters::decode;
use plimsoll_wiremock::response::answer::Answer;
use plimsoll_wiremock::stub::state::STARTED;
use serde_json::{Value, json};

pub(super) fn list(admin: &Admin, _: &AdminRequest, _: &str) -> Result<Answer, AdminError> {
    let scenarios = admin.stubs.scenarios();
    let shown: Vec<Value> = scenarios.iter().map(shown).collect();
    Ok(Answer::json(200, &json!({"scenarios": shown})))
}

pub(super) fn reset(admin: &Admin, _: &AdminRequest, _: &str) -> Result<Answer, AdminError> {
    for scenario in admin.stubs.scenarios() {
        scenario.machine.set(STARTED);
    }
    Ok(Answer::json(200, &json!({})))
}

/// Sets a state, or the first one where the body is empty.
pub(super) fn set(admin: &Admin, request: &AdminRequest, name: &str) -> Result<Answer, AdminError> {
    let state = match request.text().trim() {
        "" => None,
        text => read_value(text, read_state).map_err(|problems| AdminError::refused(&problems))?,
    };
    let decoded = decode(name);
    let scenarios = admin.stubs.scenarios();
    let Some(scenario) = scenarios.iter().find(|own| own.machine.name == decoded) else {
        return Err(AdminError::no_scenario(&decoded));
    };
    let state = state.as_deref().unwrap_or(STARTED);
    if state != STARTED && !scenario.states().iter().any(|own| own == state) {
        return Err(AdminError::no_state(&decoded, state));
    }
    scenario.machine.set(state);
    Ok(Answer::json(200, &json!({})))
}

/// `{"state": "name"}`; the outer option is whether it could be read.
fn read_state(node: &Node<'_>, problems: &mut Problems) -> Option<Option<String>> {
    let mut object = node.object(problems)?;
    let state = object.get("state").and_then(|node| node.text(problems));
    object.finish(&[], problems);
    Some(state)
}

fn shown(scenario: &ScenarioStubs) -> Value {
    let mappings: Vec<&Value> = scenario.stubs.iter().map(|stub| &stub.document).collect();
    json!({
        "id": scenario.machine.name,
        "name": scenario.machine.name,
        "state": scenario.machine.state(),
        "possibleStates": scenario.states(),
        "mappings": mappings,
    })
}
