//! gRPC's own interop client calls its interop server through our gateway; both are those of Go. They come from
//! `bench/peers/install grpc-client grpc-server`.
//!
//! Each case is called without the gateway, too: what fails there as well is named and not held against us. Left out are the cases that need
//! somebody's credentials.

use super::Check;
use crate::bar::Bar;
use crate::bench::{Bench, Error};
use crate::child::Child;
use crate::foreign::Foreign;
use crate::foreign::peer;
use crate::gateway::Gateway;
use crate::interrupt;
use plimsoll_testbed::authority::Authority;
use std::fs::File;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

pub const CHECK: Check = Check {
    name: "grpc",
    about: "gRPC's interop client calls its server through the gateway",
    run,
};

/// Where there is TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Secured {
    Nowhere,
    ClientsSide,
    BothSides,
}

static WAYS: [Secured; 3] = [Secured::Nowhere, Secured::ClientsSide, Secured::BothSides];

/// One call of the client, or many of the same.
struct Case {
    name: &'static str,
    flags: &'static [&'static str],
}

/// Reports of a server's load are looked at by a balancer that the client has for them.
const REPORTS: &[&str] = &[
    r#"--service_config_json={"loadBalancingConfig":[{"test_backend_metrics_load_balancer":{}}]}"#,
];
/// Eight callers at once; how long each call takes is not what is examined.
const SOAK: &[&str] = &[
    "--soak_num_threads=8",
    "--soak_iterations=240",
    "--soak_per_iteration_max_acceptable_latency_ms=10000",
    "--soak_overall_timeout_seconds=30",
];

static CASES: [Case; 19] = [
    plain("empty_unary"),
    plain("large_unary"),
    plain("client_streaming"),
    plain("server_streaming"),
    plain("ping_pong"),
    plain("empty_stream"),
    plain("timeout_on_sleeping_server"),
    plain("cancel_after_begin"),
    plain("cancel_after_first_response"),
    plain("status_code_and_message"),
    plain("special_status_message"),
    plain("custom_metadata"),
    plain("unimplemented_method"),
    plain("unimplemented_service"),
    plain("pick_first_unary"),
    with("orca_per_rpc", REPORTS),
    with("orca_oob", REPORTS),
    // Calls with large messages, on one connection and on one for each.
    with("rpc_soak", SOAK),
    with("channel_soak", SOAK),
];

const fn plain(name: &'static str) -> Case {
    with(name, &[])
}

const fn with(name: &'static str, flags: &'static [&'static str]) -> Case {
    Case { name, flags }
}

/// The longest that a case may take; some give up by themselves after 30 seconds.
const PATIENCE: Duration = Duration::from_secs(40);
/// So many cases may fail without the gateway too: a server of Go does not say which one it is, as `pick_first_unary` wants it to.
const FAIL_ANYWAY: usize = 1;
/// Characters of a client's last words.
const MOST_WORDS: usize = 200;

/// How a case came out; if it failed, with the client's last words.
type Outcome = Result<(), String>;

/// A case and how it came out.
struct Called {
    case: &'static str,
    through: Outcome,
    without: Outcome,
}

/// A certificate for `localhost`, its key and its authority's certificate.
struct Papers {
    certificate: PathBuf,
    key: PathBuf,
    authority: PathBuf,
}

/// Whom the client calls, and over TLS if there is the certificate of an authority.
struct Server<'a> {
    address: SocketAddr,
    authority: Option<&'a Path>,
}

impl Secured {
    fn name(self) -> &'static str {
        match self {
            Self::Nowhere => "in clear",
            Self::ClientsSide => "TLS at the client's side",
            Self::BothSides => "TLS at both sides",
        }
    }

    fn client(self) -> bool {
        self != Self::Nowhere
    }

    fn server(self) -> bool {
        self == Self::BothSides
    }
}

fn run(bench: &Bench) -> Result<Vec<Bar>, Error> {
    let mut bars = Vec::new();
    for way in WAYS {
        bench.progress(way.name());
        let examined = bench.witnessed(|| examine(bench, way).map(|bar| vec![bar]));
        bars.extend(Bar::part(way.name(), examined));
    }
    Ok(bars)
}

fn examine(bench: &Bench, way: Secured) -> Result<Bar, Error> {
    let client = peer("grpc-client")?;
    let papers = Papers::issue(bench.directory()?)?;
    let upstream = upstream(&peer("grpc-server")?, way, &papers)?;
    let gateway = gateway(bench, upstream.address, way, &papers)?;
    let authority = |secured: bool| secured.then_some(papers.authority.as_path());
    let through = Server {
        address: gateway.main()?,
        authority: authority(way.client()),
    };
    let without = Server {
        address: upstream.address,
        authority: authority(way.server()),
    };
    // In the short form every fourth case.
    let cases = CASES.iter().step_by(bench.pick(1, 4));
    let mut called = Vec::new();
    for case in cases {
        interrupt::check()?;
        called.push(Called {
            case: case.name,
            through: call(bench, &client, case, &through)?,
            without: call(bench, &client, case, &without)?,
        });
    }
    gateway.child.terminate()?;
    Ok(judged(way.name(), &called))
}

impl Papers {
    fn issue(directory: PathBuf) -> Result<Self, Error> {
        let authority = Authority::new()?;
        let issued = authority.issue(&["localhost"])?;
        let write = |name, text: &str| {
            let path = directory.join(name);
            let written = std::fs::write(&path, text);
            written.map_err(Error::when(format!("writing {name}")))?;
            Ok(path)
        };
        Ok(Self {
            certificate: write("server.pem", &issued.certificate)?,
            key: write("server.key", &issued.key)?,
            authority: write("ca.pem", authority.certificate())?,
        })
    }
}

fn upstream(program: &Path, way: Secured, papers: &Papers) -> Result<Foreign, Error> {
    Foreign::told("grpc-server", |address| {
        let mut command = Command::new(program);
        command.arg(format!("--port={}", address.port()));
        if way.server() {
            command.arg("--use_tls");
            command.arg("--tls_cert_file").arg(&papers.certificate);
            command.arg("--tls_key_file").arg(&papers.key);
        }
        Ok(command)
    })
}

fn gateway(
    bench: &Bench,
    upstream: SocketAddr,
    way: Secured,
    papers: &Papers,
) -> Result<Gateway, Error> {
    let Papers {
        certificate,
        key,
        authority,
    } = papers;
    let listener = match way.client() {
        true => format!(", tls: {{ certificate: {certificate:?}, key: {key:?} }}"),
        false => String::new(),
    };
    let (scheme, tls) = match way.server() {
        true => (
            "https",
            format!(", tls: {{ ca: {authority:?}, server_name: localhost }}"),
        ),
        false => ("http", String::new()),
    };
    let config = format!(
        "version: 1\nlisteners: {{ main: {{ address: \"127.0.0.1:0\"{listener} }} }}\nhttp2: {{ streams: 128 }}\n\
         upstreams: {{ up: {{ endpoints: [\"{scheme}://{upstream}\"], http2: true{tls} }} }}\nroutes: [{{ path: /, upstream: up }}]\n"
    );
    Gateway::start(bench, &[("gateway.yaml", config)], &[])
}

/// Has the client call a case.
fn call(bench: &Bench, program: &Path, case: &Case, server: &Server<'_>) -> Result<Outcome, Error> {
    let said = bench.directory()?.join("said");
    let log = File::create(&said).map_err(Error::when("creating a log"))?;
    let mut command = Command::new(program);
    command
        .arg("--server_host=127.0.0.1")
        .arg(format!("--server_port={}", server.address.port()))
        .arg(format!("--test_case={}", case.name))
        .args(case.flags)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log);
    if let Some(authority) = server.authority {
        command.args([
            "--use_tls",
            "--use_test_ca",
            "--server_host_override=localhost",
        ]);
        command.arg("--ca_file").arg(authority);
    }
    match Child::spawn(&mut command)?.wait(PATIENCE) {
        Ok(status) if status.success() => Ok(Ok(())),
        Ok(status) => {
            let text = std::fs::read_to_string(&said).unwrap_or_default();
            Ok(Err(last_words(&text).unwrap_or_else(|| status.to_string())))
        }
        // It hangs.
        Err(Error::Measured(words)) => Ok(Err(words)),
        Err(error) => Err(error),
    }
}

/// Why a client gave up: the line that it calls fatal, or its last.
fn last_words(said: &str) -> Option<String> {
    let lines = || said.lines().filter(|line| !line.trim().is_empty());
    let line = lines()
        .rfind(|line| line.contains("FATAL"))
        .or(lines().next_back())?;
    Some(line.chars().take(MOST_WORDS).collect())
}

fn judged(what: &str, called: &[Called]) -> Bar {
    let passed = |outcome: fn(&Called) -> &Outcome| {
        let passed = called.iter().filter(|called| outcome(called).is_ok());
        passed.count()
    };
    let (through, without) = (passed(|it| &it.through), passed(|it| &it.without));
    let all = called.len();
    let mut measured = format!("{through} of {all} cases pass, {without} without the gateway");
    let mut ours = 0;
    for Called {
        case,
        through,
        without,
    } in called
    {
        let Err(words) = through else { continue };
        ours += usize::from(without.is_ok());
        let whose = match without {
            Ok(()) => "fails",
            Err(_) => "fails without the gateway, too",
        };
        measured = format!("{measured}; {case} {whose}: {words}");
    }
    let least = all.saturating_sub(FAIL_ANYWAY).max(1);
    let held = ours == 0 && through >= least;
    let limit = format!("no case fails that passes without the gateway, and {least} or more pass");
    Bar::judged(what, limit, measured, held)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bar::Verdict;

    const PASSES: Outcome = Ok(());

    fn fails() -> Outcome {
        Err("FATAL: why".to_owned())
    }

    #[test]
    fn what_fails_only_behind_the_gateway_is_its_own() {
        let check = |outcomes: &[(Outcome, Outcome)], verdict: Verdict, measured: &str| {
            let called: Vec<Called> = outcomes
                .iter()
                .map(|(through, without)| Called {
                    case: "case",
                    through: through.clone(),
                    without: without.clone(),
                })
                .collect();
            let bar = judged("a way", &called);
            assert_eq!((bar.verdict, bar.measured.as_str()), (verdict, measured));
        };
        let fine = || (PASSES, PASSES);
        let counted = "2 of 2 cases pass, 2 without the gateway";
        check(&[fine(), fine()], Verdict::Held, counted);
        let ours = "1 of 2 cases pass, 2 without the gateway; case fails: FATAL: why";
        check(&[fine(), (fails(), PASSES)], Verdict::Failed, ours);
        let anyway = "1 of 2 cases pass, 1 without the gateway; case fails without the gateway, too: FATAL: why";
        check(&[fine(), (fails(), fails())], Verdict::Held, anyway);
        let nothing = format!(
            "0 of 2 cases pass, 0 without the gateway{}",
            "; case fails without the gateway, too: FATAL: why".repeat(2)
        );
        let broken = [(fails(), fails()), (fails(), fails())];
        check(&broken, Verdict::Failed, &nothing);
        check(
            &[],
            Verdict::Failed,
            "0 of 0 cases pass, 0 without the gateway",
        );
    }

    #[test]
    fn last_words_are_the_fatal_ones() {
        let check = |said: &str, expected: Option<&str>| {
            assert_eq!(last_words(said).as_deref(), expected);
        };
        check("one\nFATAL: it\n\n", Some("FATAL: it"));
        check("FATAL: it\nexit status 1\n", Some("FATAL: it"));
        check("one\ntwo\n", Some("two"));
        check("\n", None);
        let long = "x".repeat(MOST_WORDS + 1);
        check(&long, Some(&long[1..]));
    }
}
