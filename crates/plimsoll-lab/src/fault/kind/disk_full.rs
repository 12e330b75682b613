//! `disk_full`: the disk of a component, which it has for itself, has no room.

use super::super::{Step, step};
use super::Kind;
use crate::topology::component::Topology;
use crate::topology::disk::ComponentDisk;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::task::spawn_blocking;

pub(super) struct DiskFull {
    component: String,
    /// Whether it was healed, or is about to be: an injection that is late does nothing then, and one at work is waited for.
    is_healed: Arc<Mutex<bool>>,
}

impl DiskFull {
    pub(super) fn new(component: String) -> Self {
        Self {
            component,
            is_healed: Arc::default(),
        }
    }

    fn disk(&self, topology: &Topology<'_>) -> Option<ComponentDisk> {
        let target = topology.target(&self.component)?;
        Some(ComponentDisk::of(
            target.main,
            &topology.directory_of(&self.component),
        ))
    }
}

impl Kind for DiskFull {
    fn inject(&mut self, topology: &mut Topology<'_>) -> Step {
        let disk = self.disk(topology);
        let full = "writing 4 KiB finds no space left";
        apart(disk, &self.is_healed, full, |disk, is_healed| {
            if *is_healed {
                return Err(io::Error::other("it was too late"));
            }
            disk.check()?;
            disk.fill()?;
            disk.prove()
        })
    }

    fn heal(&mut self, topology: &mut Topology<'_>) -> Step {
        let disk = self.disk(topology);
        let free = "4 KiB can be written";
        apart(disk, &self.is_healed, free, |disk, is_healed| {
            *is_healed = true;
            disk.heal()?;
            disk.prove_healed()
        })
    }
}

/// Works on the disk on a thread of its own, because it blocks; one after the other. Gives what is proved by then.
fn apart(
    disk: Option<ComponentDisk>,
    is_healed: &Arc<Mutex<bool>>,
    proof: &'static str,
    work: impl FnOnce(&ComponentDisk, &mut bool) -> io::Result<()> + Send + 'static,
) -> Step {
    let is_healed = Arc::clone(is_healed);
    step(async move {
        let disk = disk.ok_or("it does not run")?;
        let working = spawn_blocking(move || {
            let mut is_healed = is_healed.lock().unwrap_or_else(PoisonError::into_inner);
            work(&disk, &mut is_healed)
        });
        let done = working.await;
        let done = done.unwrap_or_else(|error| Err(io::Error::other(error)));
        done.map_err(|error| error.to_string())?;
        Ok(proof.to_owned())
    })
}
