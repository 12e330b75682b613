//! `POST /mappings/import`: adds a list of mappings as a whole; of two for one request the first listed wins, as in files.

use super::error::AdminError;
use super::{Admin, AdminRequest};
use crate::mappings::stubs::{Draft, NotPlaced};
use plimsoll_wiremock::reader::problem::StubProblem;
use plimsoll_wiremock::reader::{Node, Object, Problems};
use plimsoll_wiremock::response::answer::{Answer, AnswerBuilder};
use plimsoll_wiremock::stub::{StubMapping, read_import};
use std::collections::HashSet;

/// Treatment of the stubs that are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Options {
    duplicates: Duplicates,
    rest: Rest,
}

/// A mapping whose id a stub has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Duplicates {
    #[default]
    Overwrite,
    Ignore,
}

/// The stubs that the list does not name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Rest {
    #[default]
    Keep,
    Remove,
}

pub(super) fn answer(admin: &Admin, request: &AdminRequest, _: &str) -> Result<Answer, AdminError> {
    let text = request.text();
    let refused = |problems: Problems| AdminError::refused(&problems);
    let (mappings, options) =
        read_import(&text, &admin.surroundings(), Options::read).map_err(refused)?;
    admin
        .stubs
        .change(|draft| import(draft, mappings, options))?;
    admin.endpoints.yield_to_stubs();
    Ok(AnswerBuilder::new(200, None).body(b""))
}

/// Later additions win, so the list goes in backwards.
fn import(
    draft: &mut Draft<'_>,
    mappings: Vec<StubMapping>,
    options: Options,
) -> Result<(), NotPlaced> {
    let mut named = HashSet::new();
    for mapping in mappings.into_iter().rev() {
        match mapping.id.filter(|id| draft.has(*id)) {
            Some(id) => {
                named.insert(id);
                if options.duplicates == Duplicates::Overwrite {
                    draft.replace(id, mapping)?;
                }
            }
            None => {
                named.insert(draft.add(mapping)?.id);
            }
        }
    }
    if options.rest == Rest::Remove {
        draft.retain(|stub| named.contains(&stub.id));
    }
    Ok(())
}

impl Options {
    fn read(node: &Node<'_>, problems: &mut Problems) -> Option<Self> {
        let mut object = node.object(problems)?;
        if object.get("mappings").is_none() {
            let message = "\"mappings\" is missing";
            problems.push(StubProblem::invalid("/mappings", message));
        }
        let options = object.get("importOptions");
        // The list is read, and its other properties are judged, with the mappings.
        let Some(options) = options else {
            return Some(Self::default());
        };
        let mut options = options.object(problems)?;
        let read = Self {
            duplicates: Duplicates::read(&mut options, problems)?,
            rest: Rest::read(&mut options, problems)?,
        };
        options.finish(&[], problems);
        Some(read)
    }
}

impl Duplicates {
    fn read(options: &mut Object<'_>, problems: &mut Problems) -> Option<Self> {
        // As in WireMock, options without a policy are not those that go without saying.
        let Some(policy) = options.get("duplicatePolicy") else {
            return Some(Self::Ignore);
        };
        match policy.value.as_str() {
            Some("OVERWRITE") => Some(Self::Overwrite),
            Some("IGNORE") => Some(Self::Ignore),
            _ => policy.wrong("\"OVERWRITE\" or \"IGNORE\"", problems),
        }
    }
}

impl Rest {
    fn read(options: &mut Object<'_>, problems: &mut Problems) -> Option<Self> {
        let Some(removed) = options.get("deleteAllNotInImport") else {
            return Some(Self::default());
        };
        Some(if removed.boolean(problems)? {
            Self::Remove
        } else {
            Self::Keep
        })
    }
}
