//! One reading of an endpoint.

use crate::topology::http_get;
use plimsoll_experiment::PrometheusProbe;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// How long one may take.
const WITHIN: Duration = Duration::from_secs(5);

/// The body of the answer.
pub(super) async fn get(probe: &PrometheusProbe) -> Result<String, String> {
    let exchange = async {
        let stream = TcpStream::connect((probe.host.as_str(), probe.port)).await;
        let stream = stream.map_err(|error| error.to_string())?;
        let answer = http_get::get(stream, &probe.authority(), &probe.path).await?;
        match answer.status() {
            200 => answer.body().await,
            other => Err(format!("it answers with status {other}")),
        }
    };
    timeout(WITHIN, exchange)
        .await
        .map_err(|_| format!("no answer within {} s", WITHIN.as_secs()))?
}
