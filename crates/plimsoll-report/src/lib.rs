//! A run as data, the conclusions that it allows, and how they are shown.
//!
//! Pure by rule: nothing here does I/O, reads a clock or knows a terminal. The lab collects [`record::ArmData`] and asks
//! [`summarise::summarise`] for a [`record::Summary`]; whoever loads a run's files makes a [`view::RunView`] and asks a renderer for text.
//!
//! Its modules by floors. None uses one of a floor above its own, and no two need each other:
//!
//! | floor | modules |
//! |---|---|
//! | several runs beside each other | `runs` |
//! | a run shown; trials that search for capacity | [`render`], [`capacity`] |
//! | from what the lab measured to what the run found | [`summarise`] |
//! | how a target bore a load, and what gave way first | `analysis` |
//! | trials of faults: outages, and what they say of a year | [`availability`] |
//! | whether a run can be trusted, whether thresholds held, and the one conclusion | `judgement` |
//! | differences with their intervals | [`statistics`] |
//! | a run as plain data; running totals of one under way | [`record`], [`live`] |

mod analysis;
pub mod availability;
pub mod capacity;
mod judgement;
pub mod live;
pub mod record;
pub mod render;
mod runs;
pub mod statistics;
pub mod summarise;

pub use analysis::{bearing, bottleneck, diagnosis};
pub use judgement::{facts, threshold, validity, verdict};
pub use record::{metric, schema};
pub use render::view;
pub use runs::{across, history};
pub use summarise::drift;
