//! Foreign programs as components: arguments, environment, rendered files, readiness, listeners.

use std::path::PathBuf;
use std::time::Duration;

use plimsoll_base::document::{Entries, Path as Pointer, Text};

use crate::loader::Loader;
use crate::name::refuse_name;
use crate::template::Template;
use crate::wire::{ComponentWire, ListenWire, ReadyWire};

/// The listener that a target or reference without a listener means.
pub(crate) const MAIN: &str = "main";

/// A foreign program.
#[derive(Debug, Clone)]
pub struct Command {
    /// The program and its arguments; at least the program.
    pub arguments: Vec<Template>,
    /// Environment variables, in the order of the file.
    pub environment: Vec<(String, Template)>,
    /// Files that are written into its directory before it starts.
    pub files: Vec<RenderedFile>,
    /// How it shows that it is ready.
    pub readiness: Readiness,
    /// How long that may take.
    pub ready_within: Duration,
    /// Where it listens; the one called `main` always exists.
    pub listeners: Vec<Listener>,
    /// Whether arms that lead to it are left out where its program is not on this host.
    pub optional: bool,
    /// The size in bytes of its directory, which is then a file system of its own.
    pub disk: Option<u64>,
}

/// A file that is written into a component's directory.
#[derive(Debug, Clone)]
pub struct RenderedFile {
    /// Where its text came from.
    pub source: PathBuf,
    /// Its name in the component's directory.
    pub name: String,
    /// Its text.
    pub text: Template,
}

/// How a command shows that it is ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Readiness {
    /// A GET of this path on its `main` listener answers with a status below 400.
    Http(String),
    /// Its `main` listener accepts connections.
    Tcp,
}

/// A place where a command listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listener {
    /// Its name.
    pub name: String,
    /// Its port.
    pub port: Listen,
}

/// Which port a command is told to listen on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listen {
    /// A free one.
    Free,
    /// This one.
    Fixed(u16),
}

const READY_WITHIN: Duration = Duration::from_secs(10);
/// The least that a file system is worth making for.
const SMALLEST_DISK: u64 = 64 * 1024;

pub(super) fn convert(
    loader: &mut Loader<'_>,
    name: &str,
    arguments: &[Text],
    wire: &ComponentWire,
    at: &Pointer,
) -> Command {
    let arguments_at = at.key("command");
    if arguments.first().is_none_or(|program| program.is_empty()) {
        loader.refuse(
            &arguments_at,
            "names no program: write for instance `[nginx, -c, \"${self.dir}/nginx.conf\"]`",
        );
    }
    let (readiness, ready_within) = readiness(loader, wire.ready.as_ref(), &at.key("ready"));
    Command {
        arguments: arguments
            .iter()
            .enumerate()
            .map(|(index, text)| loader.template(&arguments_at.index(index), text, Some(name)))
            .collect(),
        environment: environment(loader, name, wire, &at.key("env")),
        files: rendered_files(
            loader,
            name,
            wire.render.as_deref().unwrap_or_default(),
            &at.key("render"),
        ),
        readiness,
        ready_within,
        listeners: listeners(loader, wire.listeners.as_ref(), &at.key("listeners")),
        optional: wire.optional.unwrap_or(false),
        disk: disk(loader, wire, &at.key("disk")),
    }
}

fn environment(
    loader: &mut Loader<'_>,
    name: &str,
    wire: &ComponentWire,
    at: &Pointer,
) -> Vec<(String, Template)> {
    let mut variables = Vec::new();
    for (variable, value) in wire.env.iter().flat_map(Entries::iter) {
        if variable.is_empty() || variable.contains(['=', '\0']) {
            loader.refuse_key(
                at.key(variable),
                "cannot name a variable: write a name without `=`",
            );
        }
        variables.push((
            variable.to_owned(),
            loader.template(&at.key(variable), value, Some(name)),
        ));
    }
    variables
}

fn rendered_files(
    loader: &mut Loader<'_>,
    name: &str,
    wire: &[String],
    at: &Pointer,
) -> Vec<RenderedFile> {
    let mut files: Vec<RenderedFile> = Vec::new();
    for (index, source) in wire.iter().enumerate() {
        let at = at.index(index);
        let path = loader.resolve(source);
        let file_name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        let file_name = file_name
            .strip_suffix(".in")
            .unwrap_or(&file_name)
            .to_owned();
        if files.iter().any(|file| file.name == file_name) {
            loader.refuse(
                &at,
                format!("a second file would become `{file_name}`: rename one of them"),
            );
        }
        let text = loader.read_template(&at, source, name);
        files.push(RenderedFile {
            source: path,
            name: file_name,
            text,
        });
    }
    files
}

fn disk(loader: &mut Loader<'_>, wire: &ComponentWire, at: &Pointer) -> Option<u64> {
    let bytes = *wire.disk?;
    if bytes < SMALLEST_DISK {
        loader.refuse(
            at,
            "is too small for a file system: write `64KiB` or more, such as `64MiB`",
        );
    }
    Some(bytes)
}

fn readiness(
    loader: &mut Loader<'_>,
    wire: Option<&ReadyWire>,
    at: &Pointer,
) -> (Readiness, Duration) {
    let Some(wire) = wire else {
        return (Readiness::Tcp, READY_WITHIN);
    };
    let readiness = match (&wire.http, wire.tcp) {
        (Some(path), None) => {
            if !path.starts_with('/')
                || path.contains(|c: char| c.is_whitespace() || c.is_control())
            {
                loader.refuse(
                    at.key("http"),
                    format!("`{path}` is not a path: write for instance `/health`"),
                );
            }
            Readiness::Http(path.clone())
        }
        (Some(_), Some(_)) => {
            loader.refuse_key(
                at.key("tcp"),
                "readiness is either `http` or `tcp`: keep one of them",
            );
            Readiness::Tcp
        }
        (None, Some(false)) => {
            loader.refuse(at.key("tcp"), "write `tcp: true`, or `http: /path`");
            Readiness::Tcp
        }
        (None, Some(true) | None) => Readiness::Tcp,
    };
    let within = wire.within.map_or(READY_WITHIN, |within| *within);
    if within.is_zero() {
        loader.refuse(at.key("within"), "leaves no time: write for instance `10s`");
    }
    (readiness, within)
}

fn listeners(
    loader: &mut Loader<'_>,
    wire: Option<&Entries<ListenWire>>,
    at: &Pointer,
) -> Vec<Listener> {
    let main = || Listener {
        name: MAIN.to_owned(),
        port: Listen::Free,
    };
    let Some(wire) = wire else {
        return vec![main()];
    };
    let mut listeners = Vec::new();
    for (name, port) in wire.iter() {
        if let Some(message) = refuse_name("a listener", name) {
            loader.refuse_key(at.key(name), message);
        }
        let port = match port {
            ListenWire::Auto => Listen::Free,
            ListenWire::Port(port) => Listen::Fixed(*port),
        };
        listeners.push(Listener {
            name: name.to_owned(),
            port,
        });
    }
    if wire.get(MAIN).is_none() {
        loader.refuse(
            at,
            "has no `main`, which load and readiness go to: add `main: auto`",
        );
        listeners.push(main());
    }
    listeners
}
