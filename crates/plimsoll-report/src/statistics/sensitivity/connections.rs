//! How many connections a load with delays needs, so that the delays are what is measured and not their lack.

/// Connections beyond those busy on average, for the arrivals that come close together.
const ROOM: f64 = 1.5;

/// Counts closer above a whole number than this share of themselves are that number: 1.5 · 100/s · 0.2 s is 30.000000000000004.
const ROUNDING: f64 = 1e-9;

/// ⌈1.5 · rate · (response + delays)⌉ connections, for exchanges at `rate` per second that take `response_s` without delays and at most
/// `delays_s` longer: those busy on average by Little's law (Little, "A Proof for the Queuing Formula L = λW", 1961), and half as many.
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cast of a count saturates"
)]
pub fn connections_needed(rate: f64, response_s: f64, delays_s: f64) -> u64 {
    let busy = ROOM * rate * (response_s + delays_s);
    (busy * (1.0 - ROUNDING)).ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_more_than_are_busy() {
        for (rate, response_s, delays_s, expected) in [
            (50.0, 0.23, 0.22, 34),
            (100.0, 0.18, 0.02, 30),
            (100.0, 0.181, 0.02, 31),
            (1.0, 0.001, 0.0, 1),
            (0.0, 1.0, 0.0, 0),
        ] {
            let actual = connections_needed(rate, response_s, delays_s);
            assert_eq!(actual, expected, "{rate} {response_s} {delays_s}");
        }
    }
}
