//! Arms that cannot run here, because an optional program is not on this host: they are left out, and said to be.

use crate::error::LabError;
use plimsoll_experiment::{Command, ComponentKind, Experiment, Method, Surroundings};
use plimsoll_report::record::AbsentArm;
use std::path::{Path, PathBuf};

/// The experiment without arms that lead to optional programs which are not there, and what was left out.
///
/// # Errors
/// [`LabError::Environment`] when nothing is left to run, or a comparison loses its baseline.
pub fn leave_out(
    experiment: &Experiment,
    surroundings: &dyn Surroundings,
) -> Result<(Experiment, Vec<AbsentArm>), LabError> {
    let path = surroundings.variable("PATH").unwrap_or_default();
    let missing: Vec<(String, String)> = experiment
        .components
        .iter()
        .filter_map(|component| match &component.kind {
            ComponentKind::Command(command) if command.optional => {
                let program = missing(command, &experiment.directory, &path)?;
                Some((component.name.clone(), program))
            }
            _ => None,
        })
        .collect();
    let names: Vec<String> = missing.iter().map(|(name, _)| name.clone()).collect();
    let (remaining, left_out) = experiment.without(&names);
    let why = |component: &String| {
        let program = missing.iter().find(|(name, _)| name == component);
        let program = program.map_or("", |(_, program)| program);
        format!("its program `{program}` is not on this host")
    };
    let absent: Vec<AbsentArm> = left_out
        .into_iter()
        .map(|(arm, component)| AbsentArm {
            reason: why(&component),
            arm,
            component,
        })
        .collect();
    let is_baseline = |absent: &AbsentArm| match &experiment.method {
        Method::Compare { baseline, .. } => *baseline == absent.arm,
        Method::Measure
        | Method::Levels(_)
        | Method::Capacity(_)
        | Method::Sensitivity(_)
        | Method::Availability(_) => false,
    };
    let fatal = absent
        .iter()
        .find(|absent| remaining.arms.is_empty() || is_baseline(absent));
    match fatal {
        Some(absent) => Err(LabError::Environment(format!(
            "arm `{}` cannot run, and nothing is left without it: component `{}`: {}",
            absent.arm, absent.component, absent.reason
        ))),
        None => Ok((remaining, absent)),
    }
}

/// The program of a command, if it is not there. A name is looked up in `path`; one that is only known once components run is there.
fn missing(command: &Command, directory: &Path, path: &str) -> Option<String> {
    let first = command.arguments.first()?;
    if !first.references().is_empty() {
        return None;
    }
    let program = first.source();
    let candidates: Vec<PathBuf> = if program.contains('/') {
        vec![directory.join(&program)]
    } else {
        std::env::split_paths(path)
            .map(|dir| dir.join(&program))
            .collect()
    };
    let is_there = candidates.iter().any(|candidate| candidate.is_file());
    (!is_there).then_some(program)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_experiment::memory::Memory;

    const FILE: &str = "
version: 1
name: x
components:
  upstream: { mock: {} }
  there: { command: [/bin/sh], optional: true }
  proxy: { command: [no-such-program-anywhere], optional: true }
  front: { command: [front, \"${proxy.url}\"] }
scenario: [{ get: / }]
load: { rate: 1/s, duration: 1s }
arms:
  direct: { target: upstream }
  there: { target: there }
  proxied: { target: proxy }
  twice: { target: front }
";

    #[test]
    fn arms_that_lead_to_an_absent_program_are_left_out() {
        let memory = Memory::new(FILE, &[]);
        let experiment = memory.load(&[]).unwrap();
        let (remaining, absent) = leave_out(&experiment, &memory).unwrap();
        let arms: Vec<&str> = remaining.arms.iter().map(|arm| arm.name.as_str()).collect();
        assert_eq!(arms, ["direct", "there"]);
        let started: Vec<&str> = remaining
            .in_start_order()
            .map(|component| component.name.as_str())
            .collect();
        assert_eq!(started, ["upstream", "there"]);
        let said: Vec<String> = absent
            .iter()
            .map(|absent| format!("{}: {}: {}", absent.arm, absent.component, absent.reason))
            .collect();
        assert_eq!(
            said,
            [
                "proxied: proxy: its program `no-such-program-anywhere` is not on this host",
                "twice: proxy: its program `no-such-program-anywhere` is not on this host",
            ]
        );
    }

    #[test]
    fn where_nothing_is_left_the_run_ends() {
        let text = FILE.replace("{ target: upstream }", "{ target: proxy }");
        let text = text.replace("{ target: there }", "{ target: proxy }");
        let memory = Memory::new(&text, &[]);
        let error = leave_out(&memory.load(&[]).unwrap(), &memory).unwrap_err();
        assert_eq!(
            error.to_string(),
            "arm `direct` cannot run, and nothing is left without it: component `proxy`: its program `no-such-program-anywhere` is not on this host"
        );
    }
}
