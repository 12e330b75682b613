//! A network of hosts: each is a network namespace with a name server and files of its own, plugged into one switch.
//!
//! Nothing of it has a name outside: processes under shims hold the namespaces, and when these go, for whatever reason, the kernel takes
//! links, addresses, rules and mounts. The namespace of the lab itself holds nothing of it. What is done to the network on purpose
//! is in [`fault`](LinkFault), what this host must permit in [`check`].

mod check;
mod fault;
mod hold;
mod holder;
mod layout;
mod link;
mod probe;
mod program;
mod resolver;

pub use check::{Missing, check};
pub use fault::{Direction, FaultError, LinkFault, LinkFaultKind, NameFault, PowerFault, Proof};
pub use hold::run_hold;
pub use layout::Layout;
pub use probe::{Answer, Connection};
pub use resolver::Lie;

use crate::error::LabError;
use crate::kernel_file;
use hold::{Held, Order};
use holder::Holder;
use indexmap::IndexMap;
use plimsoll_base::ignored::Ignored as _;
use plimsoll_experiment::CLIENT;
use probe::End;
use program::Program;
use std::fs::{self, DirBuilder};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Settings of the namespace in which the lab runs that hosts have too: who tuned the machine tuned it for what runs on it.
const INHERITED: [&str; 4] = [
    "net/ipv4/ip_local_port_range",
    "net/ipv4/tcp_max_syn_backlog",
    "net/ipv4/tcp_tw_reuse",
    "net/core/somaxconn",
];
/// Settings of hosts: an address that moves can be bound before it has come, and no address of IPv6 is looked for at first.
const OWN: [(&str, &str); 2] = [
    ("net/ipv4/ip_nonlocal_bind", "1"),
    ("net/ipv6/conf/default/disable_ipv6", "1"),
];

/// Where the holders of a network live.
#[derive(Debug, Clone)]
pub struct NetworkPlaces {
    /// Our own executable, which is every shim and holder.
    pub executable: PathBuf,
    /// An absolute directory that only we can read, for files of hosts.
    pub scratch: PathBuf,
    /// The file, with an absolute path, to which holders write what goes wrong.
    pub log: PathBuf,
}

/// A network that runs. Dropping it takes it down.
pub struct Network {
    layout: Layout,
    places: NetworkPlaces,
    switch: Holder,
    /// Those that have power.
    hosts: IndexMap<String, Holder>,
}

impl Network {
    /// Makes all hosts and plugs them in: each reaches each other when it returns.
    ///
    /// # Errors
    /// [`LabError::Environment`] when this host does not permit it; nothing is left of it then.
    pub async fn start(layout: Layout, places: NetworkPlaces) -> Result<Self, LabError> {
        let starting = Self::switched_on(layout, places).await;
        let mut network = starting.map_err(cannot("make the switch"))?;
        let hosts: Vec<String> = network.layout.hosts().map(str::to_owned).collect();
        for host in hosts {
            network.power_on(&host).await?;
        }
        Ok(network)
    }

    async fn switched_on(layout: Layout, places: NetworkPlaces) -> io::Result<Self> {
        let switch = Holder::start(&places.executable, &places.log, &Held::Switch).await?;
        let bridge = Program::Ip.inside(switch.network(), layout::bridge());
        bridge.await?;
        Ok(Self {
            layout,
            places,
            switch,
            hosts: IndexMap::new(),
        })
    }

    /// Its layout.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The process whose namespaces are those of a host, for [`crate::shim::Spec::host`]; `None` for a host without power.
    #[must_use]
    pub fn holder(&self, host: &str) -> Option<u32> {
        self.hosts.get(host).map(Holder::pid)
    }

    /// Opens a connection from inside a host, to be used outside.
    ///
    /// # Errors
    /// The connection's, and [`io::ErrorKind::NotFound`] for a host that is not there.
    pub async fn connect(
        &self,
        from: &str,
        to: SocketAddr,
        within: Duration,
    ) -> io::Result<tokio::net::TcpStream> {
        let namespace = self.host(from)?.network();
        let stream = namespace.inside(move || {
            let stream = TcpStream::connect_timeout(&to, within)?;
            stream.set_nodelay(true)?;
            stream.set_nonblocking(true)?;
            Ok(stream)
        });
        tokio::net::TcpStream::from_std(stream.await?)
    }

    /// Asks the name server of a host, from inside.
    ///
    /// # Errors
    /// The system's, and [`io::ErrorKind::NotFound`] for a host that is not there.
    pub async fn look_up(&self, from: &str, name: &str) -> io::Result<Answer> {
        probe::look_up(self.host(from)?.network(), name).await
    }

    /// Tries a connection between two hosts.
    ///
    /// # Errors
    /// The system's; that no connection came about is none.
    pub async fn reach(&self, from: &str, to: &str) -> io::Result<Connection> {
        probe::connect(&self.end(from)?, &self.end(to)?).await
    }

    /// Pulls a host's plug: from now on silence is all that others hear of it. To take its power, end then its components and call
    /// [`Self::power_off`].
    ///
    /// # Errors
    /// [`LabError::Environment`] when the system does not do it.
    pub async fn unplug(&self, host: &str) -> Result<(), LabError> {
        let done = self.in_switch(Program::Ip, layout::unplug(host)).await;
        done.map(drop).map_err(cannot("switch a host's link"))
    }

    /// Takes the power of a host that is unplugged and whose components have ended: its connections, addresses and mounts are gone.
    pub async fn power_off(&mut self, host: &str) {
        if let Some(holder) = self.hosts.shift_remove(host) {
            holder.end().await;
        }
    }

    /// Gives a host power, plugs it in and waits until its link carries: it begins anew. Whatever ran on it is to be started by whoever
    /// calls this.
    ///
    /// # Errors
    /// [`LabError::Environment`] when the system does not do it.
    pub async fn power_on(&mut self, host: &str) -> Result<(), LabError> {
        let address = self.layout.address(host);
        let address =
            address.ok_or_else(|| LabError::Internal(format!("there is no host `{host}`")))?;
        let holder = self.boot(host, address).await;
        let holder = holder.map_err(cannot(&format!("make the host `{host}`")))?;
        self.hosts.insert(host.to_owned(), holder);
        Ok(())
    }

    async fn boot(&self, host: &str, address: Ipv4Addr) -> io::Result<Holder> {
        let held = Held::Host {
            name: host.to_owned(),
            address,
            dir: own_dir(&self.places.scratch, host)?,
        };
        let places = &self.places;
        let mut holder = Holder::start(&places.executable, &places.log, &held).await?;
        let inherited = settings();
        let network = holder.network();
        network.inside(move || set(&inherited)).await?;
        // A port that a host without power left goes a moment after its namespace.
        let switch = self.switch.network();
        let (port, pid) = (host.to_owned(), holder.pid());
        let commands = layout::port(host, address, pid);
        let plugged = switch.inside(move || {
            Program::Ip
                .run(&format!("link del dev {port}\n"))
                .ignored("there is none, most often");
            Program::Ip.run(&commands)
        });
        plugged.await?;
        let interfaces = layout::interfaces(address);
        Program::Ip.inside(holder.network(), interfaces).await?;
        link::carries(self.switch.network(), host, holder.network()).await?;
        let names = self.layout.names();
        holder.order(&Order::Serve(names)).await?;
        Ok(holder)
    }

    /// Takes it down, and waits until its processes are gone.
    pub async fn stop(self) {
        for (_, host) in self.hosts {
            host.end().await;
        }
        self.switch.end().await;
    }

    async fn lie(&mut self, host: &str, name: &str, lie: Option<Lie>) -> io::Result<()> {
        let holder = self.hosts.get_mut(host).ok_or_else(|| no_power(host))?;
        holder.order(&Order::Lie(name.to_owned(), lie)).await
    }

    fn host(&self, host: &str) -> io::Result<&Holder> {
        self.hosts.get(host).ok_or_else(|| no_power(host))
    }

    fn end(&self, host: &str) -> io::Result<End> {
        Ok(End {
            namespace: self.host(host)?.network().clone(),
            address: self.address(host)?,
        })
    }

    fn address(&self, host: &str) -> io::Result<Ipv4Addr> {
        self.layout.address(host).ok_or_else(|| no_power(host))
    }

    /// Hands commands to a program inside the switch.
    async fn in_switch(&self, program: Program, commands: String) -> io::Result<String> {
        program.inside(self.switch.network(), commands).await
    }
}

fn no_power(host: &str) -> io::Error {
    let message = format!("there is no host `{host}` with power");
    io::Error::new(io::ErrorKind::NotFound, message)
}

fn cannot(action: &str) -> impl FnOnce(io::Error) -> LabError {
    let said = format!("cannot {action}: ");
    move |error| LabError::Environment(said + &error.to_string())
}

fn own_dir(scratch: &Path, host: &str) -> io::Result<PathBuf> {
    // No component's name has a dot.
    let dir = scratch.join(format!("host.{host}"));
    DirBuilder::new().recursive(true).mode(0o700).create(&dir)?;
    Ok(dir)
}

/// The settings that a host gets, read in the namespace of the lab.
fn settings() -> Vec<(&'static str, String)> {
    let own = OWN.map(|(name, value)| (name, value.to_owned()));
    let inherited = INHERITED.iter().filter_map(|name| {
        let value = kernel_file::read(setting(name)).ok()?;
        Some((*name, value))
    });
    inherited.chain(own).collect()
}

/// Writes settings of the namespace of the calling thread. What this kernel does not have is not set.
fn set(settings: &[(&str, String)]) -> io::Result<()> {
    let there = settings.iter().filter(|(name, _)| setting(name).exists());
    for (name, value) in there {
        fs::write(setting(name), value)?;
    }
    Ok(())
}

fn setting(name: &str) -> PathBuf {
    Path::new("/proc/sys").join(name)
}
