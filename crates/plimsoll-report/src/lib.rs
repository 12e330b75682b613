//! A run as data, the conclusions that it allows, and how they are shown.
//!
//! Pure by rule: nothing here does I/O, reads a clock or knows a terminal. The lab collects [`record::ArmData`] and asks
//! [`summarise::summarise`] for a [`record::Summary`]; whoever loads a run's files makes a [`view::RunView`] and asks a renderer for text.

pub mod across;
pub mod bearing;
pub mod bottleneck;
pub mod capacity;
pub mod diagnosis;
pub mod drift;
pub mod facts;
pub mod history;
pub mod live;
pub mod metric;
pub mod record;
pub mod render;
pub mod schema;
pub mod statistics;
pub mod summarise;
pub mod threshold;
pub mod validity;
pub mod verdict;
pub mod view;
