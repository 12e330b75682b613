//! References between components: that their targets exist, in which order they can start, and that no two claim one port. The hosts on which
//! they run.

pub(crate) mod link;
pub(super) mod network;
mod ports;
mod start_order;

use plimsoll_base::document::suggestion;

use super::component::{Component, ComponentKind, Scheme};
use super::loader::{Loader, Use};
use super::template::{Field, Reference};

pub use link::Link;
pub use network::{CLIENT, Network};
pub(super) use start_order::Order;

/// Checks every reference and port; gives the order in which components start.
pub(super) fn check(loader: &mut Loader<'_>, components: &[Component], names: &[String]) -> Order {
    let uses = loader.uses().to_vec();
    for used in &uses {
        if let Err(message) = check_use(components, names, used) {
            loader.refuse_at(&used.place, message);
        }
    }
    ports::check(loader, components);
    start_order::find(loader, components, &uses)
}

/// Whether `component/listener` exists. `names` are all components of the file, also those that were refused.
pub(super) fn check_listener(
    components: &[Component],
    names: &[String],
    component: &str,
    listener: Option<&str>,
) -> Result<(), String> {
    if !names.iter().any(|name| name == component) {
        return Err(format!(
            "there is no component `{component}`: {}",
            suggestion(component, names)
        ));
    }
    let found = components
        .iter()
        .find(|candidate| candidate.name == component);
    let listeners = found.and_then(|component| component.kind.listeners());
    match (listener, listeners) {
        (Some(listener), Some(known)) if !known.contains(&listener) => {
            let known: Vec<String> = known.into_iter().map(str::to_owned).collect();
            Err(format!(
                "`{component}` has no listener `{listener}`: {}",
                suggestion(listener, &known)
            ))
        }
        _ => Ok(()),
    }
}

fn check_use(components: &[Component], names: &[String], used: &Use) -> Result<(), String> {
    let owner = used
        .component
        .as_ref()
        .and_then(|name| components.iter().find(|candidate| candidate.name == *name));
    match &used.reference {
        Reference::Component { component, .. } if used.component.as_ref() == Some(component) => {
            Err(format!(
                "`{}` refers to its own component: write `self`, for instance `${{self.port}}`",
                used.reference
            ))
        }
        Reference::Component {
            component,
            field: Field::Url,
            ..
        } if is_without_scheme(components, component) => Err(format!(
            "`{component}` is at a `tcp://` address, which no load understands: write `${{{component}.host}}` and `${{{component}.port}}`"
        )),
        Reference::Component {
            component,
            listener,
            ..
        } => check_listener(components, names, component, listener.as_deref()),
        Reference::Own { listener, .. } => match owner.map(|owner| &owner.kind) {
            Some(ComponentKind::Command(command)) => {
                let known: Vec<String> = command
                    .listeners
                    .iter()
                    .map(|listener| listener.name.clone())
                    .collect();
                match listener {
                    Some(listener) if !known.contains(listener) => Err(format!(
                        "it has no listener `{listener}`: {}",
                        suggestion(listener, &known)
                    )),
                    _ => Ok(()),
                }
            }
            _ => Err(no_self(&used.reference)),
        },
        Reference::OwnDirectory => match owner.map(|owner| &owner.kind) {
            Some(ComponentKind::Command(_) | ComponentKind::Gateway(_)) => Ok(()),
            _ => Err(no_self(&used.reference)),
        },
        Reference::ExperimentDirectory
        | Reference::Environment(_)
        | Reference::File(_)
        | Reference::Secret(_)
        | Reference::SecretHash(_) => Ok(()),
    }
}

/// Whether a component speaks something else than HTTP.
fn is_without_scheme(components: &[Component], name: &str) -> bool {
    let found = components.iter().find(|candidate| candidate.name == name);
    found.is_some_and(|component| {
        matches!(&component.kind, ComponentKind::External(external) if external.scheme == Scheme::Tcp)
    })
}

fn no_self(reference: &Reference) -> String {
    format!(
        "`{reference}` is not known here: write the name of a component, for instance `${{upstream.url}}`"
    )
}
