//! The target of control loads.

use crate::Experiment;
use crate::component::{CONTROL, Component, ComponentKind, Mock, Placement};
use crate::method::Method;
use crate::topology::{CLIENT, Network};

/// Trials have a control load, which needs a target of its own.
pub(crate) fn with_control(mut experiment: Experiment) -> Experiment {
    if matches!(experiment.method, Method::Availability(_)) {
        experiment.start_order.push(experiment.components.len());
        experiment.needs.push(Vec::new());
        let control = control(experiment.network.as_ref());
        experiment.components.push(control);
    }
    experiment
}

/// The target of the control load.
fn control(network: Option<&Network>) -> Component {
    Component {
        name: CONTROL.to_owned(),
        kind: ComponentKind::Mock(Mock {
            shards: Some(1),
            ..Mock::default()
        }),
        placement: Placement {
            host: network.map(|_| CLIENT.to_owned()),
            ..Placement::default()
        },
    }
}
