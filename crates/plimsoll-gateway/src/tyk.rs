//! Tyk in file mode: `tyk.conf`, API definitions and policies, read into the gateway's own configuration.
//!
//! ```text
//! tyk.conf ──────────┐
//! app_path/*.json ───┼─ fields (which are known) ─ wire structs ─ compile ─► GatewayConfig
//! policies.json ─────┘                                                  └──► what keys may do
//! ```
//!
//! One gateway serves it: routes, upstreams, policies and rules are those of `gateway.yaml`. What the control API does is
//! [`crate::keys::control`]'s.

mod compile;
mod conf;
pub(crate) mod control_api;
mod definition;
mod files;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzz_harness;
pub(crate) mod go_regex;
mod notes;
mod overrides;
#[cfg(test)]
mod page;
mod pattern;
mod policies;
mod sort;
mod tls;

pub use sort::TykFile;

use crate::config::{GatewayConfig, Surroundings};
use crate::keys::control::{self, ApiEntry, Control, ControlSettings};
use crate::keys::grant::Policies;
use crate::keys::lifetime::ApiLifetime;
use crate::keys::tyk_fields as fields;
use crate::keys::tyk_fields::account::Account;
use compile::Api;
use conf::{Conf, PolicyFiles};
use files::File;
use notes::Notes;
use policies::Form;

use plimsoll_base::document::{
    self, Allowance, Counted, Document, Nulls, Problem, Problems, Rules,
};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Tyk's files and what runs by them. It outlives every reload.
#[derive(Debug)]
pub struct Tyk {
    settings: Settings,
    control: Arc<Control>,
}

impl Tyk {
    /// Reads `tyk.conf` and all that it leads to: the configuration that they mean, and what the operator should know. With `strict`
    /// the gateway's own answers keep what HTTP asks for and Tyk leaves out. `around` is for its secrets alone.
    ///
    /// # Errors
    /// Every problem of every file.
    pub fn open(
        conf: &Path,
        strict: bool,
        around: Surroundings<'_>,
    ) -> Result<(Self, GatewayConfig, Vec<String>), Problems> {
        let settings = Settings::read(conf, strict, around)?;
        let loaded = settings.load()?;
        let (apis, policies) = (loaded.apis.clone(), loaded.policies.clone());
        let control = Control::new(settings.of_control(), apis, policies);
        let mut notes = vec![settings.account.to_string()];
        let tyk = Self {
            settings,
            control: Arc::new(control),
        };
        notes.extend(loaded.notes.all());
        let config = tyk.complete(loaded);
        Ok((tyk, config, notes))
    }

    /// Makes the keys of a file that was read: an object of sessions by their keys, each as `POST /tyk/keys/{id}` takes it.
    ///
    /// # Errors
    /// Every problem of the text; keys that have none are made all the same.
    pub fn make_keys(&self, name: &str, text: &str) -> Result<(), Problems> {
        self.control.make_keys(name, text)
    }

    /// Reads definitions and policies anew; `tyk.conf` itself stays as it was. What of it is doubtful is told when it is in force.
    ///
    /// # Errors
    /// Every problem of every file; then policies stay as they were, too, as they do until the configuration is in force.
    pub fn reload(&self) -> Result<GatewayConfig, Problems> {
        let loaded = self.settings.load()?;
        let (apis, policies) = (loaded.apis.clone(), loaded.policies.clone());
        self.control.have_read(apis, policies);
        let notes = loaded.notes.doubtful();
        let mut config = self.complete(loaded);
        config.notes = notes;
        Ok(config)
    }

    fn complete(&self, loaded: Loaded) -> GatewayConfig {
        let Loaded { mut config, .. } = loaded;
        let health = &self.control.settings().health_paths;
        let paths = health.iter().map(String::as_str).chain([control::PREFIX]);
        config.routes.extend(paths.map(compile::control_route));
        config.control = Some(Arc::clone(&self.control));
        config
    }
}

/// The rules by which Tyk's files are decoded: `null` is nothing.
const RULES: Rules<'static> = Rules {
    later: &[],
    renamed: &[],
    nulls: Nulls::Allowed,
};

/// A `tyk.conf` that was read.
struct Settings {
    conf: Conf,
    strict: bool,
    /// Account of its fields.
    account: Account,
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings").finish_non_exhaustive()
    }
}

/// Definitions and policies as they were found.
#[derive(Debug)]
struct Loaded {
    config: GatewayConfig,
    apis: Vec<ApiEntry>,
    policies: Policies,
    /// Notes for the operator; of `tyk.conf` none.
    notes: Notes,
}

impl Settings {
    /// Reads `tyk.conf`.
    ///
    /// # Errors
    /// Every problem of it.
    fn read(path: &Path, strict: bool, around: Surroundings<'_>) -> Result<Self, Problems> {
        let File { name, text } = files::read(path)?;
        Self::parse(&name, &text, strict, around)
    }

    fn parse(
        name: &str,
        text: &str,
        strict: bool,
        around: Surroundings<'_>,
    ) -> Result<Self, Problems> {
        let document = Document::parse_json(name, text)?;
        let document = fields::spelled(fields::CONF, document, false)?;
        let (mut refused, account) = fields::judge(fields::CONF, &document).into_parts(name);
        let wire: Result<conf::Wire, Problems> = document.decode_with(RULES);
        match wire.and_then(|wire| conf::check(&document, wire, around)) {
            Ok(mut conf) => {
                for note in &mut conf.notes {
                    *note = format!("{name}: {note}");
                }
                refused.or_ok(Self {
                    conf,
                    strict,
                    account,
                })
            }
            Err(problems) => {
                refused.append(problems);
                Err(refused)
            }
        }
    }

    fn of_control(&self) -> ControlSettings {
        ControlSettings {
            secret: self.conf.secret.clone(),
            key_rules: self.conf.keys,
            lifetimes: self.conf.lifetimes.clone(),
            redis: self.conf.redis.clone(),
            app_path: self.conf.app_path.clone(),
            health_paths: [&self.conf.health, &self.conf.readiness].map(|name| format!("/{name}")),
        }
    }

    /// Reads definitions and policies as they are now.
    ///
    /// # Errors
    /// Every problem of all of them.
    fn load(&self) -> Result<Loaded, Problems> {
        let definitions = files::definitions(&self.conf.app_path)?;
        let (policies, form) = match &self.conf.policies {
            None => (Vec::new(), Form::Named),
            Some(PolicyFiles::One(path)) => (vec![files::read(path)?], Form::Named),
            Some(PolicyFiles::Directory(path)) => (files::policies(path)?, Form::Single),
        };
        let definitions = definitions
            .iter()
            .map(|file| (&*file.name, file.document()));
        self.compile(definitions, (&policies, form))
    }

    /// Definitions are parsed one after the other, when they are asked for.
    fn compile<'a>(
        &self,
        definitions: impl IntoIterator<Item = (&'a str, Result<Document, Problems>)>,
        (policies, form): (&[File], Form),
    ) -> Result<Loaded, Problems> {
        let mut problems = Problems::default();
        let mut notes = Notes::default();
        let mut apis = Vec::new();
        for (name, document) in definitions {
            match document.and_then(|document| definition(name, document, &mut notes)) {
                Ok((api, refused)) => {
                    problems.append(refused);
                    apis.push(api);
                }
                Err(wrong) => problems.append(wrong),
            }
        }
        let mut granted = Policies::new();
        for file in policies {
            let document = file.document();
            match document.and_then(|document| policies::read(&file.name, document, form)) {
                Ok((policies, account)) => {
                    notes.accounts.push(account);
                    problems.extend(add(&mut granted, policies, file));
                }
                Err(wrong) => problems.append(wrong),
            }
        }
        if self.conf.policies.is_some() {
            let doubts = apis
                .iter()
                .filter_map(|api| compile::unserved(api, &granted));
            notes.doubts.extend(doubts);
        }
        problems.extend(same_ids(&apis));
        for references in apis.iter().map(Api::references) {
            problems.append(references);
        }
        problems.extend(apis.iter().flat_map(|api| self.scripts(api)));
        let config = match compile::compile(&self.conf, &apis, self.strict, &mut notes.doubts) {
            Ok(config) => problems.or_ok(config)?,
            Err(wrong) => {
                problems.append(wrong);
                return Err(problems);
            }
        };
        Ok(Loaded {
            config,
            apis: entries(apis),
            policies: granted,
            notes,
        })
    }
}

impl Settings {
    /// Problems for scripts that lie where Tyk looks for an API's, whether its definition names any or not
    /// (`gateway/server.go`, `loadCustomMiddleware`).
    fn scripts(&self, api: &Api) -> Option<Problem> {
        let directory = self.conf.middleware_path.join(&api.id);
        let folders = ["pre", "auth", "post_auth", "post"];
        let script = folders
            .into_iter()
            .find_map(|folder| files::script(&directory.join(folder)))?;
        let message = format!(
            "Tyk would run `{}` for this API, and scripts are not run here: remove it, or write what it does as rules",
            script.display()
        );
        Some(api.document.problem("api_id", message))
    }
}

/// Adds the policies of one more file. No two have the same name.
fn add(granted: &mut Policies, policies: Policies, file: &File) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (name, policy) in policies {
        if granted.contains_key(&name) {
            let message = format!("another file has a policy `{name}` already");
            problems.push(Problem::of_file(&file.name, message));
        }
        granted.insert(name, policy);
    }
    problems
}

/// The file of this directory that holds the definition of an API.
///
/// # Errors
/// A part of the directory that cannot be read: the definition may be there.
pub(crate) fn file_of(app_path: &Path, id: &str) -> Result<Option<PathBuf>, Problems> {
    let files = files::definitions(app_path)?;
    let holds = |file: &File| {
        let own = written_id(&file.text);
        own.or_else(|| stem(&file.name)).as_deref() == Some(id)
    };
    Ok(files.into_iter().find(holds).map(|file| file.name.into()))
}

/// The id that a definition gives itself.
pub(crate) fn written_id(text: &str) -> Option<String> {
    let document = Document::parse_json("definition", text).ok()?;
    let document = fields::spelled(fields::DEFINITION, document, false).ok()?;
    let document::Value::Mapping(fields) = document.root().value() else {
        return None;
    };
    let id = fields.iter().find(|field| field.key() == "api_id")?;
    match id.node().value() {
        document::Value::Text(id) if !id.is_empty() => Some(id.to_owned()),
        _ => None,
    }
}

/// The id of a definition that gives itself none.
fn stem(file: &str) -> Option<String> {
    let stem = Path::new(file).file_stem()?;
    Some(stem.to_string_lossy().into_owned())
}

/// Checks one definition for itself, JSON of a file called `name`; what becomes of its fields.
///
/// # Errors
/// Every problem of it.
pub fn check_definition(name: &str, document: Document) -> Result<Vec<String>, Problems> {
    let conf = "{\"secret\": \"any\", \"app_path\": \"apps\"}";
    let settings = Settings::parse("tyk.conf", conf, false, Surroundings::none())?;
    let loaded = settings.compile([(name, Ok(document))], (&[], Form::Named))?;
    Ok(loaded.notes.all())
}

/// Checks policies for themselves, JSON of a file called `name`, by their names or a single one; what becomes of their fields.
///
/// # Errors
/// Every problem of them.
pub fn check_policies(
    name: &str,
    document: Document,
    sort: TykFile,
) -> Result<Vec<String>, Problems> {
    let form = match sort {
        TykFile::Policy => Form::Single,
        _ => Form::Named,
    };
    let (_, account) = policies::read(name, document, form)?;
    Ok(vec![account.to_string()])
}

/// Values of a definition or of a file of policies.
const VALUES: Allowance = Allowance {
    any: 20_000,
    bytes_each: 16,
};

/// A definition, and what of it is refused: what else is wrong with it is yet to be found.
fn definition(
    name: &str,
    document: Document,
    notes: &mut Notes,
) -> Result<(Api, Problems), Problems> {
    /// Paths and the like: one of a few bytes takes some thousand.
    const RECORDS: Allowance = Allowance {
        any: 2_500,
        bytes_each: 200,
    };
    document.bound(Counted::Records, RECORDS)?;
    document.bound(Counted::Values, VALUES)?;
    let document = fields::spelled(fields::DEFINITION, document, false)?;
    let verdict = fields::judge(fields::DEFINITION, &document);
    let (mut refused, account) = verdict.into_parts(name);
    let definition: definition::Definition = match document.decode_with(RULES) {
        Ok(definition) => definition,
        Err(problems) => {
            refused.append(problems);
            return Err(refused);
        }
    };
    notes.accounts.push(account);
    if definition.active == Some(false) {
        notes.doubts.push(format!(
            "{name}: `active` is false, so this API is closed; Tyk would serve it"
        ));
    }
    let id = definition.api_id.clone().filter(|id| !id.is_empty());
    let api = Api {
        file: PathBuf::from(name),
        id: id.or_else(|| stem(name)).unwrap_or_default(),
        document,
        definition,
    };
    Ok((api, refused))
}

/// Keys open APIs by their ids, so no two have the same.
fn same_ids(apis: &[Api]) -> Vec<Problem> {
    let places = apis.iter().enumerate();
    let repeated =
        places.filter(|(index, api)| apis[..*index].iter().any(|other| other.id == api.id));
    repeated
        .map(|(_, api)| {
            let message = format!("another definition has the id `{}` already", api.id);
            api.document.problem("api_id", message)
        })
        .collect()
}

fn entries(apis: Vec<Api>) -> Vec<ApiEntry> {
    apis.into_iter()
        .map(|api| ApiEntry {
            lifetime: ApiLifetime {
                seconds: api.definition.session_lifetime.unwrap_or(0),
                respects_expiry: api
                    .definition
                    .session_lifetime_respects_key_expiration
                    .unwrap_or(false),
            },
            id: api.id,
            document: api.document,
        })
        .collect()
}

/// Errors of decoding a file of this kind.
#[cfg(test)]
fn decode_errors(kind: &fields::Kind, text: &str) -> String {
    use plimsoll_base::document::Entries;
    let document = Document::parse_json("file", text).unwrap();
    let problems = if kind.name == fields::CONF.name {
        document.decode_with::<conf::Wire>(RULES).err()
    } else if kind.name == fields::DEFINITION.name {
        document.decode_with::<definition::Definition>(RULES).err()
    } else if kind.name == fields::POLICY.name {
        let text = format!("{{\"p\": {text}}}");
        let document = Document::parse_json("file", &text).unwrap();
        document.decode_with::<Entries<policies::Wire>>(RULES).err()
    } else {
        crate::keys::session::read(document).err()
    };
    problems
        .map(|problems| problems.to_string())
        .unwrap_or_default()
}
