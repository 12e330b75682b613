//! `certificate`: a component shows one that clients must not accept. Its file is set aside and replaced; the new one is for the same key.

mod mint;

use super::super::{Step, step};
use super::Kind;
use crate::topology::component::{Address, Target, Topology};
use crate::topology::way::Way;
use crate::undo::Undo;
use plimsoll_base::digest::Digest;
use plimsoll_base::ignored::Ignored as _;
use plimsoll_experiment::{Certificate, Reload};
use plimsoll_http::tls::{ClientTls, HandshakeError, TlsSettings, TlsVersion, Trust, shown};
use rustix::process::Signal;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// How long a component may take to show another certificate.
const SHOWN_WITHIN: Duration = Duration::from_secs(10);
const AGAIN_AFTER: Duration = Duration::from_millis(50);
const HANDSHAKE_WITHIN: Duration = Duration::from_secs(2);

pub(super) struct Replaced {
    certificate: Certificate,
    /// The file that is replaced, once it is known.
    file: Option<File>,
}

/// A file with a certificate.
#[derive(Debug, Clone)]
struct File {
    place: PathBuf,
    aside: PathBuf,
    /// Its text before the fault.
    original: String,
}

impl Replaced {
    pub(super) fn new(certificate: Certificate) -> Self {
        Self {
            certificate,
            file: None,
        }
    }

    fn find(&self, topology: &Topology<'_>) -> Result<File, String> {
        let Certificate {
            component, file, ..
        } = &self.certificate;
        let place = match self.certificate.is_rendered {
            true => topology.directory_of(component).join(file),
            false => file.clone(),
        };
        let unreadable = |error: io::Error| format!("{}: {error}", place.display());
        // Where a link leads to is replaced, not the link.
        let place = fs::canonicalize(&place).map_err(unreadable)?;
        let original = fs::read_to_string(&place).map_err(unreadable)?;
        let name = place
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        Ok(File {
            aside: place.with_file_name(format!(".{name}.{}.set-aside", topology.run_id())),
            original,
            place,
        })
    }
}

impl Kind for Replaced {
    fn undo(&mut self, topology: &mut Topology<'_>) -> Result<Option<Undo>, String> {
        let file = self.find(topology)?;
        let left = others_aside(&file.place);
        if let Some(left) = left {
            return Err(format!(
                "{} is what another run has set aside: heal that one first",
                left.display()
            ));
        }
        let undo = Undo::Restore {
            file: file.place.clone(),
            aside: file.aside.clone(),
        };
        self.file = Some(file);
        // Its own copy goes with the run's directory of its own.
        Ok((!self.certificate.is_rendered).then_some(undo))
    }

    fn inject(&mut self, topology: &mut Topology<'_>) -> Step {
        let target = topology.target(&self.certificate.component);
        let (certificate, file) = (self.certificate.clone(), self.file.clone());
        step(async move {
            let (target, file) = (
                target.ok_or("it does not run")?,
                file.ok_or("its file is not known")?,
            );
            let (authority, key) = &certificate.authority;
            let read = |path: &Path| {
                fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
            };
            let authority = read(authority)?;
            let minted = mint::like(&file.original, (&authority, &read(key)?), certificate.flaw)?;
            file.replace(&minted.text)
                .map_err(|error| format!("{}: {error}", file.place.display()))?;
            reload(&target, certificate.reload)?;
            let client = Client::new(&target, &minted.name)?;
            client.until(&minted.certificate).await?;
            let objection = client.objection(&authority).await?;
            Ok(format!(
                "it shows the certificate {}, and a client that trusts the authority says: {objection}",
                fingerprint(&minted.certificate)
            ))
        })
    }

    fn heal(&mut self, topology: &mut Topology<'_>) -> Step {
        let target = topology.target(&self.certificate.component);
        let (file, told) = (self.file.clone(), self.certificate.reload);
        step(async move {
            let Some(file) = file else {
                return Ok("its file was not touched".to_owned());
            };
            let restored = Undo::Restore {
                file: file.place.clone(),
                aside: file.aside.clone(),
            };
            restored.carry_out()?;
            let target = target.ok_or("its file is put back, and it does not run")?;
            reload(&target, told)?;
            let original = mint::leaf(&file.original)?;
            let client = Client::new(&target, &original.name)?;
            client.until(&original.certificate).await?;
            Ok(format!(
                "it shows the certificate {} as before",
                fingerprint(&original.certificate)
            ))
        })
    }
}

/// A file in this place's directory that a run has set aside for it.
fn others_aside(place: &Path) -> Option<PathBuf> {
    let name = place.file_name()?.to_string_lossy().into_owned();
    let entries = fs::read_dir(place.parent()?).ok()?.flatten();
    let mut paths = entries.map(|entry| entry.path());
    paths.find(|path| {
        let known = path.file_name().unwrap_or_default().to_string_lossy();
        known.starts_with(&format!(".{name}.")) && known.ends_with(".set-aside")
    })
}

impl File {
    /// Sets the file aside, and puts another text of the same owner and permissions in its place, in one moment. What is there in between is
    /// known to [`Undo::Restore`].
    fn replace(&self, text: &str) -> io::Result<()> {
        let known = fs::metadata(&self.place)?;
        let minted = Undo::minted(&self.aside);
        let mut new = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&minted)?;
        new.write_all(text.as_bytes())?;
        new.set_permissions(known.permissions())?;
        chown(&minted, Some(known.uid()), Some(known.gid()))
            .ignored("who may not give it away is its owner");
        fs::hard_link(&self.place, &self.aside)?;
        fs::rename(&minted, &self.place)
    }
}

fn reload(target: &Target, told: Option<Reload>) -> Result<(), String> {
    let signal = match told {
        None => return Ok(()),
        Some(Reload::Hup) => Signal::HUP,
        Some(Reload::Usr1) => Signal::USR1,
        Some(Reload::Usr2) => Signal::USR2,
    };
    target
        .signal_main(signal)
        .map_err(|error| format!("it cannot be told: {error}"))
}

/// The beginning of the SHA-256 of a certificate, as tools show it.
fn fingerprint(certificate: &[u8]) -> String {
    Digest::of(certificate).to_hex().chars().take(16).collect()
}

/// A client of ours, who asks for a name.
struct Client {
    way: Way,
    address: Address,
    name: String,
}

impl Client {
    fn new(target: &Target, name: &str) -> Result<Self, String> {
        let mut addresses = target.addresses.iter();
        let secure = addresses.clone().find(|address| address.secure);
        let address = secure
            .or_else(|| addresses.next())
            .ok_or("it listens nowhere")?;
        Ok(Self {
            way: target.way.clone(),
            address: address.clone(),
            name: name.to_owned(),
        })
    }

    /// Waits until this certificate is shown.
    async fn until(&self, certificate: &[u8]) -> Result<(), String> {
        let deadline = Instant::now() + SHOWN_WITHIN;
        loop {
            let found = self.shown().await;
            if found.as_deref() == Ok(certificate) {
                return Ok(());
            }
            if Instant::now() > deadline {
                return Err(match found {
                    Ok(other) => format!("it shows the certificate {}", fingerprint(&other)),
                    Err(why) => why,
                });
            }
            sleep(AGAIN_AFTER).await;
        }
    }

    /// The certificate that is shown.
    async fn shown(&self) -> Result<Vec<u8>, String> {
        let stream = self.secure(Trust::Anybody).await?;
        let stream = stream.map_err(|error| error.to_string())?;
        shown(&stream).ok_or_else(|| "it shows no certificate".to_owned())
    }

    /// Why a client that trusts the authority refuses the certificate.
    async fn objection(&self, authority: &str) -> Result<String, String> {
        match self.secure(Trust::Authorities(authority)).await? {
            Err(HandshakeError::Certificate(why)) => Ok(why.to_string()),
            Err(error) => Err(error.to_string()),
            Ok(_) => Err("a client that trusts the authority accepts it".to_owned()),
        }
    }

    async fn secure(
        &self,
        trust: Trust<'_>,
    ) -> Result<Result<plimsoll_http::tls::TlsStream, HandshakeError>, String> {
        let settings = TlsSettings {
            server_name: &self.name,
            trust,
            oldest: TlsVersion::Tls12,
            newest: TlsVersion::Tls13,
            alpn: &[],
            resumption: false,
        };
        let tls = ClientTls::new(settings).map_err(|error| error.to_string())?;
        let handshake = async {
            let stream = self
                .way
                .connect(&self.address.host, self.address.port)
                .await;
            let stream = stream.map_err(|error| error.to_string())?;
            Ok(tls.connector(None).secure(stream).await)
        };
        let done = timeout(HANDSHAKE_WITHIN, handshake).await;
        done.unwrap_or_else(|_| Err("it does not shake hands".to_owned()))
    }
}
