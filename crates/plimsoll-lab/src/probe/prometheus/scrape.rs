//! One reading of an endpoint.

use crate::probe::get::get as ask;
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
        ask(stream, &probe.authority(), &probe.path).await
    };
    let answer = timeout(WITHIN, exchange)
        .await
        .map_err(|_| format!("no answer within {} s", WITHIN.as_secs()))??;
    match answer.status.as_str() {
        "200" => Ok(answer.body),
        other => Err(format!("it answers with status {other}")),
    }
}
