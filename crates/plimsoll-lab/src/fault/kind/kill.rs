//! `kill`: all processes of a component, at once; then it is started anew.

use super::super::{Outcome, Step, step};
use super::Kind;
use crate::topology::child::Child;
use crate::topology::component::{Address, Target, Topology};
use std::io;
use std::time::Duration;
use tokio::time::timeout;

/// How long a killed component may take to be gone.
const GONE_WITHIN: Duration = Duration::from_secs(10);
/// How long a connection to where nobody listens may take to be refused.
const REFUSED_WITHIN: Duration = Duration::from_secs(1);

pub(super) struct Kill {
    component: String,
}

impl Kill {
    pub(super) fn new(component: String) -> Self {
        Self { component }
    }
}

impl Kind for Kill {
    fn inject(&mut self, topology: &mut Topology<'_>) -> Step {
        let name = self.component.clone();
        let target = topology.target(&name);
        let taken = topology.take_down(&name);
        step(async move {
            let (Some(target), Some(mut child)) = (target, taken) else {
                return Err(format!("`{name}` does not run"));
            };
            end(&target, &mut child).await?;
            gone(&target).await
        })
    }

    fn restart_within(&self, topology: &Topology<'_>) -> Duration {
        topology.ready_within(&self.component)
    }

    fn heal(&mut self, topology: &mut Topology<'_>) -> Step {
        restart(topology, &self.component)
    }
}

/// Kills a component, and waits until it has ended.
pub(super) async fn end(target: &Target, child: &mut Child) -> Result<(), String> {
    let killed = target.kill();
    killed.map_err(|error| format!("it cannot be killed: {error}"))?;
    let ended = timeout(GONE_WITHIN, child.ended()).await;
    ended.map(drop).map_err(|_| "it still runs".to_owned())
}

/// Proves that nothing is left of a component.
async fn gone(target: &Target) -> Result<String, String> {
    let left = target.processes().len();
    if left > 0 {
        return Err(format!("{left} of its processes still run"));
    }
    for address in &target.addresses {
        refuses(target, address).await?;
    }
    let refusing: Vec<String> = target.addresses.iter().map(Address::to_string).collect();
    Ok(format!(
        "no process is left, and {} refuses connections",
        refusing.join(", ")
    ))
}

async fn refuses(target: &Target, address: &Address) -> Result<(), String> {
    match timeout(
        REFUSED_WITHIN,
        target.way.connect(&address.host, address.port),
    )
    .await
    {
        Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(()),
        Ok(Err(error)) => Err(format!("{address} is not refused: {error}")),
        Ok(Ok(_)) => Err(format!("somebody listens at {address}")),
        Err(_) => Err(format!("{address} does not refuse connections")),
    }
}

/// Starts a component anew that has ended.
pub(super) fn restart(topology: &mut Topology<'_>, name: &str) -> Step {
    let name = name.to_owned();
    let starting = topology.begin(&name);
    Box::pin(async move {
        let started = match starting {
            Ok(starting) => starting.await,
            Err(error) => Err(error),
        };
        match started {
            Ok(started) => Outcome {
                proof: Ok("it was started anew and is ready".to_owned()),
                started: vec![(name, started)],
            },
            Err(error) => Err(format!("it was started anew, and: {error}")).into(),
        }
    })
}
