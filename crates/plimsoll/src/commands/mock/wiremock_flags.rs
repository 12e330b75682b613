//! WireMock's command-line flags that the mock does not act on: which are fulfilled anyway, which have no effect, which are refused.
//!
//! A command line that starts WireMock 3.13 starts the mock, or is told what of it is missing. Flags that the mock acts on are those
//! of `mock.rs` and `mock/https.rs`.

#[cfg(test)]
mod page;

use crate::exit::Failure;
use crate::out;
use clap::{Arg, ArgAction, ArgMatches, Command};

/// Effect of a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FlagEffect {
    /// The mock does what it asks for in any case.
    Fulfilled,
    /// It tunes something that the mock does not have: accepted, with a warning that says why.
    NoEffect(&'static str),
    /// It asks for something that this version cannot do.
    Refused,
    /// It asks in words of Java's for what has other words here.
    Replaced(&'static str),
}

use FlagEffect::{Fulfilled, NoEffect, Refused, Replaced};

/// Whether a flag is followed by a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value {
    None,
    Optional,
    One,
}

const THREADS: &str = "no request holds a thread here (`--shards` sets how many threads serve)";
const BUFFERS: &str = "buffers grow as they are needed";
const KEYSTORE: &str = "write `--https-cert FILE --https-key FILE` with PEM files, which `openssl pkcs12 -nodes` makes of a PKCS #12 keystore";
const TRUSTSTORE: &str = "write `--https-client-ca FILE` with a PEM file, which `keytool -exportcert -rfc` makes of each certificate of a truststore";
const BROWSER: &str = "there is no browser proxying here";
const REUSE: &str = "connections to other servers are kept for a while";

/// Every flag of WireMock 3.13.2 but those of `mock.rs` and `mock/https.rs`.
const FLAGS: &[(&str, Value, FlagEffect)] = &[
    ("async-response-enabled", Value::Optional, NoEffect(THREADS)),
    ("async-response-threads", Value::One, NoEffect(THREADS)),
    ("ca-keystore", Value::One, Refused),
    ("ca-keystore-password", Value::One, Refused),
    ("ca-keystore-type", Value::One, Refused),
    ("container-threads", Value::One, NoEffect(THREADS)),
    ("disable-banner", Value::None, Fulfilled),
    ("disable-connection-reuse", Value::One, NoEffect(REUSE)),
    ("disable-extensions-scanning", Value::None, Fulfilled),
    (
        "disable-optimize-xml-factories-loading",
        Value::Optional,
        NoEffect("there are no XML factories here"),
    ),
    ("disable-request-logging", Value::None, Fulfilled),
    (
        "disable-strict-http-headers",
        Value::Optional,
        NoEffect("what requests may look like is in docs/strictness.md"),
    ),
    ("enable-browser-proxying", Value::None, Refused),
    ("extensions", Value::One, Refused),
    (
        "filename-template",
        Value::One,
        NoEffect("saved mappings are named by their name and id"),
    ),
    ("https-keystore", Value::One, Replaced(KEYSTORE)),
    ("https-truststore", Value::One, Replaced(TRUSTSTORE)),
    ("jetty-accept-queue-size", Value::One, NoEffect(THREADS)),
    ("jetty-acceptor-threads", Value::One, NoEffect(THREADS)),
    ("jetty-header-buffer-size", Value::One, NoEffect(BUFFERS)),
    ("jetty-header-request-size", Value::One, NoEffect(BUFFERS)),
    ("jetty-header-response-size", Value::One, NoEffect(BUFFERS)),
    (
        "jetty-idle-timeout",
        Value::One,
        NoEffect("write `--idle-timeout`, with a unit"),
    ),
    (
        "jetty-stop-timeout",
        Value::One,
        NoEffect("requests under way get 10 seconds to end"),
    ),
    ("key-manager-password", Value::One, Replaced(KEYSTORE)),
    ("keystore-password", Value::One, Replaced(KEYSTORE)),
    ("keystore-type", Value::One, Replaced(KEYSTORE)),
    ("load-resources-from-classpath", Value::One, Refused),
    ("local-response-templating", Value::None, Fulfilled),
    (
        "max-template-cache-entries",
        Value::Optional,
        NoEffect("templates are compiled when they are loaded"),
    ),
    (
        "permitted-system-keys",
        Value::Optional,
        NoEffect("`systemValue` is always denied"),
    ),
    (
        "print-all-network-traffic",
        Value::None,
        NoEffect("the journal has the requests"),
    ),
    ("proxy-pass-through", Value::One, NoEffect(BROWSER)),
    ("proxy-via", Value::One, Refused),
    (
        "timeout",
        Value::Optional,
        NoEffect("limits on time have flags of their own"),
    ),
    ("truststore-password", Value::One, Replaced(TRUSTSTORE)),
    ("truststore-type", Value::One, Replaced(TRUSTSTORE)),
    (
        "use-chunked-encoding",
        Value::One,
        NoEffect("answers carry `Content-Length`"),
    ),
    (
        "verbose",
        Value::None,
        NoEffect("the journal has the requests"),
    ),
    ("webhook-threadpool-size", Value::One, NoEffect(THREADS)),
];

/// The flags of these that a command line has.
#[derive(Debug, Default)]
pub struct Flags(Vec<(&'static str, FlagEffect)>);

impl Flags {
    /// Says what has no effect, and refuses what cannot be done, all at once.
    pub fn judge(&self) -> Result<(), Failure> {
        let refused: Vec<String> = self
            .0
            .iter()
            .filter_map(|(name, fate)| match fate {
                Refused => Some(format!("--{name} is not available in this version")),
                Replaced(by) => Some(format!("--{name} has another name here: {by}")),
                Fulfilled | NoEffect(_) => None,
            })
            .collect();
        if !refused.is_empty() {
            return Err(Failure::Input(refused.join("\n")));
        }
        for (name, fate) in &self.0 {
            if let NoEffect(why) = fate {
                out::note(&format!("mock: --{name} has no effect: {why}"));
            }
        }
        Ok(())
    }
}

impl clap::FromArgMatches for Flags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = FLAGS.iter().filter(|(name, _, _)| {
            matches.value_source(name) == Some(clap::parser::ValueSource::CommandLine)
        });
        Ok(Self(given.map(|(name, _, fate)| (*name, *fate)).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl clap::Args for Flags {
    fn augment_args(command: Command) -> Command {
        command.args(FLAGS.iter().map(|(name, value, _)| {
            let arg = Arg::new(*name).long(*name).hide(true);
            match value {
                Value::None => arg.action(ArgAction::SetTrue),
                Value::Optional => arg.action(ArgAction::Set).num_args(0..=1),
                Value::One => arg.action(ArgAction::Set).num_args(1),
            }
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        flags: Flags,
    }

    fn parse(line: &[&str]) -> Flags {
        let line = ["mock"].iter().chain(line);
        Line::try_parse_from(line).unwrap().flags
    }

    #[test]
    fn flags_that_are_not_given_are_not_judged() {
        assert!(parse(&[]).0.is_empty());
    }

    #[test]
    fn what_has_no_effect_is_accepted() {
        let line = [
            "--async-response-enabled",
            "true",
            "--container-threads=50",
            "--verbose",
            "--disable-banner",
            "--max-template-cache-entries",
        ];
        let flags = parse(&line);
        assert_eq!(flags.0.len(), 5);
        assert!(flags.judge().is_ok());
    }

    #[test]
    fn everything_that_cannot_be_done_is_named_at_once() {
        let Err(Failure::Input(message)) =
            parse(&["--enable-browser-proxying", "--https-keystore=a.jks"]).judge()
        else {
            panic!("accepted");
        };
        assert_eq!(
            message,
            "--enable-browser-proxying is not available in this version\n--https-keystore has another name here: write `--https-cert FILE --https-key FILE` with PEM files, which `openssl pkcs12 -nodes` makes of a PKCS #12 keystore"
        );
    }
}
