//! What components refer to: that it exists, in which order they can start, and that no two claim one port.

use std::collections::HashMap;

use plimsoll_base::document::{Path as Pointer, suggestion};

use super::component::{Component, ComponentKind, Listen};
use super::loader::{Loader, Use};
use super::template::Reference;

/// Checks every reference and port; gives the order in which components start, as indices.
pub(super) fn check(
    loader: &mut Loader<'_>,
    components: &[Component],
    names: &[String],
) -> Vec<usize> {
    let uses = loader.uses().to_vec();
    for used in &uses {
        if let Err(message) = check_use(components, names, used) {
            loader.refuse_at(&used.place, message);
        }
    }
    check_ports(loader, components);
    start_order(loader, components, &uses)
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
        Reference::Environment(_)
        | Reference::File(_)
        | Reference::Secret(_)
        | Reference::SecretHash(_) => Ok(()),
    }
}

fn no_self(reference: &Reference) -> String {
    format!(
        "`{reference}` exists only in `command` components: write the name of a component, for instance `${{upstream.url}}`"
    )
}

/// Fixed ports, each with its component and the place where it is written.
fn fixed_ports(components: &[Component]) -> Vec<(u16, &str, Pointer)> {
    let root = Pointer::root().key("components");
    let mut ports = Vec::new();
    for component in components {
        let at = root.key(&component.name);
        match &component.kind {
            ComponentKind::Mock(mock) => {
                ports.extend(
                    mock.port
                        .map(|port| (port, component.name.as_str(), at.key("mock").key("port"))),
                );
            }
            ComponentKind::Command(command) => {
                for listener in &command.listeners {
                    if let Listen::Fixed(port) = listener.port {
                        ports.push((
                            port,
                            component.name.as_str(),
                            at.key("listeners").key(&listener.name),
                        ));
                    }
                }
            }
            ComponentKind::External(external) if external.is_local() => {
                ports.push((external.port, component.name.as_str(), at.key("external")));
            }
            ComponentKind::Gateway(_) | ComponentKind::External(_) => {}
        }
    }
    ports
}

fn check_ports(loader: &mut Loader<'_>, components: &[Component]) {
    let is_external = |name: &str| {
        components.iter().any(|component| {
            component.name == name && matches!(component.kind, ComponentKind::External(_))
        })
    };
    let mut first: HashMap<u16, &str> = HashMap::new();
    for (port, name, at) in fixed_ports(components) {
        match first.get(&port) {
            // One server under two names is no conflict.
            Some(earlier) if is_external(earlier) && is_external(name) => {}
            Some(earlier) => loader.refuse(&at, format!("port {port} belongs to `{earlier}` already: write another one, or let it be free")),
            None => {
                first.insert(port, name);
            }
        }
    }
}

/// Components so that each comes after those that it refers to, else in the order of the file.
fn start_order(loader: &mut Loader<'_>, components: &[Component], uses: &[Use]) -> Vec<usize> {
    let index = |name: &String| {
        components
            .iter()
            .position(|component| component.name == *name)
    };
    let mut needs = vec![Vec::new(); components.len()];
    for used in uses {
        if let (Some(owner), Reference::Component { component, .. }) =
            (&used.component, &used.reference)
            && let (Some(owner_index), Some(needed)) = (index(owner), index(component))
            && owner_index != needed
        {
            needs[owner_index].push((needed, used));
        }
    }
    let mut order: Vec<usize> = Vec::new();
    while let Some(next) = (0..components.len()).find(|index| {
        !order.contains(index)
            && needs[*index]
                .iter()
                .all(|(needed, _)| order.contains(needed))
    }) {
        order.push(next);
    }
    if order.len() < components.len() {
        refuse_cycle(loader, components, &needs, &order);
    }
    order
}

/// Follows references from the first component that cannot start, until one comes round again.
fn refuse_cycle(
    loader: &mut Loader<'_>,
    components: &[Component],
    needs: &[Vec<(usize, &Use)>],
    started: &[usize],
) {
    let mut walk: Vec<(usize, &Use)> = Vec::new();
    let mut current = (0..components.len()).find(|index| !started.contains(index));
    while let Some(index) = current {
        if let Some(start) = walk.iter().position(|(seen, _)| *seen == index) {
            let names: Vec<String> = walk[start..]
                .iter()
                .map(|(index, _)| *index)
                .chain([index])
                .map(|index| format!("`{}`", components[index].name))
                .collect();
            let message = format!(
                "components refer to each other in a circle ({}), so none can start first: remove one of the references",
                names.join(" → ")
            );
            loader.refuse_at(&walk[start].1.place, message);
            return;
        }
        current = needs[index]
            .iter()
            .find(|(needed, _)| !started.contains(needed))
            .map(|(needed, used)| {
                walk.push((index, used));
                *needed
            });
    }
}

#[cfg(test)]
mod tests {
    use super::super::memory::Memory;

    #[test]
    fn what_a_component_refers_to_starts_before_it() {
        let text = "
version: 1
name: x
components:
  front: { gateway: { config: front.yaml } }
  middle: { command: [nginx], render: [nginx.conf.in], env: { EXTERNAL: \"${there.url}\" } }
  alone: { mock: {} }
  upstream: { mock: {} }
  there: { external: \"http://localhost:81\" }
scenario: [{ get: / }]
load: { rate: 1/s, duration: 1s, target: front }
";
        let files = [
            (
                "e/front.yaml",
                "endpoints: [\"${middle.url}\"] # ${self.dir}",
            ),
            (
                "e/nginx.conf.in",
                "listen ${self.port};\nproxy_pass ${upstream.url}$uri;",
            ),
        ];
        let experiment = Memory::new(text, &files).load(&[]).unwrap();
        let order: Vec<&str> = experiment
            .in_start_order()
            .map(|component| component.name.as_str())
            .collect();
        assert_eq!(order, ["alone", "upstream", "there", "middle", "front"]);
        let inputs: Vec<&str> = experiment
            .inputs
            .iter()
            .map(|input| input.path.as_str())
            .collect();
        assert_eq!(
            inputs,
            ["e/experiment.yaml", "e/front.yaml", "e/nginx.conf.in"]
        );
    }
}
