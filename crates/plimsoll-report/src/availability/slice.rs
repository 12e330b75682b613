//! The part of all arrivals that a partial outage hits: how far the outage may reach beyond its first and last failure.

/// An upper bound of how much longer the outage was than from its first to its last failure, whose intended `starts` these are.
///
/// Good answers between failures are of callers whom the fault does not hit, and so are those right before and after: they bound nothing.
/// What does are the arrivals of those who are hit.
pub(super) fn excess(starts: &[f64]) -> f64 {
    let gaps = starts.windows(2).map(|pair| pair[1] - pair[0]);
    2.0 * gaps.fold(0.0, f64::max)
}
