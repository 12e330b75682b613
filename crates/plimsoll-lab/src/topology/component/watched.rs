//! How the resources of one component are watched.

use crate::error::LabError;
use crate::kernel_file;
use crate::topology::probe::{Container, Endpoint, Moment, Postgresql, Redis, Sampler, Source};
use crate::topology::process_tree::{self, Descendants};
use plimsoll_experiment::{ExternalProbe, Secret};
use plimsoll_report::record::ComponentSample;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Source of a component's samples.
pub(super) enum Watched {
    /// The processes below its shim.
    Below(Descendants, Sampler),
    /// A process that ran already, with all below it.
    Process(u32, Descendants, Sampler),
    /// The processes of a control group.
    Cgroup(PathBuf, Sampler),
    /// An endpoint or a server.
    Endpoint(Box<Endpoint>),
    /// Nothing.
    Nothing,
}

impl Watched {
    /// The processes below a shim.
    pub(super) fn below_shim() -> Self {
        Self::Below(Descendants::default(), Sampler::default())
    }

    fn process(pid: u32) -> Self {
        Self::Process(pid, Descendants::default(), Sampler::default())
    }

    /// Probe of an external component as the experiment states it, with the password that it needs. A server whose statistics cannot be read
    /// says so while it is watched, and a load goes on without them; whatever else sees nothing is an error.
    pub(super) async fn open(
        name: &str,
        probe: &ExternalProbe,
        password: Option<Secret>,
    ) -> Result<Self, LabError> {
        let blind = |reason: String| LabError::NotStarted {
            component: name.to_owned(),
            reason: format!("its probe sees nothing: {reason}"),
            log: None,
        };
        match probe {
            ExternalProbe::None => Ok(Self::Nothing),
            ExternalProbe::Process(pid) if Path::new(&format!("/proc/{pid}")).is_dir() => {
                Ok(Self::process(*pid))
            }
            ExternalProbe::Process(pid) => Err(blind(format!("there is no process {pid}"))),
            ExternalProbe::Cgroup(group) => match members(group) {
                Ok(pids) if !pids.is_empty() => Ok(Self::Cgroup(group.clone(), Sampler::default())),
                Ok(_) => Err(blind(format!("{} holds no process", group.display()))),
                Err(error) => Err(blind(format!("{}: {error}", group.display()))),
            },
            ExternalProbe::Prometheus(probe) => {
                let opened = Endpoint::open(Source::Prometheus(probe.clone())).await;
                let endpoint = opened.map_err(|why| blind(format!("{}: {why}", probe.url())))?;
                Ok(Self::Endpoint(Box::new(endpoint)))
            }
            ExternalProbe::Postgresql(probe) => {
                let server = Postgresql::new(probe, password.as_ref());
                let source = Source::Postgresql(Box::new(server));
                Ok(Self::Endpoint(Box::new(Endpoint::watch(source))))
            }
            ExternalProbe::Redis(probe) => {
                let source = Source::Redis(Redis::new(probe, password));
                Ok(Self::Endpoint(Box::new(Endpoint::watch(source))))
            }
            ExternalProbe::Container(probe) => {
                let found = Container::find(probe).await.map_err(blind)?;
                Ok(match found.group {
                    Some(group) => Self::Cgroup(group, Sampler::default()),
                    None => Self::process(found.pid),
                })
            }
        }
    }

    /// Resources of the component since the sample before; `shim`: of one that the lab started.
    pub(super) fn sample(
        &mut self,
        moment: &Moment,
        shim: Option<u32>,
        ports: &[u16],
    ) -> Option<ComponentSample> {
        match self {
            Self::Below(below, sampler) => {
                let pids = below.look(shim?, moment.forks);
                sampler.sample(moment, &pids, ports)
            }
            Self::Process(pid, below, sampler) => {
                let own = process_tree::read(*pid).filter(|process| !process.ended);
                let own = own.map(|process| process.pid);
                let pids: Vec<u32> = own
                    .into_iter()
                    .chain(below.look(*pid, moment.forks))
                    .collect();
                sampler.sample(moment, &pids, ports)
            }
            Self::Cgroup(group, sampler) => {
                let pids = members(group).unwrap_or_default();
                sampler.sample(moment, &pids, ports)
            }
            Self::Endpoint(endpoint) => endpoint.sample(),
            Self::Nothing => None,
        }
    }

    /// Resources that cannot be seen at the moment, in words.
    pub(super) fn denied(&self) -> Option<String> {
        match self {
            Self::Below(_, sampler) | Self::Process(_, _, sampler) | Self::Cgroup(_, sampler) => {
                sampler.denied().map(str::to_owned)
            }
            Self::Endpoint(endpoint) => endpoint.trouble(),
            Self::Nothing => None,
        }
    }

    /// Why nothing at all is known.
    pub(super) fn unseen(&self) -> Option<String> {
        match self {
            Self::Nothing => {
                Some("it runs elsewhere, and the experiment names no probe of it".to_owned())
            }
            Self::Endpoint(endpoint) => endpoint.unseen(),
            other => other.denied(),
        }
    }

    /// Processor time of the last reading, where it is taken apart from the sample.
    pub(super) fn cost(&self) -> Duration {
        match self {
            Self::Endpoint(endpoint) => endpoint.cost(),
            _ => Duration::ZERO,
        }
    }
}

/// The processes of a control group and of those below it.
fn members(group: &Path) -> std::io::Result<Vec<u32>> {
    let text = kernel_file::read(group.join("cgroup.procs"))?;
    let mut pids: Vec<u32> = text.lines().filter_map(|line| line.parse().ok()).collect();
    for entry in std::fs::read_dir(group)?.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            pids.extend(members(&entry.path()).unwrap_or_default());
        }
    }
    Ok(pids)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::cgroup::Groups;
    use tokio::time::Instant;

    #[test]
    fn groups_hold_those_below_them() {
        let root = tempfile::tempdir().unwrap();
        let below = root.path().join("a/b");
        std::fs::create_dir_all(&below).unwrap();
        std::fs::write(root.path().join("cgroup.procs"), "1\n2\n").unwrap();
        std::fs::write(root.path().join("a/cgroup.procs"), "").unwrap();
        std::fs::write(below.join("cgroup.procs"), "30\n").unwrap();
        assert_eq!(members(root.path()).unwrap(), [1, 2, 30]);
        assert!(members(Path::new("/nowhere")).is_err());
    }

    #[tokio::test]
    async fn a_process_that_ran_already() {
        let own = std::process::id();
        let open = |probe| async move { Watched::open("a", &probe, None).await };
        let mut watched = open(ExternalProbe::Process(own)).await.unwrap();
        let mut moment = Moment::read(Instant::now());
        assert_eq!(watched.sample(&moment, None, &[]), None);
        moment.now += Duration::from_secs(1);
        let sample = watched.sample(&moment, None, &[]).unwrap();
        assert!(sample.rss_bytes > Some(0));
        let gone = open(ExternalProbe::Process(u32::MAX)).await;
        let error = gone.err().unwrap().to_string();
        insta::assert_snapshot!(error, @"component `a` did not start: its probe sees nothing: there is no process 4294967295");
    }

    #[tokio::test]
    async fn an_endpoint_is_read() {
        use plimsoll_experiment::{Exporter, PrometheusProbe};
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let probe = PrometheusProbe {
            host: "127.0.0.1".to_owned(),
            port: listener.local_addr().unwrap().port(),
            path: "/metrics".to_owned(),
            exporter: Exporter::Process,
        };
        let serve = async {
            for cpu in [1.0, 1.5] {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut request = [0; 512];
                let read = stream.read(&mut request).await.unwrap();
                assert!(request[..read].starts_with(b"GET /metrics HTTP/1.1\r\n"));
                let body = format!("process_cpu_seconds_total {cpu}\nprocess_open_fds 3\n");
                let answer = format!("HTTP/1.0 200 OK\r\n\r\n{body}");
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        };
        let read = async {
            let probe = ExternalProbe::Prometheus(probe.clone());
            let mut watched = Watched::open("a", &probe, None).await.unwrap();
            let moment = Moment::read(Instant::now());
            loop {
                if let Some(sample) = watched.sample(&moment, None, &[]) {
                    return sample;
                }
                tokio::task::yield_now().await;
            }
        };
        let ((), sample) = tokio::join!(serve, read);
        assert!(
            sample.cpu_cores > Some(0.0) && sample.fds == Some(3),
            "{sample:?}"
        );
    }

    /// A process in a group of its own, which goes with it; `None` where groups are not ours to make.
    struct Boxed {
        process: std::process::Child,
        group: PathBuf,
    }

    impl Boxed {
        fn start() -> Option<Self> {
            let own = Groups::of(std::process::id()).cpu?;
            let group = own.join(format!("plimsoll-test-box-{}", std::process::id()));
            std::fs::create_dir(&group).ok()?;
            let mut command = std::process::Command::new("cat");
            let process = command.stdin(std::process::Stdio::piped()).spawn().unwrap();
            let boxed = Self { process, group };
            let joined = std::fs::write(
                boxed.group.join("cgroup.procs"),
                boxed.process.id().to_string(),
            );
            joined.is_ok().then_some(boxed)
        }
    }

    impl Drop for Boxed {
        fn drop(&mut self) {
            self.process.kill().unwrap();
            self.process.wait().unwrap();
            std::fs::remove_dir(&self.group).unwrap();
        }
    }

    /// An engine that says of the container `web` which process it is.
    #[tokio::test]
    async fn a_container_is_its_group() {
        use plimsoll_experiment::ContainerProbe;
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let Some(boxed) = Boxed::start() else {
            println!("ignored: control groups are not ours to make");
            return;
        };
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("engine.sock");
        let listener = tokio::net::UnixListener::bind(&socket).unwrap();
        let answer = format!(
            "HTTP/1.0 200 OK\r\n\r\n{{\"Id\":\"ab12\",\"State\":{{\"Running\":true,\"Pid\":{}}}}}",
            boxed.process.id()
        );
        let serve = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            assert!(stream.read(&mut [0; 512]).await.unwrap() > 0);
            stream.write_all(answer.as_bytes()).await.unwrap();
        };
        let probe = ExternalProbe::Container(ContainerProbe {
            name: "web".to_owned(),
            socket,
        });
        let ((), watched) = tokio::join!(serve, Watched::open("a", &probe, None));
        let mut watched = watched.unwrap();
        assert!(matches!(&watched, Watched::Cgroup(group, _) if *group == boxed.group));
        let mut moment = Moment::read(Instant::now());
        assert_eq!(watched.sample(&moment, None, &[]), None);
        moment.now += Duration::from_secs(1);
        let sample = watched.sample(&moment, None, &[]).unwrap();
        assert!(
            sample.threads == Some(1) && sample.rss_bytes > Some(0),
            "{sample:?}"
        );
    }
}
