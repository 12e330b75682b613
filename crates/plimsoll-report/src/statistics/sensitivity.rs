//! Statistics of the method `sensitivity`: what a delayed link costs its callers, and what its absence would give.
//!
//! A block measures, for one link, a figure of the response time (its mean or a quantile) at each of several added
//! delays. The derivative of the figure by the delay is the *link gradient* of Chen, Joshi, Hiltunen, Sanders and Schlichting ("Link
//! Gradients: Predicting the Impact of Network Latency on Multitier Applications", INFOCOM 2009), here by least squares over levels in
//! random order. A gain is the virtual speedup of Coz (Curtsinger and Berger, "Coz: Finding Code that Counts with Causal Profiling", SOSP
//! 2015): one link is relieved while all others are delayed.
//!
//! Every interval is one of 95 % over blocks. Measuring the levels and taking figures of them is left to others.

mod connections;
mod estimate;
mod gain;
mod hinge;
mod level;
mod reading;
mod shape;
#[cfg(test)]
mod simulations;
mod slope;

pub use connections::connections_needed;
pub use estimate::Estimate;
pub use gain::{Critical, critical, gain, share};
pub use level::Level;
pub use reading::{NARROW, Reading};
pub use shape::{ONE_CALL, Shape, curvature, shape};
pub use slope::{NEGLIGIBLE_SLOPE, saturated, slope};
