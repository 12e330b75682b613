//! Secrets of a configuration: text that cannot be printed, read when the configuration is, or kept fresh beside the requests.
//!
//! ```text
//! text, file, env --when the configuration is read--> Secret::Fixed
//! aws --------------Secret::Cached <--fills, ahead of each expiry-- refresher, a thread of its own --signed call--> AWS Secrets Manager
//! ```
//!
//! A request only ever looks at what is there. Where a secret may stand, and what must be fit for what, is the configuration's.
//!
//! # Floors
//!
//! A module needs those on the floors below, and on its own floor those to its right.
//!
//! ```text
//! refresher              a thread that keeps secrets fresh
//! settings figures       what a configuration wants kept, and how; counters
//! aws                    the call of Secrets Manager
//! credentials sigv4      with what and how calls are signed
//! password secret        texts that are used and not shown
//! cached                 a place whose secret is kept elsewhere
//! reference schedule     what of which secret is wanted; when it is asked for
//! bounds                 of calls
//! ```

mod aws;
mod bounds;
mod cached;
pub mod credentials;
mod figures;
mod password;
mod reference;
mod refresher;
mod schedule;
mod secret;
mod settings;
mod sigv4;

pub use cached::{CachedSecret, Purpose};
pub use figures::Figures;
pub use password::{Password, Withheld};
pub use reference::{Reference, Source};
pub use refresher::{Asked, MOST, SecretRefresher};
pub use schedule::Times;
pub use secret::Secret;
pub use settings::{Keeping, Settings};
