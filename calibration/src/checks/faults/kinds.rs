//! The kinds of faults, a row each: which component they break, and by what their mechanism can be disabled.

use super::sabotage::Sabotage;
use crate::bench::Error;
use crate::foreign::peer;
use crate::target::{caller, fragile};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// A kind of fault.
pub(super) struct Kind {
    pub(super) name: &'static str,
    /// Words for the component that is broken, `part` (`calibration/faults/server.py`).
    words: &'static [&'static str],
    /// The fault, as JSON; [`FILES`] in it stands for the directory of certificates.
    fault: &'static str,
    /// Ways in which its mechanism is disabled.
    pub(super) sabotages: &'static [Sabotage],
}

/// The directory of certificates, in words and faults.
const FILES: &str = "FILES";

/// A word for a component on a host of its own, which has an address of its own.
const ON: &str = "on";
/// That host, and another.
const HOSTS: [&str; 2] = ["one", "two"];
/// A kind, the component of it, and the program that this is.
const TOXIPROXY: &str = "toxiproxy";
const TOXIPROXY_SERVER: &str = "toxiproxy-server";
/// Starts a program with a file of its proxies: `$0` is its text, `$1` its path.
const WITH_PROXIES: &str =
    r#"file=$1; shift; printf %s "$0" >"$file" && exec "$@" -config "$file""#;
/// How long hosts may take to find each other again: a question for an address that nobody answers is repeated after a second.
const FOUND_WITHIN: Duration = Duration::from_secs(4);

const TLS: &[&str] = &["tls", "FILES/server.pem", "FILES/server.key"];
const LINK: &[Sabotage] = &[Sabotage::Bypassed];

/// A fault of the link from `edge` to `part`, as JSON.
const fn link(name: &'static str, fault: &'static str) -> Kind {
    Kind {
        name,
        words: &[],
        fault,
        sabotages: LINK,
    }
}

/// A fault of hosts, as JSON, of whose packets rules tell what becomes.
const fn packets(name: &'static str, fault: &'static str) -> Kind {
    host(name, fault, &[Sabotage::Ruleless])
}

/// A fault of hosts, as JSON.
const fn host(name: &'static str, fault: &'static str, sabotages: &'static [Sabotage]) -> Kind {
    Kind {
        name,
        words: &[ON, "${self.host}"],
        fault,
        sabotages,
    }
}

pub(super) const KINDS: [Kind; 23] = [
    Kind {
        name: "kill",
        words: &["shared"],
        fault: r#"{ "kill": "part" }"#,
        sabotages: &[Sabotage::Impostor, Sabotage::Left(Duration::from_secs(11))],
    },
    Kind {
        name: "freeze",
        words: &[],
        fault: r#"{ "freeze": "part" }"#,
        sabotages: &[Sabotage::Thawed, Sabotage::Left(Duration::from_secs(3))],
    },
    Kind {
        name: "cpu",
        words: &["busy"],
        fault: r#"{ "cpu": "part", "cores": 0.02 }"#,
        sabotages: &[Sabotage::Left(Duration::ZERO)],
    },
    Kind {
        name: "memory",
        words: &["hungry"],
        fault: r#"{ "memory": "part", "limit": "64MiB" }"#,
        sabotages: &[Sabotage::Left(Duration::ZERO)],
    },
    link(
        "link: delay",
        r#"{ "link": "edge -> part", "delay": "30ms" }"#,
    ),
    link(
        "link: jitter",
        r#"{ "link": "edge -> part", "delay": "30ms", "jitter": "10ms" }"#,
    ),
    link(
        "link: bandwidth",
        r#"{ "link": "edge -> part", "bandwidth": "100kB" }"#,
    ),
    link(
        "link: refuse",
        r#"{ "link": "edge -> part", "refuse": true }"#,
    ),
    link(
        "link: reset",
        r#"{ "link": "edge -> part", "reset": true }"#,
    ),
    link(
        "link: silence",
        r#"{ "link": "edge -> part", "silence": true }"#,
    ),
    Kind {
        name: "certificate",
        words: TLS,
        fault: r#"{ "certificate": "part", "file": "FILES/server.pem", "as": "expired",
            "authority": "FILES/ca.pem", "authority_key": "FILES/ca.key", "reload": "HUP" }"#,
        sabotages: &[Sabotage::Deaf],
    },
    Kind {
        name: "clock",
        words: &[],
        fault: r#"{ "clock": "part", "by": "1h" }"#,
        sabotages: &[Sabotage::Unloaded],
    },
    Kind {
        name: "run",
        words: &[],
        fault: r#"{ "run": { "inject": ["touch", "FILES/broken"], "verify": ["test", "-e", "FILES/broken"],
            "heal": ["rm", "-f", "FILES/broken"], "healed": ["test", "!", "-e", "FILES/broken"] } }"#,
        sabotages: &[Sabotage::Undone],
    },
    packets("partition", r#"{ "partition": ["client", "one"] }"#),
    packets(
        "partition, one way",
        r#"{ "partition": ["client", "one"], "direction": "one_way" }"#,
    ),
    packets("blackhole", r#"{ "blackhole": ["client", "one"] }"#),
    packets("rst", r#"{ "rst": ["client", "one"] }"#),
    packets("loss", r#"{ "loss": ["client", "one"], "share": "20%" }"#),
    host(
        "dns",
        r#"{ "dns": "one", "name": "two", "answer": "nxdomain" }"#,
        &[Sabotage::Accomplice(Some(HOSTS[0]), &["honest", HOSTS[1]])],
    ),
    host(
        "power_off",
        r#"{ "power_off": "one" }"#,
        &[Sabotage::Accomplice(
            Some(HOSTS[1]),
            &["stand-in", "${part.host}"],
        )],
    ),
    Kind {
        name: "disk_full",
        words: &[],
        fault: r#"{ "disk_full": "part" }"#,
        sabotages: &[Sabotage::Elsewhere],
    },
    Kind {
        name: TOXIPROXY,
        words: &[],
        fault: r#"{ "toxiproxy": "http://${toxiproxy.host}:${toxiproxy.port}", "proxy": "part", "delay": "30ms",
            "request": "GET / HTTP/1.1\r\nHost: part\r\n\r\n" }"#,
        sabotages: &[Sabotage::Accomplice(
            None,
            &["disarm", "${toxiproxy.host}", "${toxiproxy.port}"],
        )],
    },
    Kind {
        name: "nothing",
        words: &[],
        fault: r#"{ "nothing": true }"#,
        sabotages: &[],
    },
];

/// A component that calls the one that is broken.
fn edge() -> Result<Value, Error> {
    let words = [
        "--work-ms=0",
        "--seed=1",
        "--call",
        "${part.host}:${part.port}/",
    ];
    caller::component(&words.map(str::to_owned))
}

/// A Toxiproxy in front of the component that is broken.
fn toxiproxy() -> Result<Value, Error> {
    let proxies = json!([{ "name": "part", "listen": "127.0.0.1:0", "upstream": "${part.host}:${part.port}" }]);
    let server = peer(TOXIPROXY_SERVER)?;
    Ok(json!({ "command": [
        "sh", "-c", WITH_PROXIES, proxies.to_string(), "${self.dir}/proxies.json",
        server, "-host", "${self.host}", "-port", "${self.port}",
    ] }))
}

impl Kind {
    /// Why it cannot be made on this machine.
    pub(super) fn lacks(&self) -> Option<Error> {
        match self.name {
            TOXIPROXY => peer(TOXIPROXY_SERVER).err(),
            _ => None,
        }
    }

    /// The component that is broken, and the fault.
    pub(super) fn parts(&self, files: &Path) -> (Value, Value) {
        let files = files.display().to_string();
        let named = |text: &str| text.replace(FILES, &files);
        let words = self.words.iter().map(|word| named(word));
        let mut part = fragile::component(words);
        if !self.is_secure() {
            part["ready"] = json!({ "http": "/" });
        }
        if self.is_of_hosts() {
            part["host"] = HOSTS[0].into();
        }
        if self.fault.contains(r#""disk_full""#) {
            part["disk"] = "1MiB".into();
        }
        let fault = serde_json::from_str(&named(self.fault));
        (part, fault.unwrap_or(Value::Null))
    }

    /// Whether the component that is broken speaks TLS.
    pub(super) fn is_secure(&self) -> bool {
        self.words.contains(&"tls")
    }

    /// Whether it is of hosts.
    pub(super) fn is_of_hosts(&self) -> bool {
        self.words.contains(&ON)
    }

    /// Hosts, and what runs beside the component that is broken.
    pub(super) fn surroundings(&self, experiment: &mut Value) -> Result<(), Error> {
        if self.is_of_hosts() {
            experiment["network"] = json!({ "zones": { "a": [HOSTS[0]], "b": [HOSTS[1]] } });
        } else {
            experiment["components"]["edge"] = edge()?;
        }
        if self.name == TOXIPROXY {
            experiment["components"][TOXIPROXY] = toxiproxy()?;
        }
        Ok(())
    }

    /// How long it takes to be healed beyond what others do.
    pub(super) fn heals_within(&self) -> Duration {
        match self.is_of_hosts() || self.name == TOXIPROXY {
            true => FOUND_WITHIN,
            false => Duration::ZERO,
        }
    }

    /// Whether its heal is a new start.
    pub(super) fn starts_anew(&self) -> bool {
        self.fault.contains(r#""kill""#)
    }

    /// Whom the load goes to.
    pub(super) fn target(&self) -> &'static str {
        match self.fault.contains("edge ->") {
            true => "edge",
            false => "part",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_a_fault() {
        for kind in &KINDS {
            let (_, fault) = kind.parts(Path::new("/files"));
            assert!(fault.is_object(), "{}", kind.name);
            assert!(!fault.to_string().contains(FILES), "{fault}");
        }
    }
}
