//! Starts `plimsoll`, waits for it, and talks to it.

use crate::processes::now;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// A directory of its own for one test.
pub struct Workspace(TempDir);

/// Output of a program that has ended.
#[derive(Debug)]
pub struct Finished {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Workspace {
    pub fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file, with the directories above it.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name))
            .unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// The command, not started yet, in this directory.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
        self.complete(&mut command, args);
        command
    }

    /// The command, started by a shell that has carried out `line` before.
    pub fn command_after(&self, line: &str, args: &[&str]) -> Command {
        self.started_by(Command::new("sh"), line, args)
    }

    /// Likewise, in a network of its own with its loopback interface, which needs root: nobody else's segments are in it.
    pub fn command_apart(&self, line: &str, args: &[&str]) -> Command {
        self.started_by(own_network(), &format!("{LOOPBACK} && {line}"), args)
    }

    fn started_by(&self, mut shell: Command, line: &str, args: &[&str]) -> Command {
        shell.arg("-c").arg(format!("{line} && exec \"$0\" \"$@\""));
        shell.arg(env!("CARGO_BIN_EXE_plimsoll"));
        self.complete(&mut shell, args);
        shell
    }

    fn complete(&self, command: &mut Command, args: &[&str]) {
        command
            .args(args)
            .current_dir(self.path())
            // What the person at this machine has stored is none of a test's business.
            .env("XDG_STATE_HOME", self.path().join("state"))
            .stdin(Stdio::null());
    }

    /// Runs it to its end.
    pub fn run(&self, args: &[&str]) -> Finished {
        Finished::of(self.command(args).output().unwrap())
    }

    /// Runs what records into `run` to its end, and again while a machine that is busy with other things makes the measurement invalid.
    pub fn run_until_valid(&self, args: &[&str]) -> Finished {
        until_valid(self, || self.command(args))
    }

    /// Runs it to its end, with so many KiB that each process may allocate.
    pub fn run_within(&self, memory: &str, args: &[&str]) -> Finished {
        let mut command = self.command_after(&format!("ulimit -d {memory}"), args);
        Finished::of(command.output().unwrap())
    }

    /// Runs it until a line of standard error has what is looked for, sends it an interrupt, and waits for its end.
    pub fn run_until(&self, args: &[&str], seen: impl Fn(&str) -> bool) -> Finished {
        let mut command = self.command(args);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let (mut line, mut said) = (String::new(), String::new());
        while !seen(&line) {
            line.clear();
            let read = stderr.read_line(&mut line).unwrap();
            assert!(read > 0, "ended before it was to be interrupted:\n{said}");
            said += &line;
        }
        signal(child.id(), "INT");
        let mut finished = Finished::of(child.wait_with_output().unwrap());
        stderr.read_to_string(&mut said).unwrap();
        finished.stderr = said;
        finished
    }

    /// Writes a server of Python's for a `command`, which says "out of luck" and ends after so many requests.
    pub fn write_mortal_server(&self, name: &str, requests: u32) {
        let script = "import http.server,os,sys\n\
            class H(http.server.BaseHTTPRequestHandler):\n\
            \x20   n=0\n\
            \x20   def do_GET(self):\n\
            \x20       H.n+=1\n\
            \x20       if H.n>@requests@: sys.stderr.write('out of luck\\n'); sys.stderr.flush(); os._exit(9)\n\
            \x20       self.send_response(200); self.send_header('Content-Length','0'); self.end_headers()\n\
            \x20   def log_message(self,*a): pass\n\
            http.server.HTTPServer(('127.0.0.1',int(sys.argv[1])),H).serve_forever()\n";
        self.write(name, &script.replace("@requests@", &requests.to_string()));
    }

    /// Runs an experiment file of this directory into `run`.
    pub fn experiment(&self, file: &str, more: &[&str]) -> Finished {
        self.run(&[&experiment_args(file), more].concat())
    }

    /// Likewise, and again as [`Self::run_until_valid`] does; with a target of its own, and so apart from what other tests send again, where this
    /// user may have networks.
    pub fn experiment_until_valid(&self, file: &str, more: &[&str]) -> Finished {
        let args = [&experiment_args(file), more].concat();
        let tried = own_network().args(["-c", LOOPBACK]).output();
        match tried.is_ok_and(|tried| tried.status.success()) {
            true => until_valid(self, || self.command_apart("true", &args)),
            false => self.run_until_valid(&args),
        }
    }
}

/// Brings a network of its own its loopback interface.
const LOOPBACK: &str = "ip link set lo up";

/// A shell in a network of its own.
fn own_network() -> Command {
    let mut shell = Command::new("unshare");
    shell.args(["--net", "sh"]);
    shell
}

fn until_valid(workspace: &Workspace, command: impl Fn() -> Command) -> Finished {
    const INVALID: Option<i32> = Some(4);
    let run = || Finished::of(command().output().unwrap());
    let mut finished = run();
    for _ in 0..5 {
        if finished.code != INVALID {
            break;
        }
        std::fs::remove_dir_all(workspace.path().join("run")).unwrap();
        finished = run();
    }
    finished
}

/// Arguments to run an experiment file into `run`.
pub fn experiment_args(file: &str) -> [&str; 6] {
    ["run", file, "--out", "run", "--seed", "7"]
}

impl Finished {
    pub fn of(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Fails with everything said unless the exit code is `code`.
    pub fn ended_with(self, code: i32) -> Self {
        assert_eq!(
            self.code,
            Some(code),
            "stdout:\n{}\nstderr:\n{}",
            self.stdout,
            self.stderr
        );
        self
    }

    /// Fails unless standard error contains `text`.
    pub fn saying(self, text: &str) -> Self {
        assert!(
            self.stderr.contains(text),
            "`{text}` is not in:\n{}",
            self.stderr
        );
        self
    }
}

/// A server of ours, ended when dropped.
pub struct Server {
    child: Child,
    pub listening: BTreeMap<String, SocketAddr>,
    /// Its standard output, if that is a pipe which nobody reads.
    _unread: Option<ChildStdout>,
}

impl Server {
    /// Starts `plimsoll` with these arguments and waits until it has announced where it listens.
    pub fn start(workspace: &Workspace, args: &[&str]) -> Self {
        Self::spawn(workspace.command(args))
    }

    /// Starts `plimsoll` with its standard error in a file of the workspace.
    pub fn start_told(workspace: &Workspace, log: &str, args: &[&str]) -> Self {
        let log = std::fs::File::create(workspace.path().join(log)).unwrap();
        let mut command = workspace.command(args);
        command.stderr(log);
        Self::spawn(command)
    }

    /// Starts `plimsoll` with a standard output that is not read, and on which it does not announce itself either: where it listens is looked up
    /// in the log.
    pub fn start_unread(workspace: &Workspace, log: &str, args: &[&str]) -> Self {
        let file = std::fs::File::create(workspace.path().join(log)).unwrap();
        let mut command = workspace.command(args);
        let mut child = command.stdout(Stdio::piped()).stderr(file).spawn().unwrap();
        let unread = child.stdout.take();
        let mut server = Self {
            child,
            listening: BTreeMap::new(),
            _unread: unread,
        };
        while server.listening.len() < 2 {
            assert_eq!(server.child.try_wait().unwrap(), None);
            let said = workspace.read(log);
            let lines = said.lines().filter_map(|line| line.split_once("http://"));
            let places = lines.filter_map(|(_, place)| place.strip_suffix(')')?.split_once(" ("));
            server.listening = places
                .map(|(at, name)| (name.to_owned(), at.parse().unwrap()))
                .collect();
        }
        server
    }

    /// Starts `plimsoll` with so many descriptors.
    pub fn start_with_descriptors(workspace: &Workspace, limit: u32, args: &[&str]) -> Self {
        Self::spawn(workspace.command_after(&format!("ulimit -n {limit}"), args))
    }

    fn spawn(mut command: Command) -> Self {
        let mut child = command
            .arg("--announce")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let announced: Value = serde_json::from_str(&line)
            .unwrap_or_else(|error| panic!("{command:?}: {line:?}: {error}"));
        let listening = announced["listening"].as_object().unwrap().iter();
        let listening = listening
            .map(|(name, addr)| (name.clone(), addr.as_str().unwrap().parse().unwrap()))
            .collect();
        Self {
            child,
            listening,
            _unread: None,
        }
    }

    pub fn main(&self) -> SocketAddr {
        self.listening["main"]
    }

    /// A mock that answers everything with 200 and remembers the last requests.
    pub fn that_remembers(workspace: &Workspace) -> Self {
        workspace.write(
            "stubs/mappings/any.json",
            r#"{"request":{"urlPattern":".*"},"response":{"status":200}}"#,
        );
        let mock = ["mock", "--port", "0", "--root-dir", "stubs"];
        let journal = ["--max-request-journal-entries", "1000"];
        Self::start(workspace, &[&mock[..], &journal].concat())
    }

    /// The requests that it remembers, in the order in which they came.
    pub fn requests(&self) -> Vec<Value> {
        let answer = get(self.main(), "/__admin/requests?limit=1000");
        let (_, journal) = answer.split_once("\r\n\r\n").unwrap();
        let journal: Value = serde_json::from_str(journal).unwrap();
        let events = journal["requests"].as_array().unwrap().iter().rev();
        events.map(|event| event["request"].clone()).collect()
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Kills it at once.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for an end that something else brings, and gives its exit code.
    pub fn ended(mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }

    /// Whether it ends within this time, and with which exit code.
    pub fn ends_within(&mut self, time: Duration) -> Option<Option<i32>> {
        let mut status = None;
        let ended = || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        };
        within(time, ended).then(|| status.unwrap().code())
    }

    /// Asks it to end and gives its exit code.
    pub fn stop(mut self) -> Option<i32> {
        signal(self.child.id(), "TERM");
        self.child.wait().unwrap().code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Already ended is as good.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Whether this comes within so long.
pub fn within(time: Duration, mut has_come: impl FnMut() -> bool) -> bool {
    let begun = now();
    while now() - begun < time {
        if has_come() {
            return true;
        }
        std::thread::yield_now();
    }
    false
}

/// Sends a signal by name.
pub fn signal(pid: u32, name: &str) {
    assert!(
        Command::new("kill")
            .args([format!("-{name}"), pid.to_string()])
            .status()
            .unwrap()
            .success()
    );
}

/// One exchange over a connection of its own; the whole answer as text.
pub fn exchange(addr: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(addr).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// A GET whose connection ends with the answer.
pub fn get(addr: SocketAddr, path: &str) -> String {
    exchange(
        addr,
        &format!("GET {path} HTTP/1.1\r\nHost: {addr}\r\nConnection: close\r\n\r\n"),
    )
}
