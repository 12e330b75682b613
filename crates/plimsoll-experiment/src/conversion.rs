//! From path to experiment: the file and what it names are read, and each part is converted while all problems are collected.

use std::path::{Path, PathBuf};

use plimsoll_base::digest::Digest;
use plimsoll_base::document::{Document, Problem, Problems};
use plimsoll_report::record::Input;

use super::component::{self, Generator};
use super::decoded::{self, Decoded};
use super::load::connections;
use super::loader::{Loader, unreadable};
use super::method::Method;
use super::surroundings::Surroundings;
use super::threshold::{self, Scope};
use super::wire::ExperimentWire;
use super::{Experiment, FILE_NAME, arm, fault, method, report, topology, trials};

/// Path that `--set` may change without making another experiment of it: how long a search may take says nothing of what it is for.
const BUDGET: &str = "method.capacity.budget";

/// The file itself, and what was set on top of it.
fn inputs(file: &str, text: &str, overrides: &[String]) -> Vec<Input> {
    let mut inputs = vec![Input {
        path: file.to_owned(),
        sha256: Digest::of(text.as_bytes()).to_hex(),
    }];
    for text in overrides {
        let (path, value) = text.split_once('=').unwrap_or((text, ""));
        if path != BUDGET {
            inputs.push(Input {
                path: format!("--set {path}"),
                sha256: Digest::of(value.as_bytes()).to_hex(),
            });
        }
    }
    inputs
}

pub(super) fn load(
    path: &Path,
    overrides: &[String],
    surroundings: &dyn Surroundings,
) -> Result<Experiment, Problems> {
    let file = if surroundings.is_directory(path) {
        path.join(FILE_NAME)
    } else {
        path.to_owned()
    };
    let shown = file.display().to_string();
    let bytes = surroundings
        .read(&file)
        .map_err(|error| Problem::of_file(&shown, unreadable(&error)))?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Problem::of_file(&shown, "the file is not UTF-8 text"))?;
    let document = Document::parse_yaml(&shown, &text)?;
    load_document(document, &text, &file, overrides, surroundings)
}

/// Loads a file that is parsed already.
pub(super) fn load_document(
    document: Document,
    text: &str,
    file: &Path,
    overrides: &[String],
    surroundings: &dyn Surroundings,
) -> Result<Experiment, Problems> {
    let shown = file.display().to_string();
    let Decoded {
        document,
        wire,
        mut problems,
        left_out,
    } = decoded::decode(document, overrides)?;
    let inputs = inputs(&shown, text, overrides);
    let mut loader = Loader::new(&document, directory_of(file), surroundings, inputs);
    let experiment = convert(&mut loader, wire, file.to_owned());
    let (found, further) = loader.into_problems();
    problems.count_further(further);
    problems.extend(
        found
            .into_iter()
            .filter(|problem| problem.file != shown || !left_out.explains(&problem.path)),
    );
    problems.or_ok(experiment)
}

fn directory_of(file: &Path) -> PathBuf {
    file.parent().map(Path::to_owned).unwrap_or_default()
}

fn convert(loader: &mut Loader<'_>, wire: ExperimentWire, file: PathBuf) -> Experiment {
    if let Some(message) = refuse_experiment_name(&wire.name) {
        loader.refuse("name", message);
    }
    let components = component::convert_all(loader, &wire.components);
    let names = wire.components.iter().map(|(name, _)| name.to_owned());
    let component_names: Vec<String> = names.collect();
    let generator = wire
        .generator
        .as_ref()
        .map_or_else(Generator::default, |wire| {
            component::generator(loader, wire)
        });
    let mut arms = arm::convert_all(loader, &wire, &components);
    let arm_names = arm::names(&wire);
    let network = topology::network::convert(loader, wire.network.as_ref(), &components);
    let order = topology::check(loader, &components, &component_names);
    let warmup = wire.load.warmup.map(|warmup| *warmup);
    let method = method::convert(loader, wire.method.as_ref(), &arm_names, warmup);
    arm::delayed::check(loader, &method, &arms);
    trials::prepare(loader, &method, &mut arms);
    let faults = fault::convert_all(
        loader,
        wire.faults.as_ref(),
        &fault::Scope {
            components: &components,
            arms: &arms,
            arm_names: &arm_names,
            method: &method,
            network: network.as_ref(),
        },
    );
    trials::check(loader, &method, (&faults, &arms, &components));
    if network.is_some() && matches!(method, Method::Sensitivity(_)) {
        loader.refuse_key(
            "network",
            "has no place for the proxies that delay links, which stand outside of it: remove it, or write another `method`",
        );
    }
    let scope = Scope {
        arms: &arms,
        arm_names: &arm_names,
        components: &components,
        method: &method,
    };
    let thresholds = threshold::convert_all(
        loader,
        wire.thresholds.as_deref().unwrap_or_default(),
        &scope,
    );
    trials::with_control(Experiment {
        name: wire.name,
        description: wire.description,
        directory: directory_of(&file),
        file,
        components,
        start_order: order.start,
        needs: order.needs,
        generator,
        arms,
        method,
        faults,
        thresholds,
        network,
        hosts: connections::hosts(loader, wire.hosts.as_ref()),
        ranges: report::ranges(loader, wire.report.as_ref()),
        inputs: loader.inputs(),
        secrets: loader.secrets(),
    })
}

/// The name goes into the run directory's.
fn refuse_experiment_name(name: &str) -> Option<String> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let fits = (1..=64).contains(&name.len())
        && name.chars().all(allowed)
        && !name.starts_with(['.', '-']);
    (!fits).then(|| {
        format!(
            "`{name}` cannot name an experiment: write 1 to 64 letters, digits, `-`, `_` and `.`"
        )
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::memory::{Memory, with_load};
    use super::{Digest, inputs};

    #[test]
    fn what_is_set_is_an_input_but_for_a_budget() {
        let inputs = inputs(
            "e.yaml",
            "version: 1",
            &[
                "load.rate=5/s".to_owned(),
                "method.capacity.budget=9m".to_owned(),
            ],
        );
        let paths: Vec<&str> = inputs.iter().map(|input| input.path.as_str()).collect();
        assert_eq!(paths, ["e.yaml", "--set load.rate"]);
        assert_eq!(inputs[1].sha256, Digest::of(b"5/s").to_hex());
    }

    #[test]
    fn a_file_has_as_many_steps_as_its_length_allows() {
        let load = |step: &str, count: usize| {
            let steps = step.repeat(count);
            let text = format!(
                "version: 1\nname: x\ncomponents: {{ upstream: {{ mock: {{}} }} }}\nload: {{ rate: 1/s, duration: 1s }}\nscenario:\n{steps}"
            );
            Memory::new(&text, &[]).load(&[])
        };
        let step = "  - get: /a/path\n    headers: { Accept: application/json, X-Id: \"7\" }\n    check: { status: [200, 204], body: { contains: ok } }\n";
        assert!(load(step, 1_500).is_ok());
        let refused = load("  - {}\n", 10_000).unwrap_err().to_string();
        assert!(
            refused.contains("more than 3318 entries such as steps"),
            "{refused}"
        );
    }

    #[test]
    fn overrides_are_part_of_the_file() {
        let file = with_load("{ rate: 1/s, duration: 1s }", "");
        let experiment = file
            .load(&["load.rate=5/s", "name=y", "arms={ a: {}, b: {} }"])
            .unwrap();
        assert_eq!((experiment.name.as_str(), experiment.arms.len()), ("y", 2));
    }

    #[test]
    fn problems_with_overrides_name_the_override() {
        let file = with_load("{ rate: 1/s, duration: 1s }", "");
        let refused = |overrides: &[&str]| file.load(overrides).unwrap_err().to_string();
        insta::assert_snapshot!(refused(&["load.rate", "load.rate.x=1"]), @r"
        --set load.rate: has no `=`: write `path=value`, for instance `load.rate=100/s`
        --set load.rate.x=1: `load.rate` is not a mapping, so it has no `x`
        ");
        insta::assert_snapshot!(refused(&["load.rate=5", "load.target=nowhere", "load.quue=1"]), @r"
        --set load.quue=1: load.quue: unknown key `quue`: did you mean `queue`?
        --set load.rate=5: load.rate: `5` has no unit: write `5000/s`, `90/min` or `10/h`
        --set load.target=nowhere: load.target: there is no component `nowhere`: write `upstream`
        ");
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let missing = super::super::Experiment::load(
            std::path::Path::new("f.yaml"),
            &[],
            &with_load("{}", ""),
        )
        .unwrap_err();
        insta::assert_snapshot!(missing, @"f.yaml: there is no such file");
    }

    const LINES: [&str; 16] = [
        "version: 1",
        "name: x",
        "components:",
        "  a: { mock: {} }",
        "  b: { command: [b, \"${a.url}\", \"${b.port}\"] }",
        "  a: { external: \"http://[::1]:8\", cpus: [0] }",
        "scenario:",
        "  - { get: /, check: { status: 200 } }",
        "  - { post: \"${\", body: x, pause: 1s }",
        "load: { rate: 1/s, duration: 1s, target: a }",
        "load: { users: 0, duration: 0, target: b/x }",
        "arms:",
        "  c: { load: { ramp: { from: 1/s, to: 2/s } } }",
        "method: { compare: { baseline: c, blocks: 2 } }",
        "thresholds:",
        "  - { metric: added.p99, below: 1ms }",
    ];

    proptest! {
        #[test]
        fn no_file_makes_loading_panic(
            lines in prop::collection::vec(prop::sample::select(LINES.to_vec()), 0..16),
            noise in "\\PC{0,20}",
        ) {
            let text = lines.join("\n") + &noise;
            drop(Memory::new(&text, &[]).load(&[]));
        }

        #[test]
        fn any_subset_of_lines_loads_or_is_refused(kept in prop::collection::vec(any::<bool>(), LINES.len())) {
            let lines: Vec<&str> = LINES.iter().zip(kept).filter(|(_, keep)| *keep).map(|(line, _)| *line).collect();
            if let Err(problems) = Memory::new(&lines.join("\n"), &[]).load(&[]) {
                prop_assert!(!problems.is_empty());
            }
        }
    }
}
