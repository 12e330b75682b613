//! Families of metrics as OpenTelemetry's messages: cumulative sums, gauges and histograms with explicit bounds.

use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsServiceRequest, ExportMetricsServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::{
    AnyValue, InstrumentationScope, KeyValue, any_value::Value,
};
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Gauge, Histogram, HistogramDataPoint, Metric, NumberDataPoint,
    ResourceMetrics, ScopeMetrics, Sum, metric, number_data_point,
};
use opentelemetry_proto::tonic::resource::v1::Resource;
use plimsoll_report::live::{BOUNDS, Buckets, Data, Family, Point};
use prost::Message as _;

/// Characters of what a collector says that are told.
const MOST_SAID: usize = 200;

/// Start of the run and now, in nanoseconds since 1970.
type Times = (u64, u64);

/// A request that holds all of them.
pub(super) fn encode(families: &[Family], experiment: &str, times: Times) -> Vec<u8> {
    request(families, experiment, times).encode_to_vec()
}

/// What of a request that was taken was not, if the answer says so.
pub(super) fn refused(answer: &[u8]) -> Option<String> {
    let answer = ExportMetricsServiceResponse::decode(answer).ok()?;
    let partial = answer.partial_success?;
    let points = partial.rejected_data_points;
    let why = partial.error_message.chars().filter(|c| !c.is_control());
    let why: String = why.take(MOST_SAID).collect();
    (points > 0).then(|| format!("{points} data points were not taken: {why}"))
}

fn request(families: &[Family], experiment: &str, times: Times) -> ExportMetricsServiceRequest {
    let metrics = families.iter().map(|family| metric(family, times));
    ExportMetricsServiceRequest {
        resource_metrics: vec![ResourceMetrics {
            resource: Some(Resource {
                attributes: vec![
                    attribute("service.name", "plimsoll"),
                    attribute("service.version", env!("CARGO_PKG_VERSION")),
                    attribute("plimsoll.experiment", experiment),
                ],
                ..Resource::default()
            }),
            scope_metrics: vec![ScopeMetrics {
                scope: Some(InstrumentationScope {
                    name: "plimsoll".to_owned(),
                    version: env!("CARGO_PKG_VERSION").to_owned(),
                    ..InstrumentationScope::default()
                }),
                metrics: metrics.collect(),
                schema_url: String::new(),
            }],
            schema_url: String::new(),
        }],
    }
}

fn metric(family: &Family, times: Times) -> Metric {
    let cumulative = AggregationTemporality::Cumulative as i32;
    let data = match &family.data {
        Data::Counter(points) => metric::Data::Sum(Sum {
            data_points: points.iter().map(|point| number(point, times)).collect(),
            aggregation_temporality: cumulative,
            is_monotonic: true,
        }),
        Data::Gauge(points) => metric::Data::Gauge(Gauge {
            data_points: points.iter().map(|point| number(point, times)).collect(),
        }),
        Data::Histogram(points) => metric::Data::Histogram(Histogram {
            data_points: points.iter().map(|point| histogram(point, times)).collect(),
            aggregation_temporality: cumulative,
        }),
    };
    Metric {
        name: format!("plimsoll.{}", family.name),
        description: family.help.to_owned(),
        unit: family.unit.to_owned(),
        data: Some(data),
        ..Metric::default()
    }
}

fn number(point: &Point<u64>, (start, now): Times) -> NumberDataPoint {
    let value = i64::try_from(point.value).unwrap_or(i64::MAX);
    NumberDataPoint {
        attributes: attributes(&point.labels),
        start_time_unix_nano: start,
        time_unix_nano: now,
        value: Some(number_data_point::Value::AsInt(value)),
        ..NumberDataPoint::default()
    }
}

fn histogram(point: &Point<Buckets>, (start, now): Times) -> HistogramDataPoint {
    HistogramDataPoint {
        attributes: attributes(&point.labels),
        start_time_unix_nano: start,
        time_unix_nano: now,
        count: point.value.count(),
        sum: Some(point.value.sum),
        bucket_counts: point.value.counts.to_vec(),
        explicit_bounds: BOUNDS.to_vec(),
        ..HistogramDataPoint::default()
    }
}

fn attributes(labels: &[(&'static str, String)]) -> Vec<KeyValue> {
    labels
        .iter()
        .map(|(key, value)| attribute(key, value))
        .collect()
}

fn attribute(key: &str, value: &str) -> KeyValue {
    KeyValue {
        key: key.to_owned(),
        value: Some(AnyValue {
            value: Some(Value::StringValue(value.to_owned())),
        }),
        ..KeyValue::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsPartialSuccess;

    #[test]
    fn points_that_were_not_taken_are_told() {
        let answer = |rejected_data_points| {
            let error_message = "too\nold".to_owned();
            let partial_success = Some(ExportMetricsPartialSuccess {
                rejected_data_points,
                error_message,
            });
            ExportMetricsServiceResponse { partial_success }.encode_to_vec()
        };
        let told = "3 data points were not taken: tooold".to_owned();
        assert_eq!(refused(&answer(3)), Some(told));
        for taken in [&answer(0)[..], b"", b"{}"] {
            assert_eq!(refused(taken), None);
        }
    }
}
