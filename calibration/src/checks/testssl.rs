//! testssl.sh examines the TLS of our gateway's listener. It comes from `bench/peers/install testssl`.

use super::Check;
use crate::bar::Bar;
use crate::bench::{Bench, Error};
use crate::child::Child;
use crate::foreign::peer;
use crate::gateway::Gateway;
use crate::mock::Mock;
use plimsoll_testbed::authority::Authority;
use serde_json::Value;
use std::fs::File;
use std::process::{Command, Stdio};
use std::time::Duration;

pub const CHECK: Check = Check {
    name: "testssl",
    about: "testssl.sh examines the gateway's listener with TLS",
    run,
};

/// The longest that it takes.
const PATIENCE: Duration = Duration::from_secs(900);

/// So many of its tests may go without being carried out.
const UNTESTED: usize = 3;

/// Findings that say nothing about the gateway, and why.
static EXCUSED: [(&str, &str); 4] = [
    (
        "cipher_order",
        "every suite that is offered is sound, and the client knows which it is fast with",
    ),
    (
        "cert_revocation",
        "the certificate is of an authority that was made for this run and says nowhere what it revokes",
    ),
    (
        "cert_validityPeriod",
        "the certificate was made for this run, and has no end that matters",
    ),
    (
        "security_headers",
        "fields of answers are the upstream's: a mock, which serves no pages",
    ),
];

/// Its findings above LOW.
#[derive(Debug, Default, PartialEq, Eq)]
struct Findings {
    looked_at: usize,
    above_low: Vec<String>,
    excused: Vec<String>,
    /// Tests that it could not carry out.
    untested: Vec<String>,
}

fn run(bench: &Bench) -> Result<Vec<Bar>, Error> {
    let program = peer("testssl")?;
    let mock = Mock::start(bench, &[])?;
    let authority = Authority::new()?;
    let issued = authority.issue(&["localhost"])?;
    let config = format!(
        "version: 1\nlisteners: {{ main: {{ address: \"127.0.0.1:0\", tls: {{ certificate: server.pem, key: server.key }} }} }}\n\
         upstreams: {{ mock: {{ endpoints: [\"http://{}\"] }} }}\nroutes: [{{ path: /, upstream: mock }}]\n",
        mock.address
    );
    let files = [
        ("gateway.yaml", config),
        ("server.pem", issued.certificate),
        ("server.key", issued.key),
    ];
    let gateway = Gateway::start(bench, &files, &[])?;
    let directory = bench.directory()?;
    let (report, trusted) = (
        directory.join("report.json"),
        directory.join("authority.pem"),
    );
    std::fs::write(&trusted, authority.certificate())
        .map_err(Error::when("writing a certificate"))?;
    let said = File::create(directory.join("said")).map_err(Error::when("creating a log"))?;
    let mut command = Command::new(program);
    command
        .args([
            "--quiet",
            "--color",
            "0",
            "--warnings",
            "off",
            "--nodns",
            "none",
        ])
        .args(["--ip", "127.0.0.1", "--add-ca"])
        .arg(&trusted)
        .arg("--jsonfile")
        .arg(&report)
        // In the short form protocols alone, which shows that it works.
        .args(bench.pick(&[][..], &["--protocols"][..]))
        .arg(format!("localhost:{}", gateway.main()?.port()))
        .env("TERM", "dumb")
        .stdin(Stdio::null())
        .stdout(said)
        .stderr(Stdio::null());
    // Its exit code counts what it found, which its report says.
    Child::spawn(&mut command)?.wait(PATIENCE)?;
    gateway.child.terminate()?;
    mock.stop()?;
    let text = std::fs::read_to_string(&report)
        .map_err(|_| Error::Measured("testssl made no report".to_owned()))?;
    let findings = findings(&text)
        .ok_or_else(|| Error::Measured("testssl's report cannot be read".to_owned()))?;
    Ok(vec![bar(&findings)])
}

fn bar(findings: &Findings) -> Bar {
    let Findings {
        looked_at,
        above_low,
        excused,
        untested,
    } = findings;
    let mut measured = format!(
        "{looked_at} findings, {} above LOW, {} not carried out",
        above_low.len(),
        untested.len()
    );
    let lists = [
        ("", above_low),
        ("excused ", excused),
        ("not carried out ", untested),
    ];
    for (word, list) in lists {
        if !list.is_empty() {
            measured = format!("{measured}; {word}{}", list.join(", "));
        }
    }
    let held = above_low.is_empty() && *looked_at > 0 && untested.len() <= UNTESTED;
    let what = "gateway's listener with TLS";
    let limit = format!("nothing above LOW, and at most {UNTESTED} tests not carried out");
    Bar::judged(what, limit, measured, held)
}

/// Reads its report: a list of findings, each with a name, a severity and words.
fn findings(report: &str) -> Option<Findings> {
    let report: Value = serde_json::from_str(report).ok()?;
    let mut findings = Findings::default();
    for finding in report.as_array()? {
        let (name, severity) = (finding["id"].as_str()?, finding["severity"].as_str()?);
        let words = finding["finding"].as_str().unwrap_or_default();
        findings.looked_at += 1;
        match severity {
            "OK" | "INFO" | "LOW" | "DEBUG" => continue,
            // It is about a test that it could not carry out, not about what it found.
            "WARN" => {
                findings.untested.push(format!("{name}: {words}"));
                continue;
            }
            _ => {}
        }
        match EXCUSED.iter().find(|(excused, _)| *excused == name) {
            Some((_, reason)) => findings.excused.push(format!("{name} ({reason})")),
            None => findings
                .above_low
                .push(format!("{name} {severity}: {words}")),
        }
    }
    Some(findings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bar::Verdict;

    #[test]
    fn what_is_above_low_is_named() {
        let report = r#"[
          { "id": "TLS1_2", "severity": "OK", "finding": "offered" },
          { "id": "HSTS", "severity": "LOW", "finding": "not offered" },
          { "id": "SSLv3", "severity": "CRITICAL", "finding": "offered" },
          { "id": "scanProblem", "severity": "FATAL", "finding": "no answer" },
          { "id": "BREACH", "severity": "WARN", "finding": "no body" }
        ]"#;
        let found = findings(report).unwrap();
        assert_eq!(found.looked_at, 5);
        assert_eq!(found.untested, ["BREACH: no body"]);
        assert_eq!(
            found.above_low,
            ["SSLv3 CRITICAL: offered", "scanProblem FATAL: no answer"]
        );
        assert_eq!(findings("{"), None);
    }

    #[test]
    fn what_was_not_carried_out_says_nothing() {
        let check = |untested: usize, expected| {
            let found = Findings {
                looked_at: 9,
                untested: vec!["BREACH".to_owned(); untested],
                ..Findings::default()
            };
            assert_eq!(bar(&found).verdict, expected, "{untested}");
        };
        check(UNTESTED, Verdict::Held);
        check(UNTESTED + 1, Verdict::Failed);
    }
}
