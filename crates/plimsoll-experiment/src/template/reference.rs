//! References: what stands between `${` and `}`.

use std::fmt;
use std::path::PathBuf;

use crate::name::is_name;

/// Target of a substitution.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Reference {
    /// `${component.url}` or `${component/listener.port}`: where another component listens.
    Component {
        /// The component's name.
        component: String,
        /// One of its listeners; `None` is `main`.
        listener: Option<String>,
        /// Part of the address.
        field: Field,
    },
    /// `${self.port}`, `${self.host}`, `${self/listener.url}`: where the component itself is to listen.
    Own {
        /// One of its listeners; `None` is `main`.
        listener: Option<String>,
        /// Part of the address.
        field: Field,
    },
    /// `${self.dir}`: the component's working directory, where its rendered files lie.
    OwnDirectory,
    /// `${experiment.dir}`: the directory of the experiment file, where what it names lies.
    ExperimentDirectory,
    /// `${env:NAME}`: an environment variable of whoever runs the experiment. A secret.
    Environment(String),
    /// `${file:PATH}`: the content of a file, without trailing line ends. A secret.
    File(PathBuf),
    /// `${secret.NAME}`: minted for the run. A secret.
    Secret(String),
    /// `${secret.NAME.sha256}`: the hash of the same, for a component that checks it. Not a secret.
    SecretHash(String),
}

/// Part of a listener's address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Field {
    /// `http://host:port`, or `https://`.
    Url,
    /// The host alone.
    Host,
    /// The port alone.
    Port,
}

impl Reference {
    /// The forms, for messages.
    const FORMS: &'static str = "`${component.url}`, `${component.host}`, `${component.port}`, `${self.port}`, `${self.dir}`, `${experiment.dir}`, `${env:NAME}`, \
         `${file:PATH}` or `${secret.NAME}`, and `$${` for a literal `${`";

    /// Whether it stands for text that may not be shown.
    #[must_use]
    pub fn is_secret(&self) -> bool {
        matches!(self, Self::Environment(_) | Self::File(_) | Self::Secret(_))
    }

    /// Parses what stands between the braces; the error says what to write instead.
    pub(super) fn parse(inner: &str) -> Result<Self, String> {
        let unknown = || {
            format!(
                "`${{{inner}}}` is not a known substitution: write {}",
                Self::FORMS
            )
        };
        if let Some(name) = inner.strip_prefix("env:") {
            return if name.is_empty() {
                Err(unknown())
            } else {
                Ok(Self::Environment(name.to_owned()))
            };
        }
        if let Some(path) = inner.strip_prefix("file:") {
            return if path.is_empty() {
                Err(unknown())
            } else {
                Ok(Self::File(PathBuf::from(path)))
            };
        }
        let (left, right) = inner.split_once('.').ok_or_else(unknown)?;
        if left == "secret" {
            return match right.split_once('.') {
                None if is_name(right) => Ok(Self::Secret(right.to_owned())),
                Some((name, "sha256")) if is_name(name) => Ok(Self::SecretHash(name.to_owned())),
                _ => Err(unknown()),
            };
        }
        match (left, right) {
            ("self", "dir") => return Ok(Self::OwnDirectory),
            ("experiment", "dir") => return Ok(Self::ExperimentDirectory),
            _ => {}
        }
        let field = Field::parse(right).ok_or_else(unknown)?;
        let (component, listener) = match left.split_once('/') {
            None => (left, None),
            Some((component, listener)) => (component, Some(listener)),
        };
        if !is_name(component) || !listener.is_none_or(is_name) {
            return Err(unknown());
        }
        let listener = listener.map(str::to_owned);
        Ok(match component {
            "self" => Self::Own { listener, field },
            _ => Self::Component {
                component: component.to_owned(),
                listener,
                field,
            },
        })
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let listening =
            |f: &mut fmt::Formatter<'_>, name: &str, listener: &Option<String>, field: &Field| {
                let slash = listener
                    .as_ref()
                    .map(|listener| format!("/{listener}"))
                    .unwrap_or_default();
                write!(f, "${{{name}{slash}.{}}}", field.name())
            };
        match self {
            Self::Component {
                component,
                listener,
                field,
            } => listening(f, component, listener, field),
            Self::Own { listener, field } => listening(f, "self", listener, field),
            Self::OwnDirectory => f.write_str("${self.dir}"),
            Self::ExperimentDirectory => f.write_str("${experiment.dir}"),
            Self::Environment(name) => write!(f, "${{env:{name}}}"),
            Self::File(path) => write!(f, "${{file:{}}}", path.display()),
            Self::Secret(name) => write!(f, "${{secret.{name}}}"),
            Self::SecretHash(name) => write!(f, "${{secret.{name}.sha256}}"),
        }
    }
}

impl Field {
    fn parse(text: &str) -> Option<Self> {
        match text {
            "url" => Some(Self::Url),
            "host" => Some(Self::Host),
            "port" => Some(Self::Port),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Url => "url",
            Self::Host => "host",
            Self::Port => "port",
        }
    }
}
