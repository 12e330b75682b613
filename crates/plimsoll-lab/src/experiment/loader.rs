//! From path to experiment: reading files, and converting each part while all problems are collected.

use std::io;
use std::path::{Path, PathBuf};

use plimsoll_base::document::{Document, MOST_PROBLEMS, Path as Pointer, Problem, Problems};
use plimsoll_report::record::Input;

use super::component::{self, Generator};
use super::decoded::{self, Decoded};
use super::secret::sha256_hex;
use super::surroundings::{MAX_FILE_BYTES, Surroundings};
use super::template::{Reference, Template, Values};
use super::threshold::{self, Scope};
use super::wire::ExperimentWire;
use super::{Experiment, FILE_NAME, arm, connections, method, report, topology};

/// What `--set` may change without making another experiment of it: how long a search may take says nothing of what it is for.
const BUDGET: &str = "method.capacity.budget";

/// The file itself, and what was set on top of it.
fn inputs(file: &str, text: &str, overrides: &[String]) -> Vec<Input> {
    let mut inputs = vec![Input {
        path: file.to_owned(),
        sha256: sha256_hex(text.as_bytes()),
    }];
    for text in overrides {
        let (path, value) = text.split_once('=').unwrap_or((text, ""));
        if path != BUDGET {
            inputs.push(Input {
                path: format!("--set {path}"),
                sha256: sha256_hex(value.as_bytes()),
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

/// The same of a file that is parsed already.
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
    let mut loader = Loader {
        document: &document,
        directory: file.parent().map(Path::to_owned).unwrap_or_default(),
        surroundings,
        problems: Vec::new(),
        further: 0,
        uses: Vec::new(),
        inputs: inputs(&shown, text, overrides),
    };
    let experiment = loader.convert(wire, file.to_owned());
    problems.count_further(loader.further);
    problems.extend(
        loader
            .problems
            .into_iter()
            .filter(|problem| problem.file != shown || !left_out.explains(&problem.path)),
    );
    problems.or_ok(experiment)
}

/// What the conversion of every part shares: the document to locate problems in, and what was found on the way.
pub(super) struct Loader<'a> {
    document: &'a Document,
    directory: PathBuf,
    surroundings: &'a dyn Surroundings,
    problems: Vec<Problem>,
    /// How many there are beyond [`MOST_PROBLEMS`]: each is looked for from the top of the document.
    further: usize,
    uses: Vec<Use>,
    inputs: Vec<Input>,
}

/// One substitution, who makes it, and where it is written.
#[derive(Debug, Clone)]
pub(super) struct Use {
    /// The component in whose text it stands; `None` in arms and scenario.
    pub component: Option<String>,
    pub reference: Reference,
    /// A problem there, without its message.
    pub place: Problem,
}

impl Loader<'_> {
    fn convert(&mut self, wire: ExperimentWire, file: PathBuf) -> Experiment {
        if let Some(message) = refuse_experiment_name(&wire.name) {
            self.refuse("name", message);
        }
        let components = component::convert_all(self, &wire.components);
        let component_names: Vec<String> = wire
            .components
            .iter()
            .map(|(name, _)| name.to_owned())
            .collect();
        let generator = wire
            .generator
            .as_ref()
            .map_or_else(Generator::default, |wire| component::generator(self, wire));
        let arms = arm::convert_all(self, &wire, &components);
        let arm_names = arm::names(&wire);
        let order = topology::check(self, &components, &component_names);
        let warmup = wire.load.warmup.map(|warmup| *warmup);
        let method = method::convert(self, wire.method.as_ref(), &arm_names, warmup);
        let scope = Scope {
            arms: &arms,
            arm_names: &arm_names,
            components: &components,
            method: &method,
        };
        let thresholds =
            threshold::convert_all(self, wire.thresholds.as_deref().unwrap_or_default(), &scope);
        Experiment {
            name: wire.name,
            description: wire.description,
            file,
            directory: self.directory.clone(),
            components,
            start_order: order.start,
            needs: order.needs,
            generator,
            arms,
            method,
            thresholds,
            hosts: connections::hosts(self, wire.hosts.as_ref()),
            ranges: report::ranges(self, wire.report.as_ref()),
            inputs: std::mem::take(&mut self.inputs),
            secrets: self.secrets(),
        }
    }

    /// Notes a problem with the value at `at`.
    pub(super) fn refuse(&mut self, at: impl Into<Pointer>, message: impl Into<String>) {
        if self.has_room() {
            let problem = self.document.problem(at, message);
            self.problems.push(problem);
        }
    }

    /// Notes a problem with the key at `at`: that it should not be there.
    pub(super) fn refuse_key(&mut self, at: impl Into<Pointer>, message: impl Into<String>) {
        if self.has_room() {
            let problem = self.document.key_problem(at, message);
            self.problems.push(problem);
        }
    }

    /// Notes a problem at a place that is not in the experiment file.
    pub(super) fn refuse_at(&mut self, place: &Problem, message: impl Into<String>) {
        if self.has_room() {
            self.problems.push(Problem {
                message: message.into(),
                ..place.clone()
            });
        }
    }

    /// Whether a problem is listed; it is counted otherwise.
    fn has_room(&mut self) -> bool {
        let has_room = self.problems.len() < MOST_PROBLEMS;
        self.further += usize::from(!has_room);
        has_room
    }

    /// Whether the file has something at `at`.
    pub(super) fn is_written(&self, at: &Pointer) -> bool {
        self.document.contains(at)
    }

    /// How many problems there are so far.
    pub(super) fn problem_count(&self) -> usize {
        self.problems.len() + self.further
    }

    /// Substitutions noted so far.
    pub(super) fn uses(&self) -> &[Use] {
        &self.uses
    }

    /// What was noted that may not be shown, each once.
    fn secrets(&self) -> Vec<Reference> {
        let references = self.uses.iter().map(|used| &used.reference);
        let mut secrets: Vec<Reference> = Vec::new();
        for reference in references.filter(|reference| reference.is_secret()) {
            if !secrets.contains(reference) {
                secrets.push(reference.clone());
            }
        }
        secrets
    }

    /// Resolves a path that the file names.
    pub(super) fn resolve(&self, relative: &str) -> PathBuf {
        self.directory.join(relative)
    }

    /// A directory that the file names, which must exist.
    pub(super) fn directory(&mut self, at: &Pointer, relative: &str) -> PathBuf {
        let path = self.resolve(relative);
        if !self.surroundings.is_directory(&path) {
            let message = format!(
                "there is no directory `{}`: paths are relative to the experiment file",
                path.display()
            );
            self.refuse(at, message);
        }
        path
    }

    /// Whether a path that the file names is a directory.
    pub(super) fn is_directory(&self, relative: &str) -> bool {
        self.surroundings.is_directory(&self.resolve(relative))
    }

    /// The names of what is in a directory that the file names, in their order; none, with a problem noted, when it cannot be read.
    pub(super) fn list(&mut self, at: &Pointer, relative: &str) -> Vec<String> {
        let path = self.resolve(relative);
        match self.surroundings.list(&path) {
            Ok(mut names) => {
                names.sort_unstable();
                names
            }
            Err(error) => {
                let reason = unreadable(&error);
                self.refuse(at, format!("`{}`: {reason}", path.display()));
                vec![]
            }
        }
    }

    /// The content of a file that the file names; empty, with a problem noted, when it cannot be read.
    pub(super) fn read(&mut self, at: &Pointer, relative: &str) -> Vec<u8> {
        let path = self.resolve(relative);
        match self.surroundings.read(&path) {
            Ok(bytes) => {
                let input = Input {
                    path: path.display().to_string(),
                    sha256: sha256_hex(&bytes),
                };
                if !self.inputs.contains(&input) {
                    self.inputs.push(input);
                }
                bytes
            }
            Err(error) => {
                let reason = unreadable(&error);
                self.refuse(
                    at,
                    format!(
                        "`{}`: {reason}; paths are relative to the experiment file",
                        path.display()
                    ),
                );
                Vec::new()
            }
        }
    }

    /// The text of a file that the file names, with its substitutions parsed.
    pub(super) fn read_template(
        &mut self,
        at: &Pointer,
        relative: &str,
        component: &str,
    ) -> Template {
        let bytes = self.read(at, relative);
        let Ok(text) = String::from_utf8(bytes) else {
            self.refuse(
                at,
                format!("`{relative}` is not UTF-8 text, so nothing can be substituted in it"),
            );
            return Template::default();
        };
        let file = self.resolve(relative).display().to_string();
        let scan = Template::scan(&text, Values::Refused);
        let mut places = Places::of(&file, &text);
        for (offset, reference) in scan.offsets.into_iter().zip(scan.template.references()) {
            self.note(Some(component), reference.clone(), places.at(offset));
        }
        let mut places = Places::of(&file, &text);
        for error in scan.errors {
            self.refuse_at(&places.at(error.offset), error.message);
        }
        scan.template
    }

    /// Text of the file with its substitutions parsed; `component` is the one in whose definition it stands.
    pub(super) fn template(
        &mut self,
        at: &Pointer,
        text: &str,
        component: Option<&str>,
    ) -> Template {
        let values = match component {
            Some(_) => Values::Refused,
            None => Values::Allowed,
        };
        let scan = Template::scan(text, values);
        let mut references = scan.template.references().into_iter().peekable();
        if references.peek().is_some() {
            // All of them have the place of the text, which is looked for once.
            let place = self.document.problem(at, "");
            for reference in references {
                self.note(component, reference.clone(), place.clone());
            }
        }
        for error in scan.errors {
            self.refuse(at, error.message);
        }
        scan.template
    }

    /// What a variable or a file of the run's holds, if it is there.
    pub(super) fn held(&self, reference: &Reference) -> Option<String> {
        match reference {
            Reference::Environment(name) => self.surroundings.variable(name),
            Reference::File(path) => {
                let bytes = self.surroundings.read(&self.directory.join(path)).ok()?;
                String::from_utf8(bytes).ok()
            }
            _ => None,
        }
    }

    /// Notes a substitution, and checks at once what does not depend on components.
    fn note(&mut self, component: Option<&str>, reference: Reference, place: Problem) {
        match &reference {
            Reference::Environment(name) if self.surroundings.variable(name).is_none() => {
                self.refuse_at(
                    &place,
                    format!("the environment variable `{name}` is not set: set it for the run"),
                );
            }
            Reference::File(path) => {
                if let Err(error) = self.surroundings.read(&self.directory.join(path)) {
                    let reason = unreadable(&error);
                    let message = format!(
                        "`{}`: {reason}; paths are relative to the experiment file",
                        path.display()
                    );
                    self.refuse_at(&place, message);
                }
            }
            _ => {}
        }
        self.uses.push(Use {
            component: component.map(str::to_owned),
            reference,
            place,
        });
    }
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

fn unreadable(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::FileTooLarge => {
            format!("the file is too large: at most {MAX_FILE_BYTES} bytes are read")
        }
        io::ErrorKind::IsADirectory | io::ErrorKind::InvalidInput => error.to_string(),
        _ => format!("the file cannot be read: {error}"),
    }
}

/// Places in a text, asked for from its beginning to its end: each is counted from the one before.
struct Places<'a> {
    file: &'a str,
    text: &'a str,
    offset: usize,
    line: u32,
    column: u32,
}

impl<'a> Places<'a> {
    fn of(file: &'a str, text: &'a str) -> Self {
        Self {
            file,
            text,
            offset: 0,
            line: 1,
            column: 1,
        }
    }

    /// The place of this byte, which is none before the last one.
    fn at(&mut self, offset: usize) -> Problem {
        let passed = self.text.get(self.offset..offset).unwrap_or_default();
        for character in passed.chars() {
            match character {
                '\n' => (self.line, self.column) = (self.line.saturating_add(1), 1),
                _ => self.column = self.column.saturating_add(1),
            }
        }
        self.offset = self.offset.max(offset);
        Problem {
            line: self.line,
            column: self.column,
            ..Problem::of_file(self.file, "")
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::memory::{Memory, with_load};
    use super::{inputs, sha256_hex};

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
        assert_eq!(inputs[1].sha256, sha256_hex(b"5/s"));
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
