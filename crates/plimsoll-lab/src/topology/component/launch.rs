//! How each kind of component becomes a process: program, arguments, rendered files, limits.

use super::ComponentPlaces;
use super::address::{Addresses, MAIN};
use super::values::{Own, Values, absolute};
use crate::error::LabError;
use crate::topology::shim::{Disk, Spec, Stdout};
use plimsoll_base::ignored::Ignored as _;
use plimsoll_experiment::{
    Command, Component, ComponentKind, Gateway, HTTPS, Https, Mock, Template,
};
use std::collections::BTreeMap;
use std::fs::{DirBuilder, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// Variables that a component gets from whoever runs the experiment; everything else it is given by name.
const INHERITED: [&str; 7] = ["PATH", "HOME", "USER", "LANG", "LC_ALL", "TMPDIR", "TZ"];

/// A component that is ready to be started.
pub(super) struct Launch {
    /// Specification for its shim.
    pub(super) spec: Spec,
    /// Its counters file, if it writes one.
    pub(super) counters: Option<PathBuf>,
}

/// Inputs of the preparation of all kinds.
struct Preparation<'p, 'v> {
    own: Own<'p>,
    log: &'p Path,
    places: &'p ComponentPlaces,
    values: &'p mut Values<'v>,
    addresses: &'p Addresses,
    origin: Origin,
}

/// Where a component starts, and how often it did.
pub(super) struct Origin {
    /// How often it was started before, since it was last stopped.
    pub(super) starts: usize,
    /// The address at which it listens.
    pub(super) ip: String,
    /// Whether that is a host's of a network.
    pub(super) is_on_host: bool,
}

/// Prepares a component: renders its files and makes its substitutions.
pub(super) fn prepare(
    component: &Component,
    log: &Path,
    places: &ComponentPlaces,
    directory: &Path,
    values: &mut Values<'_>,
    addresses: &Addresses,
    origin: Origin,
) -> Result<Launch, LabError> {
    let dir = places.scratch.join(&component.name);
    make_private(&dir)?;
    let mut preparation = Preparation {
        own: Own {
            name: &component.name,
            dir: &dir,
        },
        log,
        places,
        values,
        addresses,
        origin,
    };
    let mut launch = match &component.kind {
        ComponentKind::Mock(mock) => preparation.mock(mock),
        ComponentKind::Gateway(gateway) => preparation.gateway(gateway)?,
        ComponentKind::Command(command) => preparation.command(command, directory)?,
        ComponentKind::External(_) => {
            return Err(LabError::Internal(format!(
                "`{}` is external and cannot be started",
                component.name
            )));
        }
    };
    let cpus = component.placement.cpus.iter();
    launch.spec.secrets = preparation.values.mask().secrets().to_vec();
    launch.spec.cpus = cpus.filter_map(|&cpu| usize::try_from(cpu).ok()).collect();
    Ok(launch)
}

/// The proxy that stands in links: no component of the file, but started like one of ours.
pub(super) fn fault_proxy(
    log: &Path,
    places: &ComponentPlaces,
    values: &Values<'_>,
) -> Result<Launch, LabError> {
    let dir = places.scratch.join("fault-proxy");
    make_private(&dir)?;
    let arguments = ["fault", "--announce", "--port=0", "--shards=1"].map(str::to_owned);
    let seed = format!("--seed={}", values.seed().cast_signed());
    let arguments = arguments.into_iter().chain([seed]).collect();
    let spec = Spec {
        environment: inherited(values),
        dir: Some(dir.clone()),
        scratch: Some(places.scratch.clone()),
        secrets: values.mask().secrets().to_vec(),
        ..Spec::of(places.executable.clone(), arguments, absolute(log))
    };
    Ok(Launch {
        spec,
        counters: None,
    })
}

impl Preparation<'_, '_> {
    fn mock(&mut self, mock: &Mock) -> Launch {
        let counters = self.counters();
        let port = mock.port.or_else(|| self.earlier_port(MAIN));
        let mut arguments = vec![
            "mock".to_owned(),
            "--announce".to_owned(),
            format!("--bind-address={}", self.origin.ip),
            format!("--port={}", port.unwrap_or(0)),
            format!("--counters={}", counters.display()),
        ];
        // On a host, only the others of its network reach it.
        arguments.extend(self.origin.is_on_host.then(|| "--admin-open".to_owned()));
        arguments.extend(
            mock.root
                .iter()
                .map(|root| format!("--root-dir={}", absolute(root).display())),
        );
        arguments.extend(mock.shards.map(|shards| format!("--shards={shards}")));
        arguments.extend(mock.https.iter().flat_map(|https| self.https(https)));
        let seed = mock.seed.unwrap_or_else(|| self.values.seed());
        arguments.push(format!("--seed={seed}"));
        Launch {
            spec: self.own_spec(arguments),
            counters: Some(counters),
        }
    }

    /// The arguments of a listener over TLS.
    fn https(&self, https: &Https) -> Vec<String> {
        let port = https.port.or_else(|| self.earlier_port(HTTPS));
        let mut arguments = vec![format!("--https-port={}", port.unwrap_or(0))];
        let path = |path: &Path| absolute(path).display().to_string();
        if let Some((certificate, key)) = &https.identity {
            arguments.push(format!("--https-cert={}", path(certificate)));
            arguments.push(format!("--https-key={}", path(key)));
        }
        if let Some(authorities) = &https.client_ca {
            arguments.push("--https-require-client-cert".to_owned());
            arguments.push(format!("--https-client-ca={}", path(authorities)));
        }
        arguments
    }

    fn gateway(&mut self, gateway: &Gateway) -> Result<Launch, LabError> {
        let name = gateway.config.file_name();
        let path = self.own.dir.join(name.unwrap_or("gateway.yaml".as_ref()));
        self.render(&path, &gateway.text)?;
        if let Some(apis) = &gateway.apis {
            let directory = self.own.dir.join("apps");
            std::fs::create_dir_all(&directory)
                .map_err(LabError::storage("make the directory", &directory))?;
            for (file, text) in apis {
                self.render(&directory.join(file), text)?;
            }
        }
        let kind = match gateway.apis {
            Some(_) => "tyk",
            None => "config",
        };
        let keys = self.own.dir.join("keys.json");
        if let Some(text) = &gateway.keys {
            self.render(&keys, text)?;
        }
        let counters = self.counters();
        let mut arguments = vec![
            "gateway".to_owned(),
            "--announce".to_owned(),
            format!("--{kind}={}", path.display()),
            format!("--counters={}", counters.display()),
        ];
        arguments.extend(
            gateway
                .keys
                .as_ref()
                .map(|_| format!("--keys={}", keys.display())),
        );
        arguments.extend(self.earlier_port(MAIN).map(|port| format!("--port={port}")));
        arguments.extend(gateway.shards.map(|shards| format!("--shards={shards}")));
        Ok(Launch {
            spec: self.own_spec(arguments),
            counters: Some(counters),
        })
    }

    /// Where a component of ours counts, each start anew.
    fn counters(&self) -> PathBuf {
        let counters = self
            .own
            .dir
            .join(format!("counters-{}", self.origin.starts));
        std::fs::remove_file(&counters).ignored("there may have been none");
        counters
    }

    fn command(&mut self, command: &Command, directory: &Path) -> Result<Launch, LabError> {
        for file in &command.files {
            self.render(&self.own.dir.join(&file.name), &file.text)?;
        }
        let arguments: Vec<String> = command
            .arguments
            .iter()
            .map(|argument| self.substitute(argument))
            .collect::<Result<_, _>>()?;
        let (program, arguments) = arguments
            .split_first()
            .ok_or_else(|| LabError::Internal(format!("`{}` has no program", self.own.name)))?;
        let mut environment = self.inherited();
        for (name, value) in &command.environment {
            environment.insert(name.clone(), self.substitute(value)?);
        }
        // A bare name is looked up in PATH; a path is relative to the experiment, like every path in it.
        let program = match program.contains('/') {
            true => absolute(&directory.join(program)),
            false => PathBuf::from(program),
        };
        let spec = Spec {
            program,
            arguments: arguments.to_vec(),
            environment,
            // Relative paths among its arguments mean what they mean elsewhere in the experiment.
            dir: Some(absolute(directory)),
            stdout: Stdout::Log(absolute(self.log)),
            disk: command.disk.map(|bytes| Disk {
                dir: self.own.dir.to_owned(),
                bytes,
            }),
            ..self.own_spec(Vec::new())
        };
        Ok(Launch {
            spec,
            counters: None,
        })
    }

    /// Our own executable with these arguments.
    fn own_spec(&self, arguments: Vec<String>) -> Spec {
        let executable = self.places.executable.clone();
        Spec {
            environment: self.inherited(),
            dir: Some(self.own.dir.to_owned()),
            scratch: Some(self.places.scratch.clone()),
            ..Spec::of(executable, arguments, absolute(self.log))
        }
    }

    fn inherited(&self) -> BTreeMap<String, String> {
        inherited(self.values)
    }

    /// The port of its last start, which whoever refers to it still uses.
    fn earlier_port(&self, listener: &str) -> Option<u16> {
        let address = self.addresses.get(self.own.name, listener)?;
        Some(address.port)
    }

    fn substitute(&mut self, template: &Template) -> Result<String, LabError> {
        let value = self
            .values
            .resolve(template, Some(self.own), self.addresses)?;
        Ok(value.expose().to_owned())
    }

    /// Writes a file with its substitutions made, readable only by us: they may be secrets.
    fn render(&mut self, path: &Path, template: &Template) -> Result<(), LabError> {
        let text = self.substitute(template)?;
        OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(path)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(LabError::storage("write the file", path))
    }
}

/// The environment that every child begins with.
pub(crate) fn inherited(values: &Values<'_>) -> BTreeMap<String, String> {
    let variables = INHERITED.into_iter();
    variables
        .filter_map(|name| Some((name.to_owned(), values.variable(name)?)))
        .collect()
}

/// Where a component whose clock can be wrong is told by how much.
pub(crate) fn clock_file(dir: &Path) -> PathBuf {
    dir.join("clock")
}

/// The library that gives programs another time, where Debian and Fedora have it.
pub(crate) fn faketime() -> Option<PathBuf> {
    let libraries = std::fs::read_dir("/usr/lib")
        .into_iter()
        .flatten()
        .flatten();
    let multiarch = libraries.map(|entry| entry.path());
    let all = multiarch.chain(["/usr/lib", "/usr/lib64"].map(PathBuf::from));
    let mut found = all.map(|dir| dir.join("faketime/libfaketime.so.1"));
    found.find(|path| path.exists())
}

/// Variables by which a program's clock can be set wrong while it runs; that which only counts on stays as it is.
pub(super) fn faked(dir: &Path) -> Result<Vec<(String, String)>, LabError> {
    let file = clock_file(dir);
    std::fs::write(&file, "+0\n").map_err(LabError::storage("write the file", &file))?;
    let Some(library) = faketime() else {
        return Err(LabError::Environment(
            "libfaketime is not installed".to_owned(),
        ));
    };
    let variables = [
        ("LD_PRELOAD", library.display().to_string()),
        ("FAKETIME_TIMESTAMP_FILE", file.display().to_string()),
        ("FAKETIME_NO_CACHE", "1".to_owned()),
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
        // Up to 0.9.12 it otherwise ends timed waits for a condition by that clock at once, although it leaves the clock alone: runtimes spin.
        ("FAKETIME_FORCE_MONOTONIC_FIX", "0".to_owned()),
    ];
    Ok(variables
        .map(|(name, value)| (name.to_owned(), value))
        .into())
}

fn make_private(dir: &Path) -> Result<(), LabError> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
        .map_err(LabError::storage("make the directory", dir))
}
