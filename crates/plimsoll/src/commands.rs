//! One file per subcommand: its arguments, and the few lines that hand them to the crate that does the work.

pub mod compare;
pub mod diagnose;
pub mod doctor;
pub mod fault;
pub mod fields;
pub mod gateway;
pub mod heal;
pub mod hey;
pub mod history;
pub mod import;
pub mod init;
pub mod internal;
pub mod load;
pub mod mock;
pub mod preflight;
pub mod report;
pub mod run;
pub mod schema;
pub mod server;
pub mod validate;
