//! A stream's request on its way to an upstream of HTTP/1.1, without client and upstream: fuzz targets read it again.

use super::stream;
use crate::exchange::fuzz_harness::rehearse;
use crate::messages::http2::{PIPE_BYTES, form};
use h2::RecvStream;
use http::Request;
use plimsoll_http::server::http2::{CutOff, request_head};
use plimsoll_http::{Limits, TcpClient, pipe};

/// The bytes that an upstream of HTTP/1.1 gets of a request that came by HTTP/2; or why it gets none.
pub(crate) async fn forward(request: Request<RecvStream>) -> Result<Vec<u8>, String> {
    let (parts, body) = request.into_parts();
    let limits = Limits::default();
    let ends = body.is_end_stream();
    let head = request_head(&parts, ends, limits).map_err(|error| format!("{error:?}"))?;
    let (server, client) = pipe(PIPE_BYTES, stream::wide(limits), limits);
    let TcpClient { mut output, .. } = client;
    let framing = form::write_request(output.buffer(), &head, ends);
    let exchange = async move {
        // Whole, so that its end is the end of both directions.
        let mut server = server;
        rehearse(&mut server.requests).await
    };
    let cut = CutOff::default();
    let upload = stream::upload(body, output, framing, &cut);
    let (uploaded, forwarded) = tokio::join!(upload, exchange);
    match uploaded {
        Ok(()) => forwarded,
        Err(broken) => Err(format!("{broken:?}")),
    }
}
