//! Hosts: they reach each other, know each other's names, lose and get power, have disks, and go with the lab.

use crate::stage::{Shim, Stage, block_on, executable, sh, start};
use plimsoll_lab::disk::ComponentDisk;
use plimsoll_lab::network::{Connection, Network, PowerFault};
use plimsoll_lab::shim::{Disk, Spec};
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

pub const TESTS: [(&str, fn()); 7] = [
    (
        "hosts_reach_each_other_and_nothing_is_outside",
        hosts_reach_each_other_and_nothing_is_outside,
    ),
    ("a_component_is_on_its_host", a_component_is_on_its_host),
    ("the_lab_connects_from_inside", the_lab_connects_from_inside),
    (
        "an_address_moves_to_whoever_takes_it",
        an_address_moves_to_whoever_takes_it,
    ),
    (
        "a_host_without_power_is_silent_and_begins_anew",
        a_host_without_power_is_silent_and_begins_anew,
    ),
    (
        "a_full_disk_is_its_components_alone",
        a_full_disk_is_its_components_alone,
    ),
    ("a_killed_lab_leaves_no_host", a_killed_lab_leaves_no_host),
];

fn hosts_reach_each_other_and_nothing_is_outside() {
    block_on(async {
        let before = links();
        let stage = Stage::set().await;
        for (from, to) in [("client", "app-a"), ("app-a", "db-b"), ("db-b", "client")] {
            let made = stage.network.reach(from, to).await.unwrap();
            assert_eq!(made, Connection::Made, "{from} {to}");
        }
        assert!(stage.network.reach("app-a", "nobody").await.is_err());
        assert_eq!(links(), before);
        stage.network.stop().await;
    });
}

/// The network interfaces of this process's namespace.
fn links() -> BTreeSet<String> {
    let text = fs::read_to_string("/proc/self/net/dev").unwrap();
    let names = text.lines().filter_map(|line| line.split_once(':'));
    names.map(|(name, _)| name.trim().to_owned()).collect()
}

fn a_component_is_on_its_host() {
    block_on(async {
        let stage = Stage::set().await;
        let dir = stage.scratch.path().join("private");
        fs::create_dir(&dir).unwrap();
        let looks = "hostname; getent hosts db-b | tr -s ' '; getent hosts app-a | tr -s ' '; getent hosts example.org; pwd; cat /etc/hostname";
        let spec = Spec {
            host: stage.network.holder("app-a"),
            dir: Some(dir.clone()),
            ..sh(looks)
        };
        let expected = format!(
            "app-a\n10.77.2.1 db-b\n10.77.1.1 app-a\n{}\napp-a\n",
            dir.display()
        );
        assert_eq!(Shim::start(&spec).output(), expected);
        // The shim's own working directory is the lab's, on a host too.
        let here = stage.on("app-a", "pwd").output();
        assert_eq!(Path::new(here.trim()), std::env::current_dir().unwrap());
        stage.network.stop().await;
    });
}

fn the_lab_connects_from_inside() {
    block_on(async {
        let stage = Stage::set().await;
        let (server, address) = stage.server("db-b");
        let mut connection = connect(&stage.network, address).await;
        assert_eq!(exchange(&mut connection).await, "ping");
        server.end();
        let refused = stage
            .network
            .connect("client", address, Duration::from_secs(5))
            .await;
        let refused = refused.unwrap_err().kind();
        assert_eq!(refused, std::io::ErrorKind::ConnectionRefused);
        stage.network.stop().await;
    });
}

pub async fn connect(network: &Network, to: SocketAddr) -> tokio::net::TcpStream {
    let within = Duration::from_secs(5);
    network.connect("client", to, within).await.unwrap()
}

pub async fn exchange(connection: &mut tokio::net::TcpStream) -> String {
    connection.write_all(b"ping").await.unwrap();
    let mut answer = [0; 4];
    connection.read_exact(&mut answer).await.unwrap();
    String::from_utf8(answer.to_vec()).unwrap()
}

fn an_address_moves_to_whoever_takes_it() {
    block_on(async {
        let stage = Stage::set().await;
        let address = stage.address("vip");
        let take = |host: &str| {
            let script = format!("ip address add {address}/32 dev eth0 && echo taken");
            assert_eq!(stage.on(host, &script).output(), "taken\n");
        };
        let (_server, there) = stage.server("db-b");
        take("db-b");
        // Whoever does not have it yet can bind it already.
        let bound = format!(
            "python3 -c 'import socket; socket.socket().bind((\"{address}\", 1)); print(1)'"
        );
        assert_eq!(stage.on("db-a", &bound).output(), "1\n");
        let mut connection = connect(&stage.network, there).await;
        assert_eq!(exchange(&mut connection).await, "ping");
        let refused = SocketAddr::from((address, 9));
        let refused = stage
            .network
            .connect("app-a", refused, Duration::from_secs(5))
            .await;
        let refused = refused.unwrap_err().kind();
        assert_eq!(refused, std::io::ErrorKind::ConnectionRefused);
        stage.network.stop().await;
    });
}

fn a_host_without_power_is_silent_and_begins_anew() {
    block_on(async {
        let mut stage = Stage::set().await;
        let (server, address) = stage.server("db-a");
        let mut connection = connect(&stage.network, address).await;
        assert_eq!(exchange(&mut connection).await, "ping");
        let power = PowerFault {
            host: "db-a".to_owned(),
        };
        power.check(&stage.network).await.unwrap();
        assert!(power.prove(&stage.network).await.is_err(), "it has power");
        power.unplug(&stage.network).await.unwrap();
        power.prove(&stage.network).await.unwrap();
        server.end();
        power.power_off(&mut stage.network).await;
        assert_eq!(stage.network.holder("db-a"), None);
        power.prove(&stage.network).await.unwrap();
        // Nothing told the client that the server is gone.
        let mut answer = [0; 4];
        let told = connection.read(&mut answer);
        let told = tokio::time::timeout(Duration::from_millis(200), told).await;
        assert!(told.is_err(), "{told:?}");
        power.heal(&mut stage.network).await.unwrap();
        power.prove_healed(&stage.network).await.unwrap();
        // A machine that began anew knows no connection from before.
        connection.write_all(b"ping").await.unwrap();
        let reset = connection.read(&mut [0; 4]).await.unwrap_err();
        assert_eq!(reset.kind(), std::io::ErrorKind::ConnectionReset);
        stage.network.stop().await;
    });
}

fn a_full_disk_is_its_components_alone() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("conf")).unwrap();
    fs::write(dir.path().join("conf/rendered"), "before\n").unwrap();
    let spec = Spec {
        disk: Some(Disk {
            dir: dir.path().to_owned(),
            bytes: 1024 * 1024,
        }),
        dir: Some(dir.path().to_owned()),
        ..sh(
            "cat conf/rendered; echo own > own; read go; dd if=/dev/zero of=more bs=4096 count=1 || echo full; read go; dd if=/dev/zero of=more bs=4096 count=1 && echo free",
        )
    };
    let mut component = Shim::start(&spec);
    let disk = ComponentDisk::of(component.pid(), dir.path());
    assert_eq!(component.line(), "before");
    disk.check().unwrap();
    assert!(disk.prove().is_err(), "it is not full yet");
    disk.fill().unwrap();
    disk.prove().unwrap();
    component.say("go");
    assert_eq!(component.line(), "full");
    disk.heal().unwrap();
    disk.prove_healed().unwrap();
    component.say("go");
    assert_eq!(component.line(), "free");
    // Outside, nothing was written.
    assert!(!dir.path().join("own").exists());
}

/// All holders hold the write end of one pipe, whose read end is at its end only when they are gone.
fn a_killed_lab_leaves_no_host() {
    let before = links();
    let scratch = tempfile::tempdir().unwrap();
    let pipe = scratch.path().join("pipe");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let mut lab = std::process::Command::new(executable())
        .arg("doomed-lab")
        .arg(scratch.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut held = fs::File::open(&pipe).unwrap();
    let mut line = String::new();
    let mut stdout = BufReader::new(lab.stdout.take().unwrap());
    stdout.read_line(&mut line).unwrap();
    assert_eq!(line, "stands\n");
    lab.kill().unwrap();
    lab.wait().unwrap();
    held.read_to_end(&mut Vec::new()).unwrap();
    assert_eq!(links(), before);
}

/// A lab that makes a network and waits to be killed.
pub fn doomed_lab(arguments: &[String]) -> ExitCode {
    let scratch = PathBuf::from(&arguments[1]);
    block_on(async move {
        let network = start(&scratch, scratch.join("pipe")).await;
        println!("stands");
        std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
        network.stop().await;
    });
    ExitCode::FAILURE
}
