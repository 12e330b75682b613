//! Ways to disable the mechanism of a fault behind its back, from outside or by what the component or the command is.

use crate::bench::Error;
use crate::target::fragile;
use crate::{clock, process};
use plimsoll_testbed::http::Request;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use socket2::{Domain, Socket, Type};
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A way to disable a mechanism.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sabotage {
    /// Somebody else listens at the component's port, too.
    Impostor,
    /// Whenever it stands still, it is told to go on.
    Thawed,
    /// It leaves the control groups of the run before it answers, however often it is started; the lab looks for its effect for so long.
    Left(Duration),
    /// Somebody else, who echoes, takes the place of the proxy in the link.
    Bypassed,
    /// It does not read its certificate anew.
    Deaf,
    /// It is started without the library that gives it another time.
    Unloaded,
    /// The command of the fault ends well and has done nothing.
    Undone,
    /// The program that makes rules for packets ends well and has made none.
    Ruleless,
    /// The file that fills its disk lies on another one.
    Elsewhere,
    /// A component on this host does as these words say (`calibration/faults/accomplice.py`).
    Accomplice(Option<&'static str>, &'static [&'static str]),
}

/// A program in the place of `nft`, in the directory of files.
const IDLE: &str = "#!/bin/sh\nexec cat >/dev/null\n";

/// How long a connection of somebody else's may take over its request.
const PATIENCE: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(1);
/// Looking for processes and groups takes processor time.
const LOOK_WIDELY: Duration = Duration::from_millis(50);

impl Sabotage {
    /// The way in a few words.
    pub(super) fn about(&self) -> &'static str {
        match self {
            Self::Impostor => "while somebody else listens at its port",
            Self::Thawed => "while somebody thaws it",
            Self::Left(_) => "after it has left its groups",
            Self::Bypassed => "while somebody else stands in the place of the proxy",
            Self::Deaf => "which is deaf to the signal",
            Self::Unloaded => "without the library",
            Self::Undone => "whose command does nothing",
            Self::Ruleless => "whose rules are not made",
            Self::Elsewhere => "while another disk is filled",
            Self::Accomplice(_, words) => match words.first() {
                Some(&"honest") => "while somebody else answers for the name server",
                Some(&"stand-in") => "while somebody else answers for the host",
                _ => "while somebody removes its toxics",
            },
        }
    }

    /// How long the lab looks for the effect before it says that there is none.
    pub(super) fn patience(&self) -> Duration {
        match self {
            Self::Impostor | Self::Bypassed | Self::Elsewhere => Duration::from_millis(500),
            Self::Thawed | Self::Ruleless | Self::Accomplice(..) => Duration::from_secs(2),
            Self::Unloaded => Duration::from_secs(3),
            Self::Deaf | Self::Undone => Duration::from_secs(11),
            Self::Left(patience) => *patience,
        }
    }

    /// Whether somebody has to do it while the run goes on.
    pub(super) fn is_from_outside(&self) -> bool {
        matches!(self, Self::Impostor | Self::Thawed | Self::Bypassed)
    }

    /// Programs in the place of others, which it needs: in this directory.
    pub(super) fn equip(files: &Path) -> Result<(), Error> {
        let idle = files.join("nft");
        let executable = fs::Permissions::from_mode(0o755);
        fs::write(&idle, IDLE)
            .and_then(|()| fs::set_permissions(&idle, executable))
            .map_err(Error::when("writing a program"))
    }

    /// A program in front of the lab that has it find others than it looks for, with this directory of programs.
    pub(super) fn wrapper(&self, files: &Path) -> Vec<String> {
        match self {
            Self::Ruleless => {
                let found_first = r#"PATH="$0:$PATH"; exec "$@""#;
                ["sh", "-c", found_first, &files.display().to_string()]
                    .map(str::to_owned)
                    .into()
            }
            _ => Vec::new(),
        }
    }

    /// A component that has to run beside the one that is broken.
    pub(super) fn beside(&self) -> Option<Value> {
        let Self::Accomplice(host, words) = self else {
            return None;
        };
        let mut accomplice = fragile::accomplice(words);
        if let Some(host) = host {
            accomplice["host"] = (*host).into();
        }
        Some(accomplice)
    }

    /// Makes the component or the fault such that there is no effect.
    pub(super) fn built_in(&self, part: &mut Value, fault: &mut Value) {
        let command = part["command"].as_array_mut();
        match (self, command) {
            (Self::Deaf, Some(command)) => command.push("deaf".into()),
            (Self::Left(_), Some(command)) => command.push("left".into()),
            (Self::Elsewhere, Some(command)) => {
                command.extend(["elsewhere", "${self.dir}"].map(Value::from))
            }
            (Self::Unloaded, Some(command)) => {
                let without = ["env", "-u", "LD_PRELOAD"].map(Value::from);
                command.splice(0..0, without);
            }
            (Self::Undone, _) => {
                fault["run"]["inject"] = json!(["true"]);
            }
            _ => {}
        }
    }

    /// Keeps the mechanism of a run disabled, whose lab has this process id, until it is over.
    pub(super) fn keep(&self, lab: Pid, over: &AtomicBool) {
        let kept = match self {
            Self::Impostor => impostor(lab, over),
            Self::Bypassed => bypass(lab, over),
            Self::Thawed => {
                keep_going(lab, over);
                Ok(())
            }
            _ => Ok(()),
        };
        if let Err(error) = kept {
            crate::say(&format!("calibration: {}: {error}", self.about()));
        }
    }
}

/// The processes of the component that is broken, with their arguments.
fn parts(lab: Pid) -> Vec<(Pid, Vec<String>)> {
    let server = fragile::program().display().to_string();
    let mut below = process::descendants(lab);
    below.retain(|(_, words)| words.get(1) == Some(&server));
    below
}

/// Looks until something is found, or all is over.
fn found<T>(over: &AtomicBool, mut look: impl FnMut() -> Option<T>) -> Result<T, Error> {
    while !over.load(Ordering::Relaxed) {
        if let Some(found) = look() {
            return Ok(found);
        }
        clock::sleep(LOOK_WIDELY);
    }
    Err(Error::Measured("it was never there".to_owned()))
}

/// Has each process of the component go on, again and again.
fn keep_going(lab: Pid, over: &AtomicBool) {
    let mut known = Vec::new();
    let mut looked = clock::now();
    while !over.load(Ordering::Relaxed) {
        if known.is_empty() || clock::now() - looked > LOOK_WIDELY {
            known = parts(lab);
            looked = clock::now();
        }
        for (pid, _) in &known {
            thaw(*pid);
        }
        clock::sleep(LOOK);
    }
}

/// Has a process go on that stands still, by its group and by a signal.
fn thaw(pid: Pid) {
    let number = pid.as_raw_nonzero();
    let groups = fs::read_to_string(format!("/proc/{number}/cgroup")).unwrap_or_default();
    let unified = groups.lines().find_map(|line| line.strip_prefix("0::"));
    for mount in ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"] {
        let file = format!("{mount}{}/cgroup.freeze", unified.unwrap_or_default());
        if fs::write(file, "0").is_err() {
            // The hierarchy is at the other place, or its group is gone.
        }
    }
    if kill_process(pid, Signal::CONT).is_err() {
        // It is gone.
    }
}

fn impostor(lab: Pid, over: &AtomicBool) -> Result<(), Error> {
    let port = found(over, || {
        let (_, words) = parts(lab).into_iter().next()?;
        words.get(2)?.parse::<u16>().ok()
    })?;
    listen(
        SocketAddr::from(([127, 0, 0, 1], port)),
        over,
        |mut client| {
            let asked = client.read(&mut [0; 4096]);
            if asked
                .and_then(|_| client.write_all(crate::target::ANSWER))
                .is_err()
            {
                // Its client is gone.
            }
        },
    )
}

/// Has the proxy in the link stop to listen, and listens there.
fn bypass(lab: Pid, over: &AtomicBool) -> Result<(), Error> {
    let (api, link) = found(over, || {
        let below = process::descendants(lab);
        let is_proxy = |words: &Vec<String>| words.get(1).is_some_and(|word| word == "fault");
        let (proxy, _) = below.into_iter().find(|(_, words)| is_proxy(words))?;
        let mut listeners = listeners(proxy).into_iter();
        listeners.find_map(|address| Some((address, listener_of_link(address)?)))
    })?;
    let disabled = Request {
        method: "POST",
        body: r#"{"enabled": false}"#,
        ..Request::get("/proxies/link-0")
    };
    let answer = disabled.ask(api, PATIENCE);
    answer.map_err(|error| Error::at_server("asking the fault proxy", error))?;
    listen(link, over, |client| {
        let Ok(mut back) = client.try_clone() else {
            return;
        };
        let mut client = client;
        if std::io::copy(&mut client, &mut back).is_err() {
            // Its client is gone.
        }
    })
}

/// Where the proxy of the link listens, if its API is at this address.
fn listener_of_link(api: SocketAddr) -> Option<SocketAddr> {
    let answer = Request::get("/proxies").ask(api, PATIENCE).ok()?;
    let proxies: Value = serde_json::from_str(&answer.body).ok()?;
    proxies["link-0"]["listen"].as_str()?.parse().ok()
}

/// Addresses of version 4 at which a process listens.
fn listeners(pid: Pid) -> Vec<SocketAddr> {
    let root = format!("/proc/{}", pid.as_raw_nonzero());
    let open = fs::read_dir(format!("{root}/fd")).into_iter().flatten();
    let open: Vec<String> = open
        .filter_map(|entry| fs::read_link(entry.ok()?.path()).ok())
        .filter_map(|link| {
            let inode = link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?;
            Some(inode.to_owned())
        })
        .collect();
    let table = fs::read_to_string(format!("{root}/net/tcp")).unwrap_or_default();
    let rows = table.lines().filter_map(listener);
    rows.filter(|(_, inode)| open.contains(inode))
        .map(|(address, _)| address)
        .collect()
}

/// Address and inode of a row of `/proc/net/tcp` that is of a listener (proc_pid_net(5)).
fn listener(row: &str) -> Option<(SocketAddr, String)> {
    let fields: Vec<&str> = row.split_whitespace().collect();
    if *fields.get(3)? != "0A" {
        return None;
    }
    let (host, port) = fields.get(1)?.split_once(':')?;
    let host = u32::from_str_radix(host, 16).ok()?.to_ne_bytes();
    let port = u16::from_str_radix(port, 16).ok()?;
    Some((SocketAddr::from((host, port)), (*fields.get(9)?).to_owned()))
}

/// Listens at an address beside others, as soon as they let it, and serves each client until all is over.
fn listen(
    address: SocketAddr,
    over: &AtomicBool,
    serve: impl Fn(TcpStream) + Sync,
) -> Result<(), Error> {
    let listener = found(over, || bound(address).ok())?;
    std::thread::scope(|scope| {
        while !over.load(Ordering::Relaxed) {
            let Ok((client, _)) = listener.accept() else {
                clock::sleep(LOOK);
                continue;
            };
            let settled = client
                .set_nonblocking(false)
                .and_then(|()| client.set_read_timeout(Some(PATIENCE)));
            if settled.is_ok() {
                scope.spawn(|| serve(client));
            }
        }
    });
    Ok(())
}

fn bound(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(true)?;
    socket.bind(&address.into())?;
    socket.listen(128)?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_knows_where_it_listens() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        assert!(listeners(rustix::process::getpid()).contains(&address));
        drop(listener);
        assert!(!listeners(rustix::process::getpid()).contains(&address));
    }
}
