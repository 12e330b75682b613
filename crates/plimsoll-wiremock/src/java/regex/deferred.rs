//! An expression that is compiled when a request first needs it, where it is certain that it can be.
//!
//! Compiling takes a tenth of a millisecond and some tens of kilobytes, and of many stubs with expressions most are told apart before
//! theirs is run. What may turn out wrong or too large is compiled at once, so that it is refused when it is loaded.

use super::{BACKTRACK_LIMIT, COMPILED_BYTES};
use fancy_regex::{Error, Regex, RegexBuilder};
use std::sync::{Arc, OnceLock};

/// The longest expression that is compiled later, in bytes.
const LONGEST: usize = 1000;

/// An expression, compiled or not yet.
#[derive(Debug, Clone)]
pub(super) struct Deferred(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    pattern: String,
    /// Whether it has look-around or back references, for which a match has to remember where it may turn back.
    remembers: bool,
    /// Nothing in it is an expression that could not be compiled after all.
    compiled: OnceLock<Option<Regex>>,
}

impl Deferred {
    /// Checks `pattern`, and compiles it if that is needed for it.
    pub(super) fn new(pattern: String) -> Result<Self, Box<Error>> {
        let compiled = OnceLock::new();
        let remembers = regex_syntax::parse(&pattern).is_err();
        if remembers || !can_wait(&pattern) {
            let regex = build(&pattern)?;
            compiled.get_or_init(|| Some(regex));
        }
        Ok(Self(Arc::new(Inner {
            pattern,
            remembers,
            compiled,
        })))
    }

    /// Whether a match has to remember where it may turn back.
    pub(super) fn remembers(&self) -> bool {
        self.0.remembers
    }

    /// The compiled expression.
    pub(super) fn get(&self) -> Option<&Regex> {
        let build = || build(&self.0.pattern).ok();
        self.0.compiled.get_or_init(build).as_ref()
    }
}

/// Whether the syntax alone says that an expression without back references and look-around can be compiled: nothing in it multiplies its size.
fn can_wait(pattern: &str) -> bool {
    pattern.len() <= LONGEST && !pattern.contains('{')
}

fn build(pattern: &str) -> Result<Regex, Box<Error>> {
    RegexBuilder::new(pattern)
        .backtrack_limit(BACKTRACK_LIMIT)
        .delegate_size_limit(COMPILED_BYTES)
        .build()
        .map_err(Box::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_wait_compiles_later() {
        for pattern in [r"\A(?s:/things/[0-9]+)\z", r"(?i)/a\.b(?<n>x|y)*"] {
            let deferred = Deferred::new(pattern.to_owned()).unwrap();
            assert!(deferred.0.compiled.get().is_none(), "{pattern}");
            assert!(deferred.get().is_some(), "{pattern}");
        }
        for pattern in [r"(a)\1", "(?=a)a", "a{1,1000}"] {
            let deferred = Deferred::new(pattern.to_owned()).unwrap();
            assert!(deferred.0.compiled.get().is_some(), "{pattern}");
        }
        for pattern in ["[z-a]", "(", "((a{1000}){1000}){1000}"] {
            assert!(Deferred::new(pattern.to_owned()).is_err(), "{pattern}");
        }
    }
}
