//! Secrets that components print of themselves: masked in logs, events and messages, whatever the writes were, with no line lost.

use crate::program::{Finished, Workspace, experiment_args};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// Variables of whoever runs the experiment.
const KEY: &str = "K3y-of-the-env";
/// Content of a file.
const PASSWORD: &str = "pass\"word, quoted";
/// More than a pipe takes.
const LINES: usize = 100_000;

fn run(workspace: &Workspace, file: &str) -> Finished {
    let mut command = workspace.command(&experiment_args(file));
    Finished::of(command.env("KEY", KEY).output().unwrap())
}

/// Every file below a directory, by its name.
fn files(directory: &Path, found: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files(&path, found),
            false => found.push((path.display().to_string(), std::fs::read(&path).unwrap())),
        }
    }
}

/// Fails if one of these is in a file of the run or in what was said.
fn check_hidden(workspace: &Workspace, finished: &Finished, secrets: &[&str]) {
    let mut found = vec![
        ("stdout".to_owned(), finished.stdout.clone().into_bytes()),
        ("stderr".to_owned(), finished.stderr.clone().into_bytes()),
    ];
    files(&workspace.path().join("run"), &mut found);
    for (name, content) in &found {
        let content = String::from_utf8_lossy(content);
        for secret in secrets {
            assert!(!content.contains(secret), "{secret} is in {name}");
        }
    }
    let log = workspace.path().join("run/logs/part.log");
    let mode = log.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn what_a_component_prints_before_it_dies() {
    let workspace = Workspace::new();
    workspace.write("password.txt", &format!("{PASSWORD}\n"));
    // In two writes, on both streams, as JSON, without an end of the line, and among many lines.
    let script = format!(
        "echo \"$TOKEN\" > token.seen\n\
         head=${{KEY%????}}\n\
         printf 'key %s' \"$head\"\n\
         printf '%s, done\\n' \"${{KEY#$head}}\"\n\
         echo '{{\"password\":\"pass\\\"word, quoted\"}}' >&2\n\
         echo \"password $PASSWORD\"\n\
         seq {LINES}\n\
         printf 'token %s' \"$TOKEN\" >&2\n\
         exit 3\n"
    );
    workspace.write("prints.sh", &script);
    let text = "version: 1\nname: masked\ncomponents:\n  part:\n    command: [sh, prints.sh]\n    \
        env: { TOKEN: \"${secret.token}\", KEY: \"${env:KEY}\", PASSWORD: \"${file:password.txt}\" }\n\
        scenario:\n  - { get: / }\nload: { rate: 50/s, connections: 2, duration: 30s }\n";
    workspace.write("masked.yaml", text);
    let finished = run(&workspace, "masked.yaml")
        .ended_with(5)
        .saying("token ***");
    let token = workspace.read("token.seen");
    check_hidden(&workspace, &finished, &[token.trim(), KEY, PASSWORD]);
    let log = workspace.read("run/logs/part.log");
    let numbers: String = (1..=LINES).map(|number| format!("{number}\n")).collect();
    let before = "key ***, done\n{\"password\":\"***\"}\npassword ***\n";
    assert_eq!(log, format!("{before}{numbers}token ***"));
}

#[test]
fn what_a_component_prints_of_requests() {
    let workspace = Workspace::new();
    let server = "import http.server,os,sys\n\
        class H(http.server.BaseHTTPRequestHandler):\n\
        \x20   n=0\n\
        \x20   def do_GET(self):\n\
        \x20       H.n+=1\n\
        \x20       sys.stderr.write('got '+str(self.headers['Authorization'])+'\\n'); sys.stderr.flush()\n\
        \x20       if H.n>20: os._exit(9)\n\
        \x20       self.send_response(200); self.send_header('Content-Length','0'); self.end_headers()\n\
        \x20   def log_message(self,*a): pass\n\
        http.server.HTTPServer(('127.0.0.1',int(sys.argv[1])),H).serve_forever()\n";
    workspace.write("server.py", server);
    let text = "version: 1\nname: masked\ncomponents:\n  part: { command: [python3, server.py, \"${self.port}\"] }\n\
        scenario:\n  - { get: /, headers: { Authorization: \"Bearer ${env:KEY}\" } }\n\
        load: { rate: 50/s, connections: 2, duration: 30s }\n";
    workspace.write("masked.yaml", text);
    let finished = run(&workspace, "masked.yaml")
        .ended_with(4)
        .saying("got Bearer ***");
    check_hidden(&workspace, &finished, &[KEY]);
    let log = workspace.read("run/logs/part.log");
    assert!(
        log.lines()
            .all(|line| ["got Bearer ***", "got None"].contains(&line)),
        "{log}"
    );
}
