//! Values of the substitutions of an experiment while it runs.

use super::address::{Addresses, MAIN};
use crate::error::LabError;
use crate::mask::Mask;
use crate::topology::token;
use plimsoll_experiment::{Reference, Secret, Surroundings, Template, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Random bytes of a minted secret.
const SECRET_BYTES: usize = 24;

/// Secrets of a run, and where variables and files come from.
pub struct Values<'a> {
    surroundings: &'a dyn Surroundings,
    directory: PathBuf,
    seed: u64,
    secrets: BTreeMap<String, Secret>,
    mask: Mask,
}

/// The component in whose text a substitution stands.
#[derive(Debug, Clone, Copy)]
pub struct Own<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its private directory.
    pub dir: &'a Path,
}

impl<'a> Values<'a> {
    /// Values for one run; `directory` is what the experiment's relative paths mean.
    #[must_use]
    pub fn new(surroundings: &'a dyn Surroundings, directory: &Path, seed: u64) -> Self {
        Self {
            surroundings,
            directory: directory.to_owned(),
            seed,
            secrets: BTreeMap::new(),
            mask: Mask::default(),
        }
    }

    /// Looks up every secret among these, so that whatever runs from now on is kept from showing them. What cannot be read is refused
    /// where it is used.
    pub fn gather<'r>(&mut self, references: impl IntoIterator<Item = &'r Reference>) {
        let none = Addresses::default();
        let secrets = references.into_iter().filter(|it| it.is_secret());
        let values = secrets.filter_map(|reference| self.lookup(reference, None, &none).ok());
        let texts: Vec<String> = values.map(|value| value.expose().to_owned()).collect();
        self.mask = Mask::of(texts);
    }

    /// The secrets that were gathered.
    #[must_use]
    pub fn mask(&self) -> &Mask {
        &self.mask
    }

    /// The run's seed.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The value of a variable of whoever runs the experiment.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<String> {
        self.surroundings.variable(name)
    }

    /// Makes the substitutions of `template`.
    ///
    /// # Errors
    /// [`LabError`] when a file or variable has vanished since the experiment was loaded, or a component has no such listener.
    pub fn resolve(
        &mut self,
        template: &Template,
        own: Option<Own<'_>>,
        addresses: &Addresses,
    ) -> Result<Value, LabError> {
        template.resolve(|reference| self.lookup(reference, own, addresses))
    }

    /// Value of one substitution.
    ///
    /// # Errors
    /// As of [`Self::resolve`].
    pub fn lookup(
        &mut self,
        reference: &Reference,
        own: Option<Own<'_>>,
        addresses: &Addresses,
    ) -> Result<Value, LabError> {
        let address = |component: &str, listener: &Option<String>| {
            let listener = listener.as_deref().unwrap_or(MAIN);
            let found = match own {
                Some(own) => addresses.seen_by(own.name, component, listener),
                None => addresses.get(component, listener),
            };
            found.ok_or_else(|| {
                let known = addresses.listeners(component).join(", ");
                LabError::Input(format!(
                    "{reference}: `{component}` has no listener `{listener}` (it has: {known})"
                ))
            })
        };
        let belongs = || LabError::Input(format!("{reference} has no meaning outside a component"));
        match reference {
            Reference::Component {
                component,
                listener,
                field,
            } => Ok(Value::Plain(address(component, listener)?.field(*field))),
            Reference::Own { listener, field } => {
                let own = own.ok_or_else(belongs)?;
                Ok(Value::Plain(address(own.name, listener)?.field(*field)))
            }
            Reference::OwnDirectory => {
                let own = own.ok_or_else(belongs)?;
                Ok(Value::Plain(own.dir.display().to_string()))
            }
            Reference::ExperimentDirectory => {
                let directory = absolute(&self.directory);
                Ok(Value::Plain(directory.display().to_string()))
            }
            Reference::Environment(name) => {
                let value = self.surroundings.variable(name).ok_or_else(|| {
                    LabError::Input(format!("the environment variable `{name}` is not set"))
                })?;
                Ok(Value::Secret(Secret::new(value)))
            }
            Reference::File(path) => self.file(path),
            Reference::Secret(name) => Ok(Value::Secret(self.secret(name)?)),
            Reference::SecretHash(name) => Ok(Value::Plain(self.secret(name)?.sha256())),
        }
    }

    fn file(&self, path: &Path) -> Result<Value, LabError> {
        let path = self.directory.join(path);
        let bytes = self.surroundings.read(&path);
        let bytes = bytes.map_err(LabError::storage("read the file", &path))?;
        let text = String::from_utf8_lossy(&bytes);
        Ok(Value::Secret(Secret::new(
            text.trim_end_matches(['\r', '\n']),
        )))
    }

    /// The run's secret of that name, minted on first use. Unpredictable on purpose: the seed does not give it.
    fn secret(&mut self, name: &str) -> Result<Secret, LabError> {
        if let Some(secret) = self.secrets.get(name) {
            return Ok(secret.clone());
        }
        let secret = Secret::new(token::mint(SECRET_BYTES)?);
        self.secrets.insert(name.to_owned(), secret.clone());
        Ok(secret)
    }
}

/// Children have other working directories.
pub(super) fn absolute(path: &Path) -> PathBuf {
    // An empty path, the directory of a bare file name, is the current one.
    std::path::absolute(Path::new(".").join(path)).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::address::Address;
    use super::*;
    use std::io;

    struct Fake;

    impl Surroundings for Fake {
        fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
            assert_eq!(path, Path::new("/exp/key"));
            Ok(b"from a file\r\n".to_vec())
        }
        fn is_directory(&self, _: &Path) -> bool {
            false
        }
        fn variable(&self, name: &str) -> Option<String> {
            (name == "SET").then(|| "from the environment".to_owned())
        }
    }

    fn check(text: &str, expected: Result<&str, &str>) {
        let mut values = Values::new(&Fake, Path::new("/exp"), 1);
        let mut addresses = Addresses::default();
        addresses.set("up", "main", Address::new("127.0.0.1", 81));
        addresses.set("me", "admin", Address::new("127.0.0.1", 82));
        let own = Own {
            name: "me",
            dir: Path::new("/scratch/me"),
        };
        let template = Template::parse(text).unwrap();
        let value = values.resolve(&template, Some(own), &addresses);
        let shown = value
            .map(|value| value.expose().to_owned())
            .map_err(|e| e.to_string());
        assert_eq!(shown.as_deref().map_err(String::as_str), expected, "{text}");
    }

    #[test]
    fn each_reference() {
        check("${up.url}/x", Ok("http://127.0.0.1:81/x"));
        check("${self/admin.port}", Ok("82"));
        check("${self.dir}/a", Ok("/scratch/me/a"));
        check("${env:SET}", Ok("from the environment"));
        check(
            "${env:UNSET}",
            Err("the environment variable `UNSET` is not set"),
        );
        check("${file:key}", Ok("from a file"));
        check(
            "${up/admin.url}",
            Err("${up/admin.url}: `up` has no listener `admin` (it has: main)"),
        );
    }

    #[test]
    fn a_secret_is_the_same_throughout_a_run_and_unlike_another_runs() {
        let template = Template::parse("${secret.key}").unwrap();
        let hash = Template::parse("${secret.key.sha256}").unwrap();
        let addresses = Addresses::default();
        let mut values = Values::new(&Fake, Path::new("/"), 1);
        let first = values.resolve(&template, None, &addresses).unwrap();
        assert_eq!(values.resolve(&template, None, &addresses).unwrap(), first);
        let expected = plimsoll_base::digest::Digest::of(first.expose().as_bytes()).to_hex();
        assert_eq!(
            values.resolve(&hash, None, &addresses).unwrap(),
            Value::Plain(expected)
        );
        let mut other = Values::new(&Fake, Path::new("/"), 1);
        assert_ne!(other.resolve(&template, None, &addresses).unwrap(), first);
        assert!(matches!(first, Value::Secret(_)));
    }
}
