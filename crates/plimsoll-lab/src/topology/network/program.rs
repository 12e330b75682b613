//! The two programs that set up a namespace, `ip` and `nft`. Each reads commands from its standard input; no shell is between.

use crate::topology::namespace::NetworkNamespace;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A program and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Program {
    /// `ip` (iproute2).
    Ip,
    /// `ip`, to show this link in JSON.
    IpShow(String),
    /// `nft` (nftables).
    Nft,
    /// `nft`, to list this table in JSON (libnftables-json(5)): its family and name.
    NftList([String; 2]),
}

/// Where systems keep these two, which not every user's `PATH` leads to.
const SYSTEM: &str = "/usr/sbin";

impl Program {
    fn name(&self) -> &'static str {
        match self {
            Self::Ip | Self::IpShow(_) => "ip",
            Self::Nft | Self::NftList(_) => "nft",
        }
    }

    fn arguments(&self) -> Vec<&str> {
        match self {
            Self::Ip => vec!["-batch", "-"],
            Self::IpShow(link) => vec!["-json", "-details", "link", "show", "dev", link],
            Self::Nft => vec!["-f", "-"],
            Self::NftList([family, name]) => vec!["-j", "list", "table", family, name],
        }
    }

    fn spawn(&self, program: &Path) -> io::Result<Child> {
        Command::new(program)
            .args(self.arguments())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
    }

    /// Hands it commands and gives what it says. Blocks.
    ///
    /// # Errors
    /// That it is not installed, or its complaint.
    pub(super) fn run(&self, commands: &str) -> io::Result<String> {
        let name = Path::new(self.name());
        let mut child = match self.spawn(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.spawn(&Path::new(SYSTEM).join(name))?
            }
            spawned => spawned?,
        };
        // One that complains before it has read everything says why.
        let written = child
            .stdin
            .take()
            .map(|mut stdin| stdin.write_all(commands.as_bytes()));
        let output = child.wait_with_output()?;
        if !output.status.success() {
            let complaint = String::from_utf8_lossy(&output.stderr);
            let line = complaint.lines().next().unwrap_or("it failed").to_owned();
            return Err(io::Error::other(line));
        }
        written.transpose()?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Hands it commands inside a namespace.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub(super) async fn inside(
        self,
        namespace: &NetworkNamespace,
        commands: String,
    ) -> io::Result<String> {
        namespace.inside(move || self.run(&commands)).await
    }
}
