//! The topology as it runs: components, the processes that they are, and what these consume.

pub(crate) mod cgroup;
pub(crate) mod child;
pub(crate) mod command;
pub(crate) mod component;
pub mod disk;
pub(crate) mod generator;
mod http_get;
mod namespace;
pub mod network;
mod peers;
pub(crate) mod probe;
pub(crate) mod process_tree;
pub mod shim;
pub(crate) mod token;
pub mod warden;
pub(crate) mod way;
