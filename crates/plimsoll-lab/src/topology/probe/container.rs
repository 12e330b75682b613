//! Where a container's processes are, asked of the engine that runs it: Docker's API over its unix socket, which Podman speaks too
//! (docs.docker.com, "Docker Engine API", "Inspect a container").
//!
//! The engine is asked once, when the run begins; what the processes use is then read as of any control group.

use crate::topology::cgroup::Groups;
use crate::topology::http_get;
use plimsoll_experiment::ContainerProbe;
use serde_json::Value;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::net::UnixStream;
use tokio::time::timeout;

/// How long an engine may take to answer.
const WITHIN: Duration = Duration::from_secs(5);

/// A container that runs.
#[derive(Debug, PartialEq, Eq)]
pub struct Container {
    /// Its first process, as this host counts them.
    pub pid: u32,
    /// Its control group, unless that is one that others are in too.
    pub group: Option<PathBuf>,
}

impl Container {
    /// Asks the engine.
    ///
    /// # Errors
    /// Why it cannot be found, in words.
    pub async fn find(probe: &ContainerProbe) -> Result<Self, String> {
        let answer = timeout(WITHIN, inspect(probe)).await;
        let answer = answer.map_err(|_| {
            let (socket, seconds) = (probe.socket.display(), WITHIN.as_secs());
            format!("the engine at {socket} gives no answer within {seconds} s")
        })??;
        let (pid, id) = process(probe, &answer)?;
        if !Path::new(&format!("/proc/{pid}")).is_dir() {
            return Err(format!(
                "the container `{}` is process {pid} of another host: its engine is not of this one",
                probe.name
            ));
        }
        Ok(Self {
            pid,
            group: group(&Groups::of(pid), &Groups::of(std::process::id()), &id),
        })
    }
}

/// The engine's description of the container.
async fn inspect(probe: &ContainerProbe) -> Result<String, String> {
    let (socket, name) = (probe.socket.display(), &probe.name);
    let stream = UnixStream::connect(&probe.socket).await;
    let stream = stream.map_err(|error| unreachable(&probe.socket, &error))?;
    let failed = |why: String| format!("the engine at {socket}: {why}");
    let path = format!("/containers/{name}/json");
    let answer = http_get::get(stream, "localhost", &path).await;
    let answer = answer.map_err(failed)?;
    match answer.status() {
        200 => answer.body().await.map_err(failed),
        404 => Err(format!("there is no container `{name}` at {socket}")),
        other => Err(format!(
            "the engine at {socket} answers with status {other}"
        )),
    }
}

fn unreachable(socket: &Path, error: &Error) -> String {
    let socket = socket.display();
    match error.kind() {
        ErrorKind::NotFound => format!(
            "there is no engine at {socket}: start it, or write `socket: PATH` for where it listens"
        ),
        ErrorKind::PermissionDenied => format!(
            "the engine at {socket} may not be asked: run as root, or as a member of its socket's group"
        ),
        ErrorKind::ConnectionRefused => format!("connection refused at {socket}: start the engine"),
        _ => format!("the engine at {socket}: {error}"),
    }
}

/// The first process and the id of a container that runs.
fn process(probe: &ContainerProbe, answer: &str) -> Result<(u32, String), String> {
    let name = &probe.name;
    let told: Value = serde_json::from_str(answer).map_err(|_| {
        format!(
            "the engine at {} answers with no JSON",
            probe.socket.display()
        )
    })?;
    let pid = told["State"]["Pid"].as_u64();
    let pid = pid
        .and_then(|pid| u32::try_from(pid).ok())
        .filter(|pid| *pid > 0);
    let runs = told["State"]["Running"].as_bool().unwrap_or(false);
    match pid.filter(|_| runs) {
        Some(pid) => Ok((pid, told["Id"].as_str().unwrap_or_default().to_owned())),
        None => {
            let status = told["State"]["Status"].as_str().unwrap_or("not running");
            Err(format!(
                "the container `{name}` does not run: it is {status}"
            ))
        }
    }
}

/// The group that bears the container's id, or else the one that its process is in, if the lab is not in that too.
fn group(of: &Groups, labs: &Groups, id: &str) -> Option<PathBuf> {
    let pairs = [
        (&of.cpu, &labs.cpu),
        (&of.memory, &labs.memory),
        (&of.unified, &labs.unified),
    ];
    pairs.into_iter().find_map(|(own, lab)| {
        let own = own.as_ref()?;
        let named = own.ancestors().find(|group| {
            let name = group.file_name().and_then(|name| name.to_str());
            !id.is_empty() && name.is_some_and(|name| name.contains(id))
        });
        let group = named.unwrap_or(own);
        let is_shared = lab.as_ref().is_some_and(|lab| lab.starts_with(group));
        (!is_shared).then(|| group.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::UnixListener;

    fn probe(dir: &Path) -> ContainerProbe {
        ContainerProbe {
            name: "api".to_owned(),
            socket: dir.join("engine.sock"),
        }
    }

    /// The container `api` at an engine that answers so.
    async fn find(answer: &str) -> Result<Container, String> {
        let dir = tempfile::tempdir().unwrap();
        let probe = probe(dir.path());
        let listener = UnixListener::bind(&probe.socket).unwrap();
        let serve = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 256];
            let read = stream.read(&mut request).await.unwrap();
            assert!(request[..read].starts_with(b"GET /containers/api/json HTTP/1.1\r\n"));
            stream.write_all(answer.as_bytes()).await.unwrap();
        };
        let ((), found) = tokio::join!(serve, Container::find(&probe));
        let said = dir.path().display().to_string();
        found.map_err(|why| why.replace(&said, "/run"))
    }

    fn inspected(running: bool, pid: u32) -> String {
        let state = serde_json::json!({ "Running": running, "Pid": pid, "Status": "exited" });
        let body = serde_json::json!({ "Id": "0123abcd", "State": state });
        format!("HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{body}")
    }

    #[tokio::test]
    async fn a_container_that_runs() {
        let own = std::process::id();
        let found = find(&inspected(true, own)).await.unwrap();
        // The test itself is in the group, so that it is looked at as a process.
        assert_eq!((found.pid, found.group), (own, None));
    }

    #[tokio::test]
    async fn what_stands_in_the_way() {
        let stopped = find(&inspected(false, 0)).await.unwrap_err();
        insta::assert_snapshot!(stopped, @"the container `api` does not run: it is exited");
        let elsewhere = find(&inspected(true, u32::MAX)).await.unwrap_err();
        insta::assert_snapshot!(elsewhere, @"the container `api` is process 4294967295 of another host: its engine is not of this one");
        let unknown = find("HTTP/1.0 404 Not Found\r\n\r\n{}").await.unwrap_err();
        insta::assert_snapshot!(unknown, @"there is no container `api` at /run/engine.sock");
        let failing = find("HTTP/1.0 500 Oops\r\n\r\n{}").await.unwrap_err();
        insta::assert_snapshot!(failing, @"the engine at /run/engine.sock answers with status 500");
        let nonsense = find("HTTP/1.0 200 OK\r\n\r\nhello").await.unwrap_err();
        insta::assert_snapshot!(nonsense, @"the engine at /run/engine.sock answers with no JSON");
        let socket = Path::new("/run/engine.sock");
        let said = |kind| unreachable(socket, &Error::from(kind));
        insta::assert_snapshot!(said(ErrorKind::NotFound), @"there is no engine at /run/engine.sock: start it, or write `socket: PATH` for where it listens");
        insta::assert_snapshot!(said(ErrorKind::PermissionDenied), @"the engine at /run/engine.sock may not be asked: run as root, or as a member of its socket's group");
        insta::assert_snapshot!(said(ErrorKind::ConnectionRefused), @"connection refused at /run/engine.sock: start the engine");
        let absent = Container::find(&probe(Path::new("/nowhere"))).await;
        assert!(
            absent
                .unwrap_err()
                .starts_with("there is no engine at /nowhere")
        );
    }

    #[test]
    fn the_group_of_a_container() {
        let groups = |path: &str| Groups {
            cpu: Some(path.into()),
            ..Groups::default()
        };
        let labs = groups("/cg/user.slice/lab");
        let check = |path: &str, expected: Option<&str>| {
            let found = group(&groups(path), &labs, "0123abcd");
            assert_eq!(found, expected.map(PathBuf::from), "{path}");
        };
        let docker = "/cg/system.slice/docker-0123abcd.scope";
        check(docker, Some(docker));
        check(
            "/cg/system.slice/docker-0123abcd.scope/init.scope",
            Some(docker),
        );
        check(
            "/cg/machine.slice/libpod-0123abcd.scope/container",
            Some("/cg/machine.slice/libpod-0123abcd.scope"),
        );
        check("/cg/kubepods/other", Some("/cg/kubepods/other"));
        check("/cg/user.slice/lab", None);
        check("/cg", None);
    }
}
