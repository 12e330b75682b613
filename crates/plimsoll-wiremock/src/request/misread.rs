//! Forms in which patterns wanted to read a value, and could not.

use std::ops::BitOr;

/// A set of such forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Misread(u8);

impl Misread {
    /// JSON, to compare it.
    pub const JSON: Self = Self(1);
    /// JSON, to look for a path in it.
    pub const JSON_PATH: Self = Self(2);
    /// XML, to compare it.
    pub const XML: Self = Self(4);
    /// XML, to look for a path in it.
    pub const XPATH: Self = Self(8);

    /// Whether all of these are among them.
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for Misread {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_what_was_put_into_it() {
        let both = Misread::JSON | Misread::XPATH;
        assert!(both.contains(Misread::JSON) && both.contains(Misread::XPATH));
        assert!(!both.contains(Misread::JSON_PATH) && !Misread::default().contains(Misread::XML));
    }
}
