//! Loss: a share of all packets of IP, chosen by the kernel at random.
//!
//! Its proof is a count: so many datagrams are lost as 99.9 in 100 counts of a binomial distribution with that share. There are so many of them
//! that none is lost less often than that: without the fault, there is no proof.

use super::super::Network;
use super::{FaultError, LinkFault, not_proved};
use plimsoll_experiment::LEAST_LOSS;
use statrs::distribution::{Binomial, DiscreteCDF as _};

/// Datagrams that are counted at least.
const DATAGRAMS: u32 = 400;
/// Losses that are expected at least: with fewer than 7.6, as many as [`BEYOND`] of all counts are 0.
const LOSSES: f64 = 8.0;
/// The probability of a count beyond each end of the interval.
const BEYOND: f64 = 0.0005;
/// The rule counts packets in parts of so many.
const PARTS: f64 = 1e6;

pub(super) fn chains(fault: &LinkFault, share: f64) -> String {
    let parts = (share * PARTS).round();
    fault.forward(&format!(
        "ether type ip numgen random mod {PARTS} < {parts} counter drop"
    ))
}

pub(super) async fn prove(
    fault: &LinkFault,
    network: &Network,
    share: f64,
) -> Result<String, FaultError> {
    let sent = datagrams(share);
    let interval = interval(share, sent);
    let (least, most) =
        interval.ok_or_else(|| not_proved(format!("a share of {share} is none")))?;
    let mut seen = Vec::new();
    for way in fault.ways(network)? {
        let lost = sent - way.arriving(sent).await?;
        let said =
            format!("{way} of {sent} datagrams {lost} were lost, where {least} to {most} can be");
        if !(least..=most).contains(&u64::from(lost)) {
            return Err(not_proved(said));
        }
        seen.push(said);
    }
    Ok(seen.join("; "))
}

pub(super) async fn prove_healed(
    fault: &LinkFault,
    network: &Network,
) -> Result<String, FaultError> {
    let mut seen = Vec::new();
    for way in fault.ways(network)? {
        match DATAGRAMS - way.arriving(DATAGRAMS).await? {
            0 => seen.push(format!("{way} of {DATAGRAMS} datagrams none was lost")),
            lost => {
                let said = format!("{way} of {DATAGRAMS} datagrams {lost} were lost");
                return Err(not_proved(said));
            }
        }
    }
    Ok(seen.join("; "))
}

/// How many datagrams are sent where such a share is lost: some thousands for a thousandth.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "no share is less than LEAST_LOSS"
)]
fn datagrams(share: f64) -> u32 {
    let enough = (LOSSES / share.max(LEAST_LOSS)).ceil();
    DATAGRAMS.max(enough as u32)
}

/// The counts between which 99.9 % lie.
fn interval(share: f64, sent: u32) -> Option<(u64, u64)> {
    let counts = Binomial::new(share, sent.into()).ok()?;
    Some((counts.inverse_cdf(BEYOND), counts.inverse_cdf(1.0 - BEYOND)))
}

#[cfg(test)]
mod tests {
    use super::super::tests::fault;
    use super::super::{Direction, LinkFaultKind};
    use super::*;

    /// Quantiles as `qbinom` of R has them, summed by another program.
    #[test]
    fn intervals() {
        for (share, expected) in [
            (0.01, (0, 12)),
            (0.1, (22, 61)),
            (0.5, (167, 233)),
            (1.0, (400, 400)),
        ] {
            assert_eq!(interval(share, 400), Some(expected), "{share}");
        }
    }

    #[test]
    fn no_loss_is_no_proof_of_any_share() {
        for (share, sent) in [(0.0001, 80_000), (0.001, 8_000), (0.02, 400), (0.5, 400)] {
            assert_eq!(datagrams(share), sent);
            let (least, _) = interval(share, sent).unwrap();
            assert!(least > 0, "{share}");
        }
    }

    #[test]
    fn a_rule_of_millionths() {
        let kind = LinkFaultKind::Loss(0.125);
        let chains = chains(&fault(kind, Direction::OneWay), 0.125);
        let rule = "ether type ip numgen random mod 1000000 < 125000 counter drop";
        assert!(chains.contains(rule), "{chains}");
    }
}
