//! Processor time that arms add.

use super::{arm, block, compared};
use plimsoll_report::metric::Metric;
use plimsoll_report::record::*;

/// An arm costs the processor time of its components over the exchanges that were answered; the generator's is not its.
#[test]
fn an_arm_adds_processor_time_per_exchange() {
    let used = |name: &str, components: &[(&str, f64)]| {
        arm(
            name,
            (0..6).map(|number| {
                let mut data = block(name, 1_000, 500);
                for (component, cores) in components {
                    let component = data.components.entry((*component).to_owned());
                    component.or_default().observe(&ComponentSample {
                        length_s: 1.0,
                        cpu_cores: Some(cores + f64::from(number % 2) * 1e-4),
                        ..ComponentSample::default()
                    });
                }
                data
            }),
        )
    };
    let base = used("base", &[(GENERATOR, 0.3), ("upstream", 0.02)]);
    let components = [(GENERATOR, 0.9), ("upstream", 0.021), ("proxy", 0.05)];
    let summary = compared(&[base, used("gateway", &components)]);
    let gateway = &summary.arms["gateway"];
    let added = gateway.added.as_ref().unwrap().cpu.unwrap();
    assert!((added.value - 51e-6).abs() < 1e-6, "{added:?}");
    assert_eq!(added.verdict, DifferenceVerdict::Worse);
    let proxy = gateway.components["proxy"].cpu_s_per_exchange.unwrap();
    assert!((proxy - 50e-6).abs() < 1e-6, "{proxy}");
    let reason = &summary.verdict.reasons[1];
    assert!(reason.contains(" of CPU per exchange ("), "{reason}");
    let reading = Metric::parse("added.cpu.low").unwrap().read(gateway);
    assert_eq!(reading.value, Some(added.low));

    // Nobody looked at the components of one arm.
    let unseen = used("base", &[(GENERATOR, 0.3)]);
    let summary = compared(&[unseen, used("gateway", &components)]);
    assert_eq!(summary.arms["gateway"].added.as_ref().unwrap().cpu, None);
}
