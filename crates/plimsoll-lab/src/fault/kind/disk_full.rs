//! `disk_full`: the disk of a component, which it has for itself, has no room.

use super::super::{Step, step};
use super::Kind;
use crate::topology::component::Topology;
use crate::topology::disk::ComponentDisk;

pub(super) struct DiskFull {
    component: String,
}

impl DiskFull {
    pub(super) fn new(component: String) -> Self {
        Self { component }
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
        step(async move {
            let disk = disk.ok_or("it does not run")?;
            disk.check().map_err(|error| error.to_string())?;
            disk.fill().map_err(|error| error.to_string())?;
            disk.prove().map_err(|error| error.to_string())?;
            Ok("writing 4 KiB finds no space left".to_owned())
        })
    }

    fn heal(&mut self, topology: &mut Topology<'_>) -> Step {
        let disk = self.disk(topology);
        step(async move {
            let disk = disk.ok_or("it does not run")?;
            disk.heal().map_err(|error| error.to_string())?;
            disk.prove_healed().map_err(|error| error.to_string())?;
            Ok("4 KiB can be written".to_owned())
        })
    }
}
