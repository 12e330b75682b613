//! The gateway over real sockets, between scripted clients and scripted upstreams, one module per concern.

mod forwarding;
mod support;
