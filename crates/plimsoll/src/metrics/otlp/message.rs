//! Families of metrics as OpenTelemetry's messages: cumulative sums, gauges and histograms with explicit bounds.

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
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

/// Start of the run and now, in nanoseconds since 1970.
type Times = (u64, u64);

/// A request that holds all of them.
pub(super) fn encode(families: &[Family], experiment: &str, times: Times) -> Vec<u8> {
    request(families, experiment, times).encode_to_vec()
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
