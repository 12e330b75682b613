//! `h2spec` examines how our gateway and our mock speak HTTP/2. It comes from `bench/peers/install h2spec`.

use super::Check;
use crate::bar::Bar;
use crate::bench::{Bench, Error};
use crate::child::Child;
use crate::foreign::peer;
use crate::gateway::Gateway;
use crate::mock::Mock;
use plimsoll_testbed::authority::Authority;
use std::fs::File;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

pub const CHECK: Check = Check {
    name: "h2spec",
    about: "h2spec examines the HTTP/2 of gateway and mock",
    run,
};

/// Whom, and by what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Gateway(Transport),
    Mock(Transport),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Transport {
    /// By prior knowledge.
    Clear,
    /// By ALPN.
    Tls,
}

static TARGETS: [Target; 4] = [
    Target::Gateway(Transport::Clear),
    Target::Gateway(Transport::Tls),
    Target::Mock(Transport::Clear),
    Target::Mock(Transport::Tls),
];

/// The path that is asked for: its answer has a body.
const PATH: &str = "/json/valid";
/// The longest that all cases take; each that waits in vain takes two seconds.
const PATIENCE: Duration = Duration::from_secs(300);

/// Of its 146 cases, so many must pass in the long form: it has carried them out.
const CASES: usize = 140;

/// A case that asks for a connection that ends without a word. In clear a port speaks HTTP/1.1, too, to whom that preface is a request, and a
/// malformed one: it is answered 400, and then the connection ends. (RFC 9113 §3.4 wants it to end, and allows it to end without a GOAWAY.)
const OF_HTTP1: &str = "http2/3.5 Sends invalid connection preface";

/// The results of the cases.
#[derive(Debug, Default, PartialEq, Eq)]
struct Results {
    passed: usize,
    skipped: usize,
    /// Those that did not pass, and need not.
    excused: usize,
    /// By section and title.
    failed: Vec<String>,
}

impl Target {
    fn name(self) -> &'static str {
        match self {
            Self::Gateway(Transport::Clear) => "gateway, in clear",
            Self::Gateway(Transport::Tls) => "gateway, over TLS",
            Self::Mock(Transport::Clear) => "mock, in clear",
            Self::Mock(Transport::Tls) => "mock, over TLS",
        }
    }

    fn transport(self) -> Transport {
        let (Self::Gateway(transport) | Self::Mock(transport)) = self;
        transport
    }
}

fn run(bench: &Bench) -> Result<Vec<Bar>, Error> {
    let mut bars = Vec::new();
    for target in TARGETS {
        bench.progress(target.name());
        let examined = bench.witnessed(|| examine(bench, target).map(|bar| vec![bar]));
        bars.extend(Bar::part(target.name(), examined));
    }
    Ok(bars)
}

fn examine(bench: &Bench, target: Target) -> Result<Bar, Error> {
    let program = peer("h2spec")?;
    let mock = match target {
        Target::Mock(Transport::Tls) => Mock::start_secured(bench)?,
        Target::Gateway(_) | Target::Mock(Transport::Clear) => Mock::start(bench, &[])?,
    };
    let gateway = match target {
        Target::Gateway(transport) => Some(gateway(bench, mock.address, transport)?),
        Target::Mock(_) => None,
    };
    let address = match &gateway {
        Some(gateway) => gateway.main()?,
        None => mock.address,
    };
    // In the short form one section, which shows that it works.
    let sections = bench.pick(&[][..], &["http2/4"][..]);
    let results = ask(bench, &program, (address, target.transport()), sections)?;
    if let Some(gateway) = gateway {
        gateway.child.terminate()?;
    }
    mock.stop()?;
    let Results {
        passed,
        skipped,
        excused,
        failed,
    } = &results;
    let mut measured = format!(
        "{passed} passed, {skipped} skipped, {} failed",
        failed.len()
    );
    if *excused > 0 {
        measured = format!("{measured}; answered as HTTP/1.1: {OF_HTTP1}");
    }
    if !failed.is_empty() {
        measured = format!("{measured}: {}", failed.join("; "));
    }
    let least = bench.pick(CASES, 1);
    let held = failed.is_empty() && *passed >= least;
    let limit = format!("no case fails, and {least} or more pass");
    Ok(Bar::judged(target.name(), limit, measured, held))
}

fn gateway(bench: &Bench, mock: SocketAddr, transport: Transport) -> Result<Gateway, Error> {
    let (tls, mut files) = match transport {
        Transport::Clear => ("", Vec::new()),
        Transport::Tls => {
            let issued = Authority::new()?.issue(&["localhost"])?;
            let tls = ", tls: { certificate: server.pem, key: server.key }";
            let files = vec![
                ("server.pem", issued.certificate),
                ("server.key", issued.key),
            ];
            (tls, files)
        }
    };
    let config = format!(
        "version: 1\nlisteners: {{ main: {{ address: \"127.0.0.1:0\"{tls} }} }}\nhttp2: {{}}\n\
         upstreams: {{ mock: {{ endpoints: [\"http://{mock}\"] }} }}\nroutes: [{{ path: /, upstream: mock }}]\n"
    );
    files.push(("gateway.yaml", config));
    Gateway::start(bench, &files, &[])
}

fn ask(
    bench: &Bench,
    program: &Path,
    (address, transport): (SocketAddr, Transport),
    sections: &[&str],
) -> Result<Results, Error> {
    let directory = bench.directory()?;
    let report = directory.join("report.xml");
    let said = File::create(directory.join("said")).map_err(Error::when("creating a log"))?;
    let mut command = Command::new(program);
    command
        .args(sections)
        .args(["-h", "127.0.0.1", "-p", &address.port().to_string()])
        .args(["-P", PATH, "-j"])
        .arg(&report)
        .stdin(Stdio::null())
        .stdout(said)
        .stderr(Stdio::null());
    if transport == Transport::Tls {
        command.args(["-t", "-k"]);
    }
    // It fails when a case does, which its report says.
    Child::spawn(&mut command)?.wait(PATIENCE)?;
    let text = std::fs::read_to_string(&report).map_err(|_| {
        let said = std::fs::read_to_string(directory.join("said")).unwrap_or_default();
        let last = said.lines().last().unwrap_or_default().to_owned();
        Error::Measured(format!("h2spec made no report: {last}"))
    })?;
    Ok(results(&text, transport))
}

/// Reads a report in JUnit's form: an element for each case, with another in it if it did not pass.
fn results(report: &str, transport: Transport) -> Results {
    let mut results = Results::default();
    for case in report.split("<testcase ").skip(1) {
        let case = case.split("</testcase>").next().unwrap_or_default();
        if case.contains("<failure") || case.contains("<error") {
            let (section, title) = (attribute(case, "package"), attribute(case, "classname"));
            let name = format!("{section} {title}");
            match transport == Transport::Clear && name == OF_HTTP1 {
                true => results.excused += 1,
                false => results.failed.push(name),
            }
        } else if case.contains("<skipped") {
            results.skipped += 1;
        } else {
            results.passed += 1;
        }
    }
    results
}

fn attribute(element: &str, name: &str) -> String {
    let begin = format!("{name}=\"");
    let value = element
        .split_once(&begin)
        .and_then(|(_, rest)| rest.split('"').next())
        .unwrap_or_default();
    value
        .replace("&#34;", "\"")
        .replace("&#39;", "'")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_counted_and_failures_are_named() {
        let report = r#"<testsuites><testsuite name="4.1. Frame Format" tests="3">
  <testcase package="http2/4.1" classname="Sends a frame with unknown type" time="0.0003"></testcase>
  <testcase package="http2/4.2" classname="Sends a &#34;large&#34; frame" time="2.0"><failure>Expect: x</failure></testcase>
  <testcase package="http2/4.3" classname="y" time="0"><skipped></skipped></testcase>
</testsuite></testsuites>"#;
        let expected = Results {
            passed: 1,
            skipped: 1,
            excused: 0,
            failed: vec!["http2/4.2 Sends a \"large\" frame".to_owned()],
        };
        assert_eq!(results(report, Transport::Clear), expected);
        assert_eq!(results("", Transport::Tls), Results::default());
        let (package, classname) = OF_HTTP1.split_once(' ').unwrap();
        let preface = format!(
            "<testcase package=\"{package}\" classname=\"{classname}\"><error>x</error></testcase>"
        );
        assert_eq!(results(&preface, Transport::Clear).excused, 1);
        assert_eq!(results(&preface, Transport::Tls).failed, [OF_HTTP1]);
    }
}
