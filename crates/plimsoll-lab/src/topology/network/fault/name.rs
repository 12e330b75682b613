//! A lie about a name: the name server of one host answers wrongly, or not at all.

use super::super::{Answer, Lie, Network};
use super::{FaultError, Proof, not_proved};
use simple_dns::RCODE;

/// A wrong answer that one host gets to questions for a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameFault {
    /// The host whose name server lies.
    pub host: String,
    /// The name.
    pub name: String,
    /// The answer.
    pub lie: Lie,
}

impl NameFault {
    /// Proves that the host is told the truth, if there is one: a name of the network has its address.
    ///
    /// # Errors
    /// [`FaultError::NotProved`] for what it is told instead.
    pub async fn check(&self, network: &Network) -> Result<Proof, FaultError> {
        let known = network.layout().address(&self.name);
        let truth = known.map_or(Answer::Code(RCODE::NameError), Answer::Address);
        if truth == self.lied() {
            return Err(not_proved(format!("{truth} for {} is no lie", self.name)));
        }
        self.expect(network, truth).await
    }

    fn lied(&self) -> Answer {
        match self.lie {
            Lie::Nxdomain => Answer::Code(RCODE::NameError),
            Lie::Servfail => Answer::Code(RCODE::ServerFailure),
            Lie::Nothing => Answer::Nothing,
            Lie::Address(address) => Answer::Address(address),
        }
    }

    /// Lies from now on.
    ///
    /// # Errors
    /// [`FaultError::System`] when the name server does not obey.
    pub async fn inject(&self, network: &mut Network) -> Result<(), FaultError> {
        Ok(network.lie(&self.host, &self.name, Some(self.lie)).await?)
    }

    /// Proves the lie by a look-up from inside.
    ///
    /// # Errors
    /// [`FaultError::NotProved`] for the answer that the host got instead.
    pub async fn prove(&self, network: &Network) -> Result<Proof, FaultError> {
        self.expect(network, self.lied()).await
    }

    /// Tells the truth again.
    ///
    /// # Errors
    /// [`FaultError::System`] when the name server does not obey.
    pub async fn heal(&self, network: &mut Network) -> Result<(), FaultError> {
        Ok(network.lie(&self.host, &self.name, None).await?)
    }

    /// Proves that the host is told the truth again.
    ///
    /// # Errors
    /// As [`Self::check`].
    pub async fn prove_healed(&self, network: &Network) -> Result<Proof, FaultError> {
        self.check(network).await
    }

    async fn expect(&self, network: &Network, expected: Answer) -> Result<Proof, FaultError> {
        let answer = network.look_up(&self.host, &self.name).await?;
        let told = format!("{} is told {answer} for {}", self.host, self.name);
        match answer == expected {
            true => Ok(Proof(told)),
            false => Err(not_proved(told)),
        }
    }
}
