//! The plan of a load, and what the record says of it beforehand: its model, its mean rate, its number of iterations.

use super::LoadSpec;
use super::target::target;
use crate::error::LabError;
use crate::progress::Numbered;
use crate::record::recorder::Recorder;
use crate::topology::component::Topology;
use plimsoll_load::arrivals::expected;
use plimsoll_load::plan::{Load, Plan};
use plimsoll_report::record::LoadModel;

pub(super) async fn plan(
    spec: LoadSpec<'_>,
    topology: &mut Topology<'_>,
    recorder: &mut Recorder<'_>,
) -> Result<Plan, LabError> {
    let target = target(spec, topology, recorder).await?;
    let (values, addresses) = topology.values();
    let mut plan = spec.arm.plan(
        spec.seed,
        spec.experiment.generator.shards,
        target,
        |reference| values.lookup(reference, None, addresses),
    )?;
    if plan
        .connections
        .resolve
        .as_ref()
        .is_some_and(|name| spec.experiment.hosts.contains_key(&name.host))
    {
        plan.connections.resolve = None;
    }
    plan.singly = spec.trial.is_some();
    plan.check()
        .map_err(|problems| LabError::Input(format!("arm `{}`: {problems}", spec.arm.name)))?;
    Ok(plan)
}

/// The model of the whole plan, and its mean rate over the measured time; none where users of the closed model make their own arrivals.
pub(super) fn offered(plan: &Plan) -> (LoadModel, Option<f64>) {
    let mut arrivals = 0.0;
    for scenario in &plan.scenarios {
        let Load::Open { profile, .. } = &scenario.load else {
            return (LoadModel::Closed, None);
        };
        arrivals += expected(profile, plan.total()) - expected(profile, plan.warmup);
    }
    let seconds = plan.duration.as_secs_f64();
    (LoadModel::Open, Some(arrivals / seconds))
}

/// How many iterations there will be, if it is these that end the load: where each scenario has a number of them.
pub(super) fn numbered(plan: &Plan) -> Option<Numbered> {
    let numbers = plan.scenarios.iter().map(|scenario| scenario.iterations);
    let of = numbers.sum::<Option<u64>>()?;
    Some(Numbered { started: 0, of })
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_load::plan::{Connections, Data, Pacing, Profile, Scenario, Step, Target};
    use std::time::Duration;

    pub(super) fn plan(profile: Profile) -> Plan {
        let open = Load::open(vec![profile.lasting(Duration::from_secs(8))], 1, 1);
        Plan {
            seed: 1,
            shards: 1,
            target: Target {
                authority: "a".into(),
                addresses: vec!["127.0.0.1:80".parse().unwrap()],
            },
            steps: vec![Step {
                name: "a".into(),
                method: "GET".into(),
                path: "/".into(),
                ..Step::default()
            }],
            scenarios: vec![Scenario::of_steps("main", open, 1)],
            data: Data::default(),
            warmup: Duration::from_secs(2),
            duration: Duration::from_secs(6),
            connections: Connections::default(),
            pacing: Pacing::Precise,
            timeout: Duration::from_secs(1),
            singly: false,
        }
    }

    #[test]
    fn the_offered_rate_is_the_mean_of_the_measured_part() {
        let check = |profile: Profile, expected: f64| {
            let plan = plan(profile);
            let (model, mean) = offered(&plan);
            assert_eq!(model, LoadModel::Open);
            let mean = mean.unwrap();
            assert!(
                (mean - expected).abs() < 1e-9,
                "{:?}: {mean}",
                plan.scenarios
            );
        };
        check(Profile::Constant { rate: 10.0 }, 10.0);
        check(
            Profile::Ramp {
                from: 0.0,
                to: 80.0,
            },
            50.0,
        );
        let every = Duration::from_secs(4);
        check(
            Profile::Staircase {
                from: 10.0,
                step: 30.0,
                every,
            },
            // 2 s at 10, 4 s at 40.
            30.0,
        );
    }
}
