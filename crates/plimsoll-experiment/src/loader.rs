//! Shared state of the conversion of every part: places of problems, files that are named, and substitutions.

use std::io;
use std::path::PathBuf;

use plimsoll_base::digest::Digest;
use plimsoll_base::document::{Document, MOST_PROBLEMS, Path as Pointer, Problem};
use plimsoll_report::record::Input;

use super::surroundings::{MAX_FILE_BYTES, Surroundings};
use super::template::{Reference, Template, Values};

/// Shared state of the conversion of every part: the document to locate problems in, and the findings on the way.
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

impl<'a> Loader<'a> {
    /// Of the file with this document, in `directory`; `inputs` are what has been read already.
    pub(super) fn new(
        document: &'a Document,
        directory: PathBuf,
        surroundings: &'a dyn Surroundings,
        inputs: Vec<Input>,
    ) -> Self {
        Self {
            document,
            directory,
            surroundings,
            problems: Vec::new(),
            further: 0,
            uses: Vec::new(),
            inputs,
        }
    }

    /// The problems that were noted, and how many more there are.
    pub(super) fn into_problems(self) -> (Vec<Problem>, usize) {
        (self.problems, self.further)
    }

    /// Everything that was read.
    pub(super) fn inputs(&self) -> Vec<Input> {
        self.inputs.clone()
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

    /// Noted references whose values may not be shown, each once.
    pub(super) fn secrets(&self) -> Vec<Reference> {
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
                    sha256: Digest::of(&bytes).to_hex(),
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
        let mut places = TextPlaces::of(&file, &text);
        for (offset, reference) in scan.offsets.into_iter().zip(scan.template.references()) {
            self.note(Some(component), reference.clone(), places.at(offset));
        }
        let mut places = TextPlaces::of(&file, &text);
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

    /// Content of a variable or a file of the run's, if it is there.
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

pub(super) fn unreadable(error: &io::Error) -> String {
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
struct TextPlaces<'a> {
    file: &'a str,
    text: &'a str,
    offset: usize,
    line: u32,
    column: u32,
}

impl<'a> TextPlaces<'a> {
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
