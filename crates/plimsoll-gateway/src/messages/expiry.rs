//! The date after which an API is not to be relied upon, which its answers name until then. Nobody is refused for it.
//!
//! Source: Tyk 5.15, `gateway/mw_version_check.go` (`ProcessRequest`) and `apidef/api_definitions.go` (`ExpiryTime`).

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// The field that names it.
pub(crate) const FIELD: &str = "X-Tyk-Api-Expires";

/// Such a date.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Expiry {
    /// In seconds since 1970.
    at: u64,
    text: String,
}

impl Expiry {
    /// Reads `2030-01-02 15:04`, in UTC.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let time = DateTime::strptime("%Y-%m-%d %H:%M", text).ok()?;
        let moment = time.to_zoned(TimeZone::UTC).ok()?.timestamp();
        Some(Self {
            at: u64::try_from(moment.as_second()).unwrap_or(0),
            // Go's RFC 1123, which names the zone as it is called.
            text: moment.strftime("%a, %d %b %Y %H:%M:%S UTC").to_string(),
        })
    }

    /// Its text in answers at `now`, in seconds since 1970.
    pub(crate) fn shown(&self, now: u64) -> Option<&str> {
        (now < self.at).then_some(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_named_until_then() {
        let expiry = Expiry::parse("2023-11-14 22:13").unwrap();
        let named = Some("Tue, 14 Nov 2023 22:13:00 UTC");
        assert_eq!(expiry.shown(1_699_999_979), named);
        assert_eq!(expiry.shown(1_699_999_980), None);
        for none in [
            "",
            "-1",
            "2023-11-14",
            "2023-11-14T22:13",
            "2023-13-14 22:13",
        ] {
            assert_eq!(Expiry::parse(none), None, "{none}");
        }
    }
}
