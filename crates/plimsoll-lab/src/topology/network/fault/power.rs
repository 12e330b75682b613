//! A host without power: first its plug is pulled, so that nobody hears of its end, then its programs end, and with them its network.

use super::super::probe::{self, Connection};
use super::super::{CLIENT, Network};
use super::{FaultError, HEALED_WITHIN, Proof, not_proved, until};
use crate::error::LabError;

/// A host that loses its power: [`Self::unplug`], the end of its components, [`Self::power_off`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PowerFault {
    /// The host.
    pub host: String,
}

impl PowerFault {
    /// Proves that the client reaches the host.
    ///
    /// # Errors
    /// [`FaultError::NotProved`] for what the client saw instead.
    pub async fn check(&self, network: &Network) -> Result<Proof, FaultError> {
        until(HEALED_WITHIN, async || {
            let seen = network.reach(CLIENT, &self.host).await?;
            let told = self.told(&seen);
            match seen {
                Connection::Made => Ok(Proof(told)),
                _ => Err(not_proved(told)),
            }
        })
        .await
    }

    /// Pulls its plug. Whoever calls this ends its components next.
    ///
    /// # Errors
    /// [`LabError::Environment`] when the system does not do it.
    pub async fn unplug(&self, network: &Network) -> Result<(), LabError> {
        network.unplug(&self.host).await
    }

    /// Takes what is left of it, once its components have ended: its connections, addresses and mounts.
    pub async fn power_off(&self, network: &mut Network) {
        network.power_off(&self.host).await;
    }

    /// Proves that the client hears nothing of it.
    ///
    /// # Errors
    /// [`FaultError::NotProved`] for what the client saw instead.
    pub async fn prove(&self, network: &Network) -> Result<Proof, FaultError> {
        let seen = probe::knock(&network.end(CLIENT)?, network.address(&self.host)?).await?;
        let told = self.told(&seen);
        match seen {
            Connection::Silence => Ok(Proof(told)),
            _ => Err(not_proved(told)),
        }
    }

    /// Gives it power again. Whoever calls this starts its components next.
    ///
    /// # Errors
    /// [`LabError::Environment`] when the system does not do it.
    pub async fn heal(&self, network: &mut Network) -> Result<(), LabError> {
        network.power_on(&self.host).await
    }

    /// Proves that the client reaches it again, which may take some seconds: who asked for it in vain asks anew after one.
    ///
    /// # Errors
    /// [`FaultError::NotProved`] for what the client saw instead.
    pub async fn prove_healed(&self, network: &Network) -> Result<Proof, FaultError> {
        self.check(network).await
    }

    fn told(&self, seen: &Connection) -> String {
        format!("from {CLIENT} to {}, {seen}", self.host)
    }
}
