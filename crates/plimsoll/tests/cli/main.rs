//! The real executable, driven as a user would: what it prints, what it writes, how it ends and what it leaves behind.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod availability;
mod bad_input;
mod capacity;
mod diagnose;
mod doctor;
mod documents;
mod examples;
mod failures;
mod fault_limits;
mod faults;
mod gateway;
mod hey;
mod import;
mod interrupted;
mod levels;
mod load;
mod masked;
mod metrics;
mod mock;
mod nginx;
mod preflight;
mod processes;
mod program;
mod report;
mod robustness;
mod secrets;
mod sensitivity;
mod servers;
mod several_runs;
mod steering;
mod swap;
mod tokens;
mod toxiproxy;
mod transports;
mod unread;
mod unreadable;
mod validity;
