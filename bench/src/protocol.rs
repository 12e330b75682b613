//! How clients and servers speak.

/// A protocol, and by which layers it is carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/1.1 over TCP.
    Clear,
    /// HTTP/1.1 over TLS 1.3.
    Tls,
    /// HTTP/1.1 over TLS 1.3, where clients show a certificate, each its own. Ours only: others cannot.
    MutualTls,
    /// HTTP/2 over TCP, by prior knowledge: 10 connections with 10 streams each.
    Http2,
}
