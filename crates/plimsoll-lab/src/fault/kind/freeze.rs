//! `freeze`: a component gets no processor time. The system goes on in its name: it accepts connections and acknowledges bytes.

use super::super::{Step, step};
use super::Kind;
use crate::topology::component::{Target, Topology};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long the system may take to stop all of it.
const STOPPED_WITHIN: Duration = Duration::from_secs(2);
/// For how long it must then use no processor time.
const LOOKED_AT: Duration = Duration::from_millis(20);
const AGAIN_AFTER: Duration = Duration::from_millis(2);

pub(super) struct Freeze {
    component: String,
}

impl Freeze {
    pub(super) fn new(component: String) -> Self {
        Self { component }
    }
}

impl Kind for Freeze {
    fn inject(&mut self, topology: &mut Topology<'_>) -> Step {
        let target = topology.target(&self.component);
        step(async move {
            let target = target.ok_or("it does not run")?;
            target
                .freeze(true)
                .map_err(|error| format!("it cannot be stopped: {error}"))?;
            until(&target, true).await?;
            let before = target.processor_ns();
            sleep(LOOKED_AT).await;
            if target.processor_ns() != before || !target.is_frozen() {
                return Err("it still uses processor time".to_owned());
            }
            Ok(format!(
                "{} processes stand still, and used no processor time in {} ms",
                target.processes().len(),
                LOOKED_AT.as_millis()
            ))
        })
    }

    fn heal(&mut self, topology: &mut Topology<'_>) -> Step {
        let target = topology.target(&self.component);
        step(async move {
            let target = target.ok_or("it does not run")?;
            target
                .freeze(false)
                .map_err(|error| format!("it cannot go on: {error}"))?;
            until(&target, false).await?;
            target.ready().await?;
            Ok("it goes on, and answers".to_owned())
        })
    }
}

async fn until(target: &Target, frozen: bool) -> Result<(), String> {
    let deadline = Instant::now() + STOPPED_WITHIN;
    while target.is_frozen() != frozen {
        if Instant::now() > deadline {
            let said = if frozen {
                "some of it still runs"
            } else {
                "some of it still stands still"
            };
            return Err(said.to_owned());
        }
        sleep(AGAIN_AFTER).await;
    }
    Ok(())
}
