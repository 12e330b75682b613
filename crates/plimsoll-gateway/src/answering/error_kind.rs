//! Why the gateway answers a request itself: the reasons for which somebody else's gateway has words of its own.

use std::io;

/// A reason that [`crate::answering::error_format`] may put differently. Answers for any other reason have none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorKind {
    /// No route covers the path.
    NoRoute,
    /// A key is demanded and there is none.
    KeyMissing,
    /// There is no such key.
    KeyUnknown,
    /// The key may not use this route.
    KeyElsewhere,
    KeyInactive,
    KeyExpired,
    /// The key's own rate limit.
    KeyRate,
    /// The rate limit of the route as a whole.
    RouteRate,
    /// The key has used up its quota.
    Quota,
    /// A rule closes this path.
    PathForbidden,
    /// A rule allows less than the stated length.
    BodyTooLarge,
    /// A rule limits the length, and none is stated.
    LengthRequired,
    BreakerOpen,
    /// No endpoint of the upstream may be asked.
    NoEndpoint,
    /// The upstream took too long.
    UpstreamTimeout,
    /// The upstream's name has no address.
    UpstreamUnknown,
    /// No connection to the upstream, or it broke off: why, as the system says; or the upstream ended it, or what came was not HTTP.
    UpstreamFailed(Option<io::ErrorKind>),
}
